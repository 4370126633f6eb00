"""A draft of a hierarchy, balanced by the records that a variable's values have, for a person to look at.

The draft is written into a public document by one who has seen the records, and read by an intruder who knows what the
contract declares, and all records but one. So it depends on no value that fewer records have than the minimum cell and
cuts numbers at round ones alone. Together with rare categories it leaves at least one unnamed that is not rare: that a
category is not named does not tell that it is rare.

Its cut points are quantiles in which a value that fewer records have than the minimum cell counts as one that nobody
has, and other counts are rounded down to whole minimum cells: with and without any rare value the runs are the same,
and each run holds at least the minimum cell.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from sluice.generalization.builders.builder import HierarchyBuilder, declared_values
from sluice.generalization.builders.category_groups import OrderedGroups, Priority
from sluice.generalization.builders.number_groups import CutPoints
from sluice.generalization.builders.times import Period, Periods
from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable

_MOST_STEPS = 25  # between minimum and maximum: cut points lie at no finer numbers than these


def draft_hierarchy(
    variable: Variable, counts: Mapping[str, int], minimum_cell: int = 10, groups: int = 8
) -> HierarchyBuilder:
    """How a hierarchy over the declared domain may be built: cut points, neighbours, priorities or periods, by kind.

    counts : records of each value, by its text as a leaf; of dates only that they lie in the domain is looked at
    groups : of the narrowest level; each level above has half as many
    raises : DocumentError for an undeclared domain; DataError, with counts alone, for values outside of it and for
             records that are too few or too much alike
    """
    leaves = declared_values(variable)
    outside = set(counts) - set(leaves)
    if outside:
        records = sum(counts[value] for value in outside)
        raise DataError(f"'{variable.name}': {records:,} of {sum(counts.values()):,} records have no declared value")
    if variable.kind is Kind.DATE:
        return _periods(leaves)
    try:
        if variable.kind is Kind.INTEGER:
            return _cut_points(leaves, counts, minimum_cell, groups)
        if variable.kind is Kind.ORDINAL:
            starts = balanced_runs([counts.get(leaf, 0) for leaf in leaves], groups, minimum_cell)
            return OrderedGroups(groups=_sizes(starts, len(leaves)))
        return _priority(leaves, counts, minimum_cell, groups)
    except DataError as error:
        raise DataError(f"'{variable.name}' {error}") from None


def _cut_points(leaves: tuple[str, ...], counts: Mapping[str, int], minimum_cell: int, groups: int) -> CutPoints:
    """Cuts at multiples of a round step that the domain alone decides."""
    step = _round_step(len(leaves))
    first = int(leaves[0]) // step
    binned = [0] * (int(leaves[-1]) // step - first + 1)
    for value, count in counts.items():
        binned[int(value) // step - first] += count
    starts = balanced_runs(binned, groups, minimum_cell)
    return CutPoints(cuts=tuple(tuple((first + start) * step for start in level[1:]) for level in halved(starts)))


def _round_step(values: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... of which the domain holds at most _MOST_STEPS."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if values <= _MOST_STEPS * digit * power:
                return digit * power
        power *= 10


def _sizes(starts: tuple[int, ...], leaves: int) -> tuple[tuple[int, ...] | int, ...]:
    sizes = tuple(end - start for start, end in zip(starts, [*starts[1:], leaves], strict=True))
    return (sizes, *[2] * (len(halved(starts)) - 1))


def _priority(leaves: tuple[str, ...], counts: Mapping[str, int], minimum_cell: int, groups: int) -> Priority:
    """The most frequent stay; 'other' holds at least one category that is not rare, and two categories."""
    coarse = dict(zip(leaves, coarse_counts([counts.get(leaf, 0) for leaf in leaves], minimum_cell), strict=True))
    frequent = sorted((leaf for leaf in leaves if coarse[leaf]), key=lambda leaf: -int(coarse[leaf]))
    kept = frequent[: min(groups, len(frequent) - 1, len(leaves) - 2)]
    if len(frequent) < 2 or not kept:
        raise DataError(
            f"has too few categories of {minimum_cell} records or more: to name one would tell that the others are rare"
        )
    levels = [tuple(kept)]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][: len(levels[-1]) // 2])
    others = next(name for name in ("other", "others", "all others") if name not in leaves)
    return Priority(priority=tuple(levels), others=others)


def _periods(leaves: tuple[str, ...]) -> Periods:
    years = int(leaves[-1][:4]) - int(leaves[0][:4]) + 1
    periods: list[Period] = ["month", "quarter", "year"]
    return Periods(periods=(*periods, "decade") if years > 10 else tuple(periods))


def coarse_counts(counts: Sequence[int], minimum_cell: int) -> IntArray:
    """Counts rounded down to whole minimum cells, shape (values,): 0 for every rare value."""
    return np.asarray(counts, dtype=np.int64) // minimum_cell * minimum_cell


def balanced_runs(counts: Sequence[int], groups: int, minimum_cell: int) -> tuple[int, ...]:
    """Where runs of about equally many records begin.

    counts  : records of each value, in the order of the values
    groups  : runs that are wanted; there are fewer where a single value holds more than its share
    returns : positions in rising order, the first 0; each run holds at least `minimum_cell` records
    raises  : DataError unless there are two runs of that size
    cost    : O(values)
    """
    coarse = coarse_counts(counts, minimum_cell)
    total = int(coarse.sum())
    starts, reached, begun = [0], 0, 0
    for place, (count, following) in enumerate(pairwise(coarse.tolist()), start=1):
        reached += count
        if len(starts) == groups:
            break
        share = begun + (total - begun) / (groups - len(starts) + 1)  # of what is left, for each run that is left
        nearest = share - reached <= reached + following - share
        if nearest and begun < reached <= total - minimum_cell:
            starts.append(place)
            begun = reached
    if len(starts) < 2:
        raise DataError(
            f"cannot be cut into two groups of {minimum_cell} records or more without telling of values that fewer have"
        )
    return tuple(starts)


def halved(starts: Sequence[int]) -> list[tuple[int, ...]]:
    """The runs, then every two of them as one, and so on down to two."""
    levels = [tuple(starts)]
    while len(levels[-1]) > 2:
        levels.append(levels[-1][::2])
    return levels
