"""Cell changes: the share of a variable's cells that masking altered or blanked.

Compared with the recoded original (the original after the deterministic recodings alone), so that grouping ages into
bands is not counted as a change of every age.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, Codes, narrow
from sluice.ground.categories import codes_of
from sluice.ground.errors import DataError


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
