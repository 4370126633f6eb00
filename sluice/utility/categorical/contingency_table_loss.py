"""Contingency-table loss CTBIL: the counts that differ in all tables of up to K variables.

Source: Torra (2013), "Information Loss Measures: Categorical Data", comparison of contingency tables. Differs from it:
the original is the one before any recoding, a released group is shared out among the categories that it may stand for
(see `common_bins`), and the masked file is scaled to the original's number of records (or sum of weights), so that a
sample loses nothing but by its draw.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins
from sluice.utility.marginals import marginal_losses


class ContingencyTableLoss(NamedTuple):
    """Of all tables of 1 to K variables; NaN without a record or a variable."""

    total: float  # CTBIL: the sum over tables and cells of |x - x'|, in records
    normalised: float  # the same of the most that it can be, 0 to 1: the mean share of records in another cell
    tables: int  # that there are
    counted: int  # fewer where they were drawn; the total is then that of all tables by the mean of those drawn


def contingency_table_loss(
    bins: Sequence[CommonBins],
    order: int,
    original_weight: FloatArray | None = None,
    masked_weight: FloatArray | None = None,
    rng: np.random.Generator | None = None,
) -> ContingencyTableLoss:
    """CTBIL(F, G; W, K) of the variables in `bins`; 0 for equal tables, higher is worse.

    order  : K, at least 1
    raises : DataError for an order below 1, or more tables of a size than are counted without a generator
    cost   : that of `marginal_losses` for each size
    """
    if order < 1:
        raise DataError(f"contingency tables need an order of at least 1; got {order}.")
    sizes = range(1, min(order, len(bins)) + 1)
    found = [marginal_losses(bins, size, original_weight, masked_weight, rng) for size in sizes]
    tables = sum(each.of for each in found)
    if not tables:
        return ContingencyTableLoss(float("nan"), float("nan"), 0, 0)
    records = float(len(bins[0].original) if original_weight is None else original_weight.sum())
    lost = sum(each.of * each.mean for each in found)  # half the sum of |p - p'| of each table
    return ContingencyTableLoss(2 * records * lost, lost / tables, tables, sum(len(each.losses) for each in found))
