"""Correlations: limits on how far what goes together moved, by Kendall's tau-b and Cramer's V."""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.sentence import Sentences
from sluice.utility.common_bins import CommonBins
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.pairwise_moments import blocks, pairwise_moments
from sluice.utility.correlation_differences import (
    CorrelationDifferences,
    cramers_v_differences,
    kendall_differences,
    pearson_differences,
)
from sluice.utility.correlation_summary import CorrelationMatrices, CorrelationsView, correlation_matrices
from sluice.utility.marginals import MarginalTables
from sluice.utility.measured import Found, Measured, figure, written_number

_SAYS = Sentences(
    "correlations",
    not_compared="{what} is not compared: the original has {count} {which} to compare",
    not_known="{what} is not known: every variable is constant, or too few records have values",
    moved="{what} moved by {mean:.3g} on average over {pairs:,} pairs",
    most=", most of {names}, from {original:.2f} to {masked:.2f}",
    drawn=" (each from {records:,} records drawn at random of a file, right to {margin:.3g} at 95 %)",
)


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
            "kendall": _measured(kendall, shown[1], "Kendall's tau-b of two numbers", "numbers").told(
                "How far Kendall's tau-b moved", files.of_few & {*numbers.names}
            ),
            "cramers_v": _measured(v, shown[2], "Cramer's V of two variables", "variables").told(
                "How far Cramer's V moved", files.of_few & {*v.names}
            ),
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


def _measured(found: CorrelationDifferences, shown: CorrelationMatrices | None, what: str, which: str) -> Measured:
    d = len(found.names)
    of = d * (d - 1) // 2
    if not of:
        says = _SAYS.not_compared(what=what, count=d, which=which)
        return Measured(float("nan"), says, "", 0, 0, written_number, False)
    if found.mean != found.mean:
        says = _SAYS.not_known(what=what)
        return Measured(float("nan"), says, "", of, 0, written_number)
    says = _SAYS.moved(what=what, mean=figure(found.mean), pairs=found.pairs)
    if shown is not None and shown.worst and (worst := shown.worst[0]).original != worst.masked:
        names = " and ".join(worst.variables)
        says += _SAYS.most(names=names, original=worst.original, masked=worst.masked)
    if found.records is not None and found.margin is not None:
        says += _SAYS.drawn(records=min(found.records), margin=figure(found.margin))
    return Measured(found.mean, says, "", of, found.pairs, written_number)
