"""What a suppressed cell costs: the weights that secondary suppression adds up and keeps small.

Source: the cost functions of tau-ARGUS (manual, "Secondary cell suppression": unity, frequency, variable) and the
scaled information of Torra (2013), "Information loss".
"""

import hashlib
from collections.abc import Callable, Mapping

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells, Floats

SPREAD = 0.25  # of the logarithm of the costs


def number_of_cells(cells: Cells) -> Floats:
    """Every cell costs 1; shape (c,)."""
    return np.ones(len(cells))


def value(cells: Cells) -> Floats:
    """The size of the total, in units of the table; shape (c,)."""
    return np.abs(cells.total).astype(np.float64)


def contributors(cells: Cells) -> Floats:
    """The number of contributors; shape (c,)."""
    return cells.contributors.astype(np.float64)


def scaled_information(cells: Cells) -> Floats:
    """log(1 + value): large cells cost more than small ones, but not in proportion; shape (c,)."""
    return np.log1p(value(cells))


COSTS: Mapping[str, Callable[[Cells], Floats]] = {
    "cells": number_of_cells,
    "value": value,
    "contributors": contributors,
    "scaled_information": scaled_information,
}


def costs(cells: Cells, name: str = "value", weights: Floats | None = None) -> Floats:
    """The cost of each cell by name, times the user's weights; shape (c,).

    weights : shape (c,), above 0; a cell of weight 2 costs as much as two
    raises  : DataError for an unknown name, a weight that is not above 0, or weights of another shape
    """
    if name not in COSTS:
        raise DataError(f"cost must be one of {', '.join(COSTS)}; got '{name}'.", came=name, allowed=COSTS)
    cost = COSTS[name](cells)
    return cost if weights is None else cost * checked_weights(cells, weights, "weights")


def checked_weights(cells: Cells, weights: Floats, called: str) -> Floats:
    """The weights, when there is one for each cell and all are finite and 0 or more; else a DataError."""
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(cells),):
        raise DataError(f"{called} must be one number for each of {len(cells)} cells; got shape {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(f"{called} must be 0 or more; it is not at {cells.name(int(wrong[0]))}.")
    return weights


def noisy_costs(cells: Cells, cost: Floats, secret: bytes) -> Floats:
    """The costs, each multiplied by log-normal noise that the secret and the cell's codes determine; shape (c,).

    The cheapest safe pattern follows from the values: a reader who knows the method could list the tables that fit what
    is published, run it on each, and keep those that give the pattern that was published. With noise of which only the
    agency has the secret, every pattern of which no cell can be spared is the cheapest under some costs; no table that
    fits is excluded but those of which the pattern would not be safe, or would have cells to spare. Source: Wong, Fu,
    Wang and Pei (2007) for the attack, on classes of records.

    cost   : shape (c,), 0 or more; 0 stays 0
    secret : 1 to 64 bytes. The same secret gives the same cell the same noise in every edition and table, so that
             patterns of a series do not change more than its values do
    cost   : O(c)
    """
    from scipy.special import ndtri  # loaded where it is needed

    keyed = hashlib.blake2b(digest_size=8, key=secret, person=b"cost noise")
    digests = bytearray()
    for cell in range(len(cells)):
        one = keyed.copy()
        one.update(cells.name(cell).encode())
        digests += one.digest()
    share = (np.frombuffer(bytes(digests), dtype="<u8") / 2.0**64).clip(2.0**-53, 1 - 2.0**-53)
    noisy: Floats = cost * np.exp(SPREAD * ndtri(share))
    return noisy
