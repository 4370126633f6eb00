"""The distribution of one variable before and after masking, on common bins and without small counts.

The intervals of a histogram are of equal width, or, where a long tail would leave nearly all values in one of these,
growing with the values or with equal shares of them.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor, log2, log10
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.variables import Kind, Variable
from sluice.utility.cell_changes import CellChanges, changed_in_few

_INNER_INTERVALS = 10  # about as many between the two outer ones
_FULL = 0.4  # share of the values in one interval of equal width from which others are tried
_EVEN_ENOUGH = 0.35  # share of the values in one growing interval up to which these are taken, for they are read easily
_GAIN = 0.2  # bits by which other intervals must tell more

Assign = Callable[[pd.Series], IntArray]  # the bin of each value that is present

_MOST_CATEGORIES = 30  # beyond these, the less frequent ones are pooled
_POOLED = "all others"


class Distribution(NamedTuple):
    """Counts of two files on common bins. A count that would be below the minimum, in either file, is None."""

    bins: tuple[str, ...] = ()
    before: tuple[int | None, ...] = ()
    after: tuple[int | None, ...] = ()


def distribution(before: pd.Series, after: pd.Series | None, variable: Variable, minimum_cell: int) -> Distribution:
    """Counts by category, or by about 12 intervals (see `intervals`); a date by its year. A missing value is in no bin.

    before, after : columns of the kind of `variable`; `after` is None for a variable that is not released
    minimum_cell  : no smaller count is published, 0 included
    returns       : no bins for text, and for numbers that are too few or too much alike
    cost          : O(n log n)

    Intervals come from `before` alone. Their edges are round numbers that leave at least `minimum_cell` records, and
    1 % where the values allow, in the open bin at either end, so no edge tells an extreme value. Categories that the
    contract does not declare are named only if they are frequent enough.
    """
    if variable.kind is Kind.TEXT:
        return Distribution()
    if variable.kind.is_categorical:
        bins, assign = _by_category(before, variable, minimum_cell)
    else:
        bins, assign = _by_interval(before, variable.kind, minimum_cell)
    if not bins:
        return Distribution()
    columns = [before] if after is None else [before, after]
    counts = np.array([np.bincount(assign(column), minlength=len(bins)) for column in columns])
    if variable.kind.is_categorical and not counts[:, -1].any():  # nothing was pooled
        bins, counts = bins[:-1], counts[:, :-1]
    hidden = hidden_bins(counts, minimum_cell)
    published = [tuple(None if hide else int(c) for c, hide in zip(row, hidden, strict=True)) for row in counts]
    return Distribution(bins, published[0], published[1] if after is not None else ())


def without_few_changes(counts: Distribution, changes: CellChanges, records: int, minimum_cell: int) -> Distribution:
    """The same counts, without those of the original by which the reader of the masked file learns what was changed.

    changes : of the cells of the variable
    records : of either file; row i of both is the same record

    Where cells of few records were changed, no count of the original is left. Where cells were blanked and none was
    changed, a difference is the number of people whose value was blanked: one that is small is left out, with others,
    as in `hidden_bins`.
    """
    if changed_in_few(changes, records, minimum_cell):
        return counts._replace(before=(None,) * len(counts.before))
    if changes.changed or not changes.suppressed or not counts.after:
        return counts
    blanked = np.array(
        [
            0 if one is None or other is None else one - other
            for one, other in zip(counts.before, counts.after, strict=True)
        ]
    )
    hidden = (blanked > 0) & (blanked < minimum_cell)
    for bin_ in np.argsort(blanked, kind="stable") if hidden.any() else ():
        if hidden.sum() >= 2 and blanked[hidden].sum() >= minimum_cell:
            break
        hidden[bin_] |= blanked[bin_] > 0
    told = zip(counts.before, hidden.tolist(), strict=True)
    return counts._replace(before=tuple(None if hide else count for count, hide in told))


def hidden_bins(counts: IntArray, minimum_cell: int) -> NDArray[np.bool_]:
    """Which bins to hide in every file (a row of `counts` each), so that no small count can be read or worked out.

    A small count in one file hides its bin in both. Then ever larger bins are hidden with it, until at least two are
    hidden and the hidden ones add up in each file to the minimum, or to 0: subtracting from a known total tells of
    enough people, or of nobody.
    """
    smallest = counts.min(axis=0)
    hidden = smallest < minimum_cell
    for bin_ in np.argsort(smallest, kind="stable") if hidden.any() else ():
        together = counts[:, hidden].sum(axis=1)
        if hidden.sum() >= 2 and ((together >= minimum_cell) | (together == 0)).all():
            break
        hidden[bin_] = True
    return np.asarray(hidden, dtype=bool)


def _by_category(before: pd.Series, variable: Variable, minimum_cell: int) -> tuple[tuple[str, ...], Assign]:
    declared = variable.categories
    if declared is not None and len(declared) <= _MOST_CATEGORIES:
        named = list(declared)
    else:
        frequency = before.value_counts()
        frequent = set(frequency.index[frequency >= minimum_cell][: _MOST_CATEGORIES - 1])
        named = [category for category in before.cat.categories if category in frequent]
    bin_of = {category: position for position, category in enumerate(named)}

    def assign(column: pd.Series) -> IntArray:
        bins = np.array([bin_of.get(category, len(named)) for category in column.cat.categories], dtype=np.int64)
        codes = codes_of(column)
        return np.asarray(bins[codes[codes >= 0]])

    return (*(variable.labels.get(category, category) for category in named), _POOLED), assign


def _by_interval(before: pd.Series, kind: Kind, minimum_cell: int) -> tuple[tuple[str, ...], Assign]:
    def numbers(column: pd.Series) -> FloatArray:
        present = column.dropna()
        return (present.dt.year if kind is Kind.DATE else present).to_numpy(dtype=np.float64)

    edges, names = intervals(np.sort(numbers(before)), kind, minimum_cell)

    def assign(column: pd.Series) -> IntArray:
        return np.searchsorted(edges, numbers(column), side="right").astype(np.int64)

    return names, assign


def intervals(values: FloatArray, kind: Kind, minimum_cell: int) -> tuple[list[float], tuple[str, ...]]:
    """Edges, from each of which on an interval begins, and the names of the intervals, one more than edges.

    values  : shape (n,), sorted, without missing ones; of dates the years
    returns : nothing of values that are too few or too much alike
    cost    : O(n)

    Edges are round numbers that leave at least `minimum_cell` values, and 1 % where the values allow, in the open
    interval at either end, so no edge tells an extreme value.
    """
    even, width = _even(values, minimum_cell)
    if not even:
        return [], ()
    if kind is not Kind.DATE and _largest(values, even) > _FULL:
        growing, shares = _growing(values, minimum_cell), _equal_shares(values, minimum_cell)
        if growing and _largest(values, growing) <= _EVEN_ENOUGH:
            return growing, _names(growing, kind, _shortest)
        best = max((growing, shares), key=lambda edges: _bits(values, edges))
        if _bits(values, best) > _bits(values, even) + _GAIN:
            return best, _names(best, kind, _shortest)
    decimals = 0 if kind is Kind.DATE else max(0, -floor(log10(width)))
    separator = "" if kind is Kind.DATE else ","
    return even, _names(even, kind, lambda number: f"{number:{separator}.{decimals}f}")


def _ends(values: FloatArray, minimum_cell: int) -> tuple[float, float] | None:
    """Between which edges may lie: enough values below each and from each on. None where both ends have one value."""
    for outside in (max(minimum_cell, ceil(len(values) / 100)), minimum_cell):
        if len(values) >= 2 * outside:
            low, high = float(values[outside - 1]), float(values[-outside])
            if low < high:
                return low, high
    return None


def _even(values: FloatArray, minimum_cell: int) -> tuple[list[float], float]:
    """Multiples of a round width, and it: 1, 2 or 5 times a power of ten, at least 1 for whole numbers."""
    ends = _ends(values, minimum_cell)
    if ends is None:
        return [], 0.0
    low, high = ends
    least = (high - low) / _INNER_INTERVALS
    power = 10.0 ** floor(log10(least))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= least)
    width = max(width, 1.0) if _whole(values) else width
    decimals = max(0, -floor(log10(width)))
    return [round(i * width, decimals) for i in range(floor(low / width) + 1, floor(high / width) + 1)], width


def _growing(values: FloatArray, minimum_cell: int) -> list[float]:
    """1, 2 and 5 times powers of ten, or the powers alone where these are many; of values that are nowhere below 0."""
    ends = _ends(values, minimum_cell)
    positive = values[values > 0]
    if ends is None or values[0] < 0 or not len(positive):
        return []
    low, high = ends
    least = max(low, float(positive[len(positive) // 20]))  # a few that are nearly 0 would take most intervals
    powers = range(floor(log10(least)), floor(log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        edges = [round(step * 10.0**power, max(0, -power)) for power in powers for step in steps]
        edges = [edge for edge in edges if low < edge <= high and edge >= least * (1 - 1e-9)]
        edges = [edge for edge in edges if edge >= 1] if _whole(values) else edges
        if len(edges) <= _INNER_INTERVALS + 2:
            return edges
    return []


def _equal_shares(values: FloatArray, minimum_cell: int) -> list[float]:
    """Tenths of the values, their edges rounded to two digits."""
    ends = _ends(values, minimum_cell)
    if ends is None:
        return []
    low, high = ends
    tenths = [float(values[int(len(values) * tenth / 10)]) for tenth in range(1, 10)]
    rounded = {_two_digits(value) for value in tenths}
    if _whole(values):
        rounded = {float(round(value)) for value in rounded}
    return sorted(edge for edge in rounded if low < edge <= high)


def _two_digits(value: float) -> float:
    return round(value, 1 - floor(log10(abs(value)))) if value else 0.0


def _whole(values: FloatArray) -> bool:
    return bool((values == np.floor(values)).all())


def _counts(values: FloatArray, edges: Sequence[float]) -> FloatArray:
    places = np.searchsorted(values, edges, side="left")
    return np.diff(np.concatenate([[0], places, [len(values)]])).astype(np.float64)


def _largest(values: FloatArray, edges: Sequence[float]) -> float:
    return float(_counts(values, edges).max() / len(values))


def _bits(values: FloatArray, edges: Sequence[float]) -> float:
    """Entropy of the counts: what the picture tells of a value."""
    shares = _counts(values, edges) / len(values)
    return float(-sum(share * log2(share) for share in shares if share))


def _shortest(number: float) -> str:
    text = f"{number:,.10f}"
    return text.rstrip("0").rstrip(".")


def _names(edges: Sequence[float], kind: Kind, written: Callable[[float], str]) -> tuple[str, ...]:
    def between(start: float, end: float) -> str:
        if kind is Kind.CONTINUOUS:
            return f"{written(start)} to {written(end)}"
        return written(start) if end - start == 1 else f"{written(start)} to {written(end - 1)}"

    below, above = ("before", "or later") if kind is Kind.DATE else ("under", "or more")
    inner = map(between, edges[:-1], edges[1:])
    return (f"{below} {written(edges[0])}", *inner, f"{written(edges[-1])} {above}")
