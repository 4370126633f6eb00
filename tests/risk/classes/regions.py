"""A file whose one key is a region of four, in two halves of the country."""

import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.risk.classes.privacy_model import ReleasedFile

REGION = Key("region", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))


def regions(*records: int) -> list[np.ndarray]:
    """The leaves of so many records, or people, in each region."""
    return [np.repeat(np.arange(len(records)), records)]


def released(records: list[np.ndarray], population: list[np.ndarray] | None = None, level: int = 0) -> ReleasedFile:
    """With nothing suppressed. The classes are in the order of the regions."""
    node, _ = bottom([REGION], records, {}, population)
    node, _ = node.at([level])
    return ReleasedFile(node, np.ones(len(node.sizes), dtype=bool), "released")
