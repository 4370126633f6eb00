"""What a suppressed cell costs: the weights that secondary suppression adds up and keeps small.

Source: the cost functions of tau-ARGUS (manual, "Secondary cell suppression": unity, frequency, variable) and the
scaled information of Torra (2013), "Information loss".
"""

from collections.abc import Callable, Mapping

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells, Floats


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
