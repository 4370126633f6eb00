"""Cell changes: the share of a variable's cells that masking altered or blanked, and which of them tell of a few.

Cells are compared with the recoded original (the original after the deterministic recodings alone), so that grouping
ages into bands is not counted as a change of every age.

Who has the masked file and a figure that compares it with the original knows everything but what masking changed.
Where it changed few values, or the change is mostly that of one, as with the one income above a top code, the figure
is an equation with one unknown. In weighted figures a change counts as often as its record weighs, so that one heavy
record among many can be such a one, too. Source: the p% rule for magnitude tables (Hundepool et al. 2012, section
4.2), here on changes.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, Codes, FloatArray, narrow
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import DataError
from sluice.utility.continuous.released_numbers import Numbers
from sluice.utility.record_weights import effective_records, relative_weight

_PERCENT = 10.0  # who has the second largest change must not know the largest more closely


class CellChanges(NamedTuple):
    """Shares of the records, 0 to 1; higher is worse. A cell is changed or suppressed, never both.

    Methods that move values between records, or draw them anew, move missing values, too. A cell that lost its value is
    suppressed only beyond as many as were missing and have one now; the others were changed.
    """

    changed: float  # another value than before, a value where none was, or a missing one that came from another record
    suppressed: float  # no value where one was, net of values where none was


def changed_in_few(changes: CellChanges, records: int, minimum_cell: int) -> bool:
    """Whether some cells, but of fewer records than the minimum, were changed or blanked."""
    return 0 < round((changes.changed + changes.suppressed) * records) < minimum_cell


def cell_changes(recoded: pd.Series, masked: pd.Series) -> CellChanges:
    """Compare one variable of two typed frames, position by position; the index is not looked at.

    recoded, masked : length n; row i of both is the same record. Numbers compare exactly, categories by their label
    raises          : DataError if the lengths differ or there is no record
    cost            : O(n)
    """
    if len(recoded) != len(masked):
        raise DataError(f"cell changes compare record by record; got {len(recoded)} and {len(masked)} records.")
    if not len(recoded):
        raise DataError("cell changes need at least one record; got none.")
    was, is_now = recoded.notna().to_numpy(), masked.notna().to_numpy()
    differ = changed_cells(recoded, masked) & was & is_now
    blanked, filled = int((was & ~is_now).sum()), int((~was & is_now).sum())
    moved = min(blanked, filled)
    return CellChanges(
        changed=(int(differ.sum()) + filled + moved) / len(recoded),
        suppressed=(blanked - moved) / len(recoded),
    )


def changed_cells(recoded: pd.Series, masked: pd.Series) -> BoolArray:
    """Shape (n,): the cells that were changed, blanked or filled; arguments and cost as those of `cell_changes`."""
    was, is_now = recoded.notna().to_numpy(), masked.notna().to_numpy()
    both = was & is_now
    changed = np.asarray(was != is_now)
    if isinstance(recoded.dtype, pd.CategoricalDtype) and isinstance(masked.dtype, pd.CategoricalDtype):
        changed[both] = _codes_differ(recoded, masked)[both]
    else:
        changed[both] = _differ(recoded.array[both], masked.array[both])
    return changed


def _codes_differ(before: pd.Series, after: pd.Series) -> BoolArray:
    """Where two columns of categories have different labels; of missing values anything."""
    labels = before.cat.categories.union(after.cat.categories, sort=False)

    def places(column: pd.Series) -> Codes:
        place = narrow(labels.get_indexer(column.cat.categories), len(labels))
        codes = codes_of(column)
        return place[codes] if len(place) else np.zeros(len(codes), dtype=np.uint8)

    return np.asarray(places(before) != places(after))


def _differ(before: pd.api.extensions.ExtensionArray, after: pd.api.extensions.ExtensionArray) -> BoolArray:
    """Where two arrays without missing values differ; numbers as numbers, all else by its text."""
    one, other = pd.Series(before), pd.Series(after)
    numbers = pd.api.types.is_numeric_dtype
    if one.dtype == other.dtype or (numbers(one.dtype) and numbers(other.dtype)):
        return (one != other).to_numpy(dtype=bool)
    return (one.astype(str) != other.astype(str)).to_numpy(dtype=bool)


def tells_of_few(
    original: Numbers,
    masked: Numbers,
    minimum_cell: int,
    *,
    paired_records: bool,
    weight: FloatArray | None = None,
) -> BoolArray:
    """Shape (d,): the numbers of which a comparison would tell of a few people.

    original, masked : shape (n, d) and (m, d), NaN for a missing value
    minimum_cell     : changes of fewer values, but some, are too few; 1: any number is enough
    paired_records   : row i of both is the same record. Otherwise the values are compared as two heaps: what both have
                       is taken to be unchanged, as a reader takes it who sees it twice
    weight           : (n,) of the original records, where figures are weighted, too: then a change must not be mostly
                       that of one record, or of effectively few (Kish 1965), by its weight either
    raises           : DataError if the columns differ, or the records of paired files, or for weights that do not fit
    cost             : O(n d), or O(n log n d) for files that are not paired

    A value that is missing in one file alone is changed by its distance from the median of the original.
    """
    if original.shape[1] != masked.shape[1]:
        raise DataError(f"both files need the same columns; got {original.shape[1]} and {masked.shape[1]}.")
    if paired_records and len(original) != len(masked):
        raise DataError(f"values compare record by record; got {len(original):,} and {len(masked):,} records.")
    if minimum_cell <= 1:
        return np.zeros(original.shape[1], dtype=np.bool_)
    changes = _of_pairs if paired_records else _of_heaps
    weight = relative_weight(weight, len(original))
    found = (changes(original[:, at], masked[:, at], weight) for at in range(original.shape[1]))
    return np.array([each.few(minimum_cell) for each in found], dtype=np.bool_)


class _Changes(NamedTuple):
    """Of c values."""

    by: FloatArray  # (c,), above 0, or 0 for a missing value where the original has the median
    weight: FloatArray | None  # (c,)

    def few(self, minimum_cell: int) -> bool:
        if _mostly_one(self.by, minimum_cell):
            return True
        if self.weight is None or not self.weight.any():
            return False
        if effective_records(self.weight, len(self.weight)) < minimum_cell:
            return True
        return _mostly_one((self.by * self.weight)[self.weight > 0], minimum_cell)


def _mostly_one(changes: FloatArray, minimum_cell: int) -> bool:
    if len(changes) < minimum_cell:
        return len(changes) > 0
    second, largest = np.partition(changes, -2)[-2:]
    rest = float(changes.sum()) - float(second) - float(largest)
    return rest < _PERCENT / 100 * float(largest)


def _of_pairs(before: FloatArray, after: FloatArray, weight: FloatArray | None) -> _Changes:
    middle = _median(before)
    by = np.abs(np.nan_to_num(before, nan=middle) - np.nan_to_num(after, nan=middle))
    changed = (by > 0) | (np.isnan(before) != np.isnan(after))
    return _Changes(by[changed], None if weight is None else weight[changed])


def _of_heaps(before: FloatArray, after: FloatArray, weight: FloatArray | None) -> _Changes:
    """The distances from the median of the original values that the masked file does not have, as often as it lacks
    them; each of a value weighs what the heaviest record of the value does."""
    present = ~np.isnan(before)
    values, place, counts = np.unique(before[present], return_inverse=True, return_counts=True)
    there, times = np.unique(after[~np.isnan(after)], return_counts=True)
    held = np.zeros(len(values), dtype=np.int64)
    _, here, of_there = np.intersect1d(values, there, assume_unique=True, return_indices=True)
    held[here] = times[of_there]
    lacking = np.maximum(counts - held, 0)
    by = np.repeat(np.abs(values - _median(before)), lacking)
    if weight is None:
        return _Changes(by, None)
    heaviest = np.zeros(len(values))
    np.maximum.at(heaviest, place, weight[present])
    return _Changes(by, np.repeat(heaviest, lacking))


def _median(values: FloatArray) -> float:
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else 0.0


def coarse_share(value: float, records: int, minimum_cell: int) -> float:
    """The share as the nearest multiple of `minimum_cell` records, at most 1; exact where one record may be told.

    value        : a share of the records, 0 to 1
    records      : of the file that it is a share of; 0 leaves the value as it is
    minimum_cell : no smaller number of records may be told
    """
    if minimum_cell <= 1 or not records:
        return value
    step = minimum_cell / records
    return min(1.0, round(value / step) * step)
