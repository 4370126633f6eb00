"""Quantiles and inequality: what is read off a distribution of numbers by its order, weighted.

Sources: quantiles as the inverse of the weighted distribution (Hyndman and Fan 1996, definition 1); Gini (1912); the
quintile share ratio S80/S20 of Eurostat (Eurostat 2004), what the richest fifth has by what the poorest fifth has.
"""

from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.utility.record_weights import relative_weight

PROBABILITIES = (0.1, 0.25, 0.5, 0.75, 0.9)


class OrderStatistics(NamedTuple):
    """Of one variable of one file. NaN where it has no value with a weight, and as said.

    quantiles : at `PROBABILITIES`
    gini      : 0 where all have the same, to 1; NaN where a value is below 0 or all are 0
    ratio     : S80/S20, from 1; infinite where the poorest fifth has nothing, NaN where a value is below 0 or all are 0
    """

    quantiles: FloatArray
    gini: float
    ratio: float


def order_statistics(values: FloatArray, weight: FloatArray | None = None) -> OrderStatistics:
    """The statistics of one variable.

    values : shape (n,), NaN for a missing value, which is left out
    weight : (n,), finite and not negative; None: every record weighs 1
    raises : DataError for weights that do not fit, or are below 0 or missing
    cost   : a sort
    """
    weight = relative_weight(weight, len(values))
    present = ~np.isnan(values)
    if weight is not None:
        present &= weight > 0
    x = values[present]
    if not len(x):
        return OrderStatistics(np.full(len(PROBABILITIES), np.nan), float("nan"), float("nan"))
    order = np.argsort(x, kind="stable")
    x, w = x[order], np.ones(len(x)) if weight is None else weight[present][order]
    cumulated = np.cumsum(w)
    # A rounding error must not move a quantile to the next value
    level = np.array(PROBABILITIES) * cumulated[-1] * (1 - 1e-12)
    quantiles = x[np.searchsorted(cumulated, level)]
    total = float((x * w).sum())
    if x[0] < 0 or total <= 0:
        return OrderStatistics(quantiles, float("nan"), float("nan"))
    # Half the mean absolute difference over the mean, by the area under the Lorenz curve
    lorenz = np.cumsum(x * w)
    area = float((w * (lorenz + np.append(0.0, lorenz[:-1]))).sum()) / (cumulated[-1] * total)
    poorest, richest = _part(x, w, cumulated, 0.2), total - _part(x, w, cumulated, 0.8)
    return OrderStatistics(quantiles, max(0.0, 1 - area), float("inf") if poorest <= 0 else float(richest / poorest))


def _part(x: FloatArray, w: FloatArray, cumulated: FloatArray, share: float) -> float:
    """What the poorest `share` of the population has; of records on the border the part that belongs to it."""
    level = share * cumulated[-1]
    at = int(np.searchsorted(cumulated, level))
    below = cumulated[at] - w[at]
    return float((x[:at] * w[:at]).sum() + x[at] * (level - below))


class QuantileChange(NamedTuple):
    """What masking did to one variable; higher is worse.

    quantiles : the change of each quantile, by the original's interquartile range
    mean      : their mean; NaN where a file has no value, infinite where a constant was changed
    gini      : of the original and of the masked file
    ratio     : S80/S20 of both
    """

    quantiles: FloatArray
    mean: float
    gini: tuple[float, float]
    ratio: tuple[float, float]


def quantile_change(before: OrderStatistics, after: OrderStatistics) -> QuantileChange:
    """The change from the original to the masked file.

    An interquartile range of 0 is replaced by the range from the first to the last of the quantiles; where that is 0,
    too, a change is infinite.
    """
    moved = np.abs(after.quantiles - before.quantiles)
    scale = interquartile_scale(before.quantiles)
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(moved == 0, 0.0, moved / np.float64(scale))
    return QuantileChange(change, float(change.mean()), (before.gini, after.gini), (before.ratio, after.ratio))


def interquartile_scale(quantiles: FloatArray) -> float:
    """Of quantiles at `PROBABILITIES` the interquartile range; where that is 0, the range from first to last."""
    return float(quantiles[3] - quantiles[1] or quantiles[-1] - quantiles[0])
