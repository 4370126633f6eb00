"""What the report shows of correlations: matrices of both files for a heat map, and the pairs that moved most."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.sentence import Sentences
from sluice.utility.common_bins import CommonBins
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.moments import blocks, pairwise_moments
from sluice.utility.correlation_differences import (
    CorrelationDifferences,
    Kind,
    cramers_v_differences,
    kendall_differences,
    pearson_differences,
)
from sluice.utility.marginals import MarginalTables
from sluice.utility.measured import Found, Measured, figure
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion

_SAYS = Sentences(
    "correlations",
    not_compared="{what} is not compared: the original has {count} {which} to compare",
    not_known="{what} is not known: every variable is constant, or too few records have values",
    moved="{what} moved by {mean:.3g} on average over {pairs:,} pairs",
    most=", most of {names}, from {original:.2f} to {masked:.2f}",
    drawn=" (each from {records:,} records drawn at random of a file, right to {margin:.3g} at 95 %)",
)

KENDALL = Measure(
    "kendall",
    "mean change of Kendall's tau-b of two numbers",
    "How far Kendall's tau-b moved",
    "Numbers no longer rise together as they did: mask those of the worst pairs together, or swap over a smaller "
    "window.",
    largest=2.0,
)
CRAMERS_V = Measure(
    "cramers_v",
    "mean change of Cramer's V of two variables, in bins",
    "How far Cramer's V moved",
    "Variables no longer go together as they did: mask those of the worst pairs together, recode them less, or "
    "bring back one that was removed.",
    largest=1.0,
)

WORST = 10


class MovedPair(FrozenModel):
    """What goes together in the original and in the masked file."""

    variables: tuple[str, str]
    original: float
    masked: float


class CorrelationMatrices(FrozenModel):
    """One measure; figures are rounded to 3 decimals, and None where they are unknown or from too few records."""

    measure: Kind
    names: tuple[str, ...] = Field(description="in the order of rows and columns")
    original: tuple[tuple[float | None, ...], ...]
    masked: tuple[tuple[float | None, ...], ...]
    mean: float = Field(description="mean absolute difference over all pairs that are told; higher is worse")
    worst: tuple[MovedPair, ...] = ()
    records: tuple[int, int] | None = Field(default=None, description="drawn of each file; None: all")
    margin: float | None = Field(default=None, description="half of a 95 % interval of each figure, where drawn")


class CorrelationsView(FrozenModel):
    """Pearson's r and Kendall's tau-b of numbers, and Cramer's V of all variables on common bins."""

    matrices: tuple[CorrelationMatrices, ...]


def correlation_matrices(found: CorrelationDifferences, enough: BoolArray | None = None) -> CorrelationMatrices | None:
    """The matrices of one measure; None without any pair.

    enough : (d, d), which pairs have as many records in both files as the report may tell of; None: all
    """
    if found.mean != found.mean:
        return None
    told = np.abs(found.original - found.masked)
    if enough is not None:
        told = np.where(enough, told, np.nan)
    if np.isnan(told).all():
        return None
    kept = {name: place for place, name in enumerate(found.names)}
    worst = [
        MovedPair(variables=(one, other), original=round(before, 3), masked=round(after, 3))
        for one, other, before, after in found.worst(len(found.names) ** 2)
        if enough is None or enough[kept[one], kept[other]]
    ]
    return CorrelationMatrices(
        measure=found.kind,
        names=found.names,
        original=_rows(found.original, enough),
        masked=_rows(found.masked, enough),
        mean=round(float(np.nanmean(told)), 4),
        worst=tuple(worst[:WORST]),
        records=found.records,
        margin=found.margin,
    )


def _rows(figures: FloatArray, enough: BoolArray | None) -> tuple[tuple[float | None, ...], ...]:
    def told(i: int, j: int) -> float | None:
        value = float(figures[i, j])
        return None if value != value or (enough is not None and not enough[i, j]) else round(value, 3)

    return tuple(tuple(told(i, j) for j in range(figures.shape[1])) for i in range(len(figures)))


def correlations(files: Comparison) -> Found:
    """The mean absolute change of tau-b over all pairs of numbers and of V over all pairs of variables."""
    numbers = files.released_numbers
    bins = files.common_bins
    # V of any pair is seen in the heat map, so all are counted
    tables = MarginalTables(bins, 2, *files.weights, most=max(1, len(bins) ** 2))
    before, after = files.weights
    moments = pairwise_moments(numbers.original, before), pairwise_moments(numbers.masked, after)
    pearson = pearson_differences(numbers, moments=moments)
    kendall = kendall_differences(numbers, files.rng, weights=files.weights)
    v = cramers_v_differences(tables)
    enough = _enough(moments[0].effective, moments[1].effective, files.minimum_cell) & _of_many(numbers.names, files)
    shown = [correlation_matrices(pearson, enough), correlation_matrices(kendall, enough)]
    few = min(len(files.original), len(files.masked)) < files.minimum_cell
    shown.append(
        None
        if few
        else correlation_matrices(v, _of_many(v.names, files) & _enough(*_together(bins), files.minimum_cell))
    )
    matrices = tuple(each for each in shown if each is not None)
    return Found(
        {
            "kendall": _judged(KENDALL, files, kendall, shown[1], "Kendall's tau-b of two numbers", "numbers"),
            "cramers_v": _judged(CRAMERS_V, files, v, shown[2], "Cramer's V of two variables", "variables"),
        },
        {"correlations": CorrelationsView(matrices=matrices)} if matrices else {},
    )


def _of_many(names: Sequence[str], files: Comparison) -> BoolArray:
    """(d, d): pairs of which neither variable changed in a few records alone."""
    many = np.array([name not in files.of_few for name in names], dtype=np.bool_)
    return many[:, None] & many[None, :]


def _together(bins: Sequence[CommonBins]) -> tuple[FloatArray, FloatArray]:
    """(d, d) of both files: how many records have both values, of released groups by the share of them."""
    found = np.zeros((2, len(bins), len(bins)))
    told = [1 - each.spread[:, -1] for each in bins]
    for rows in blocks(len(bins[0].original)) if bins else ():
        present = np.column_stack([each.original[rows] != each.bins - 1 for each in bins]).astype(np.float64)
        found[0] += present.T @ present
    for rows in blocks(len(bins[0].masked)) if bins else ():
        present = np.column_stack([share[each.masked[rows]] for share, each in zip(told, bins, strict=True)])
        found[1] += present.T @ present
    return found[0], found[1]


def _enough(original: FloatArray, masked: FloatArray, minimum_cell: int) -> BoolArray:
    """Pairs of which enough original records have both, and enough masked ones, or of which one was removed.

    original, masked : (d, d), the records that have both values
    """
    found = np.ones(original.shape, dtype=np.bool_)
    for together in (original, masked):
        found &= (together >= minimum_cell) | (together == 0)
    return found


def _judged(
    measure: Measure,
    files: Comparison,
    found: CorrelationDifferences,
    shown: CorrelationMatrices | None,
    what: str,
    which: str,
) -> Measured:
    d, not_known = len(found.names), _SAYS.not_known(what=what)

    def moved() -> Figure:
        if found.mean != found.mean:
            return Figure(found.mean, not_known)
        says = _SAYS.moved(what=what, mean=figure(found.mean), pairs=found.pairs)
        if shown is not None and shown.worst and (worst := shown.worst[0]).original != worst.masked:
            names = " and ".join(worst.variables)
            says += _SAYS.most(names=names, original=worst.original, masked=worst.masked)
        if found.records is not None and found.margin is not None:
            says += _SAYS.drawn(records=min(found.records), margin=figure(found.margin))
        return Figure(found.mean, says, found.pairs)

    not_compared = _SAYS.not_compared(what=what, count=d, which=which)
    few = files.of_few & {*found.names}
    return measure.judge(files, Occasion(d * (d - 1) // 2, not_compared, not_known, few=few), moved)


CORRELATIONS = Family(correlations, (KENDALL, CRAMERS_V))
