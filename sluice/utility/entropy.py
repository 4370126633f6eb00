"""Entropy: how many bits the values of a variable hold, before and after masking.

Source: Yamazoe and Omote (2021), section 5.2, "Basic analysis". Differs from it: numbers are counted in intervals, and
bins of few records are left out, so that the figure tells no small count.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.divergence import entropy, interval_edges
from sluice.utility.released_values import DistinctValues, is_number

_INTERVALS = 20  # of a number or date, of about equal shares of the original; fewer where records are few


class Entropies(NamedTuple):
    """Bits of one variable; NaN where no bin has enough records."""

    before: float
    after: float

    @property
    def lost(self) -> float:
        """Share of the bits that is lost: 0 for none or where masking added some, 1 for a variable left constant."""
        lost = 1 - self.after / self.before if self.before else 0 * self.after
        return 0.0 if lost < 0 else lost


def entropies(original: "pd.Series[Any]", masked: "pd.Series[Any]", minimum_cell: int) -> Entropies:
    """Entropy of a variable in the original and in the masked file, of the values that are present.

    original, masked : typed columns, of any lengths. Numbers and dates of both are counted in intervals of the
                       original, categories each by themselves, so that a recoding to fewer of them loses bits
    minimum_cell     : bins of fewer records are left out
    cost             : O(n log n)
    """
    edges = np.zeros(0)
    if is_number(original) and (present := _present(original)).size:
        edges = interval_edges(present, int(np.clip(len(present) // minimum_cell, 1, _INTERVALS)))
    return Entropies(_bits(original, edges, minimum_cell), _bits(masked, edges, minimum_cell))


def _present(column: "pd.Series[Any]") -> FloatArray:
    values = plain_values(column)
    return np.asarray(values[~np.isnan(values)])


def _bits(column: "pd.Series[Any]", edges: FloatArray, minimum_cell: int) -> float:
    counts = (
        np.bincount(np.searchsorted(edges, _present(column), "right"))
        if is_number(column)
        else DistinctValues.of(column).counts[:-1]
    )
    frequent = np.sort(counts[counts >= max(minimum_cell, 1)])[::-1].astype(np.float64)
    return entropy(frequent) if len(frequent) else float("nan")
