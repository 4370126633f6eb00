"""Quantiles and inequality: what is read off a distribution of numbers by its order, weighted.

Sources: quantiles as the inverse of the weighted distribution (Hyndman and Fan 1996, definition 1); Gini (1912); the
quintile share ratio S80/S20 of Eurostat (Eurostat 2004), what the richest fifth has by what the poorest fifth has.

The report shows how far quantiles moved, never where they lie, for they are somebody's values.
"""

from collections.abc import Mapping
from math import isfinite, isnan, nan
from typing import NamedTuple

import numpy as np
from pydantic import Field

from sluice.ground.arrays import FloatArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from sluice.utility.measured import WORST, Found, figure
from sluice.utility.record_weights import relative_weight
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion

_ARE_LOST = "are lost: of the original's {numbers:,} numbers the file has none"
_QUANTILES = Sentences(
    "quantiles",
    lost=f"Quantiles {_ARE_LOST}",
    not_compared="Quantiles are not compared: the file has no released number with enough values",
    not_known="How far quantiles moved is not known: a number has no value in one of the files",
    moved="The quantiles of a number moved by at most {value:.3g} interquartile ranges on average",
)
_GINI = Sentences(
    "gini",
    lost=f"Figures of inequality {_ARE_LOST}",
    not_compared="Inequality is not compared: no released number is without negative values",
    not_known="How far inequality moved is not known: masking made a number negative, 0 throughout or missing",
    moved="A Gini coefficient moved by at most {value:.3g}",
)


QUANTILES = Measure(
    "quantiles",
    "mean change of the quantiles of the number that moved most, in interquartile ranges",
    "How far quantiles moved",
    "The distribution of a number moved: use rank_swapping or microaggregation with smaller groups, which keep it, "
    "or more and narrower intervals.",
)
GINI = Measure(
    "gini",
    "largest change of a Gini coefficient",
    "How far inequality moved",
    "Inequality moved, mostly by top-coding: raise the threshold, or replace the values beyond it by their mean, "
    "and keep numbers from becoming negative by noise.",
)

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


class QuantileChanges(FrozenModel):
    """One variable. None: it cannot be told, or has no bound."""

    name: str
    changes: tuple[float | None, ...] = Field(description="of each quantile, in interquartile ranges of the original")
    mean: float | None
    gini: tuple[float, float] | None = Field(default=None, description="of the original and of the masked file")
    ratio: tuple[float, float] | None = Field(default=None, description="S80/S20 of both")


class QuantilesView(FrozenModel):
    """Quantiles, Gini and quintile share ratio of every released number."""

    probabilities: tuple[float, ...] = PROBABILITIES
    variables: tuple[QuantileChanges, ...] = Field(description="what moved most first")


def quantiles_view(changes: dict[str, QuantileChange]) -> QuantilesView | None:
    """The changes by variable, rounded to 3 decimals; None without any."""
    known = {name: change for name, change in changes.items() if not isnan(change.mean)}
    if not known:
        return None
    order = sorted(known, key=lambda name: -known[name].mean)
    return QuantilesView(
        variables=tuple(
            QuantileChanges(
                name=name,
                changes=tuple(_told(float(each)) for each in known[name].quantiles),
                mean=_told(known[name].mean),
                gini=_both(known[name].gini),
                ratio=_both(known[name].ratio),
            )
            for name in order
        )
    )


def _told(value: float) -> float | None:
    return round(value, 3) if isfinite(value) else None


def _both(pair: tuple[float, float]) -> tuple[float, float] | None:
    return (round(pair[0], 3), round(pair[1], 3)) if isfinite(pair[0]) and isfinite(pair[1]) else None


def quantiles(files: Comparison) -> Found:
    """Of the released numbers, the one whose quantiles moved most, and the one whose Gini coefficient did.

    Of a file without any of the original's numbers both are lost: infinitely far off. Weights are no numbers that could
    be lost.
    """
    numbers = files.released_numbers
    before, after = files.weights
    least = files.minimum_cell if len(files.original) else 0
    of = {
        name: place
        for place, name in enumerate(numbers.names)
        if files.variables[name].kind.is_numeric
        and int(np.count_nonzero(~np.isnan(numbers.original[:, place]))) >= least
    }
    there_were = sum(files.variables[name].role is not Role.WEIGHT for name in of)
    changes = {
        name: quantile_change(
            order_statistics(numbers.original[:, place], before), order_statistics(numbers.masked[:, place], after)
        )
        for name, place in of.items()
        if name not in numbers.removed
    }
    measurable = {name: change.gini for name, change in changes.items() if not isnan(change.gini[0])}
    few = files.of_few & {*changes}
    of_quantiles, of_gini = (
        Occasion(
            len(changes) or there_were, says.not_compared(), says.not_known(), len(changes),
            says.lost(numbers=there_were), few=few,
        )
        for says in (_QUANTILES, _GINI)
    )  # fmt: skip
    if changes and len(files.original):
        of_gini = of_gini._replace(of=len(measurable))
    means = {name: change.mean for name, change in changes.items()}
    moved = {name: abs(now - was) for name, (was, now) in measurable.items()}
    view = quantiles_view({name: change for name, change in changes.items() if name not in few})
    return Found(
        {
            "quantiles": QUANTILES.judge(files, of_quantiles, lambda: _worst(means, _QUANTILES)),
            "gini": GINI.judge(files, of_gini, lambda: _worst(moved, _GINI)),
        },
        {} if view is None else {"quantiles": view},
    )


def _worst(changes: Mapping[str, float], says: Sentences) -> Figure:
    known = {name: change for name, change in changes.items() if not isnan(change)}
    if len(known) < len(changes):
        return Figure(nan, says.not_known(), len(known))
    name = max(known, key=lambda name: known[name])
    moved = known[name]
    return Figure(
        moved, says.moved(value=figure(moved)) + (WORST(name=name) if moved else ()), len(known), name if moved else ""
    )


OF_ORDER = Family(quantiles, (QUANTILES, GINI))
