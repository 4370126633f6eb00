"""Intruders who name people by a generalised file, and among how many each of them must choose.

Sources: El Emam (2013), chapter 16; Dankar and El Emam (2010).
"""

from typing import Literal

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.ground.arrays import IntArray

Intruder = Literal["prosecutor", "journalist"]
"""prosecutor: knows that the person is in the file, and picks one of its records with the person's keys; journalist:
picks one of the people of the population with a record's keys. The mean chance of the journalist is the marketer's."""


def alike(node: Node, intruder: Intruder) -> IntArray:
    """Shape (c,), among how many people the intruder picks, at least 1: those of the file, or those of the population;
    where it tells of fewer, the file is believed. Raises DataError for a journalist without a population."""
    crowds = np.maximum(node.crowds, 1)
    return crowds if intruder == "prosecutor" else np.maximum(crowds, node.people)
