"""The distribution of one variable before and after masking, on common bins and without small counts."""

from collections.abc import Callable
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.arrays import FloatArray, IntArray
from sluice.variables import Kind, Variable

Assign = Callable[[pd.Series], IntArray]  # the bin of each value that is present

_INNER_INTERVALS = 10  # about as many between the two outer ones
_MOST_CATEGORIES = 30  # beyond these, the less frequent ones are pooled
_POOLED = "all others"


class Distribution(NamedTuple):
    """Counts of two files on common bins. A count that would be below the minimum, in either file, is None."""

    bins: tuple[str, ...] = ()
    before: tuple[int | None, ...] = ()
    after: tuple[int | None, ...] = ()


def distribution(before: pd.Series, after: pd.Series | None, variable: Variable, minimum_cell: int) -> Distribution:
    """Counts by category, or by about 12 intervals of equal width; a date by its year. A missing value is in no bin.

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
    hidden = _hidden(counts, minimum_cell)
    published = [tuple(None if hide else int(c) for c, hide in zip(row, hidden, strict=True)) for row in counts]
    return Distribution(bins, published[0], published[1] if after is not None else ())


def _hidden(counts: IntArray, minimum_cell: int) -> NDArray[np.bool_]:
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
        codes = column.cat.codes.to_numpy()
        return np.asarray(bins[codes[codes >= 0]])

    return (*(variable.labels.get(category, category) for category in named), _POOLED), assign


def _by_interval(before: pd.Series, kind: Kind, minimum_cell: int) -> tuple[tuple[str, ...], Assign]:
    def numbers(column: pd.Series) -> FloatArray:
        present = column.dropna()
        return (present.dt.year if kind is Kind.DATE else present).to_numpy(dtype=np.float64)

    edges, width = _edges(np.sort(numbers(before)), minimum_cell)

    def assign(column: pd.Series) -> IntArray:
        return np.searchsorted(edges, numbers(column), side="right").astype(np.int64)

    return _interval_names(edges, width, kind), assign


def _edges(values: FloatArray, minimum_cell: int) -> tuple[list[float], float]:
    """Multiples of a round width, with enough of the sorted `values` below the first and from the last on; and width.

    A width is 1, 2 or 5 times a power of ten, at least 1 for whole numbers. No edge where both ends have one value.
    """
    whole = bool((values == np.floor(values)).all())
    for outside in (max(minimum_cell, ceil(len(values) / 100)), minimum_cell):
        if len(values) < 2 * outside:
            continue
        low, high = float(values[outside - 1]), float(values[-outside])
        if low == high:
            continue
        least = (high - low) / _INNER_INTERVALS
        power = 10.0 ** floor(log10(least))
        width = next(step * power for step in (1, 2, 5, 10) if step * power >= least)
        width = max(width, 1.0) if whole else width
        decimals = max(0, -floor(log10(width)))
        return [round(i * width, decimals) for i in range(floor(low / width) + 1, floor(high / width) + 1)], width
    return [], 0.0


def _interval_names(edges: list[float], width: float, kind: Kind) -> tuple[str, ...]:
    if not edges:
        return ()
    decimals = max(0, -floor(log10(width)))

    def written(number: float) -> str:
        return f"{number:.0f}" if kind is Kind.DATE else f"{number:,.{decimals}f}"

    def between(start: float) -> str:
        if kind is Kind.CONTINUOUS:
            return f"{written(start)} to {written(start + width)}"
        return written(start) if width == 1 else f"{written(start)} to {written(start + width - 1)}"

    below, above = ("before", "or later") if kind is Kind.DATE else ("under", "or more")
    return (f"{below} {written(edges[0])}", *map(between, edges[:-1]), f"{written(edges[-1])} {above}")
