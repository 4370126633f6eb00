"""The distribution of one variable before and after masking, on common bins and without small counts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.categories import codes_of
from sluice.ground.variables import Kind, Variable
from sluice.utility.cell_changes import CellChanges, changed_in_few
from sluice.utility.histogram_intervals import intervals

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
