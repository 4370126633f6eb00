"""Released numbers: every number of the original beside what the masked file tells of it.

Compared with the original as it was, not with the recoded one: that is how recoding and the removal of a variable come
to count as loss. A released group is read as the mean of all original values that it may stand for, each as likely as
another, because its reader does not know how often each occurs; a removed variable is missing everywhere.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import Codes, FloatArray
from sluice.ground.categories import codes_of
from sluice.ground.errors import DataError
from sluice.ground.variables import NAMES, Kind, Variable, Variables
from sluice.risk.coding import released_as
from sluice.utility.comparable_columns import comparable_columns
from sluice.utility.continuous.number_columns import NumberColumn, NumberColumns, Numbers
from sluice.utility.distinct_values import DistinctValues


class ReleasedNumbers(NamedTuple):
    """Numbers of two files by the same columns; NaN for a missing value."""

    names: tuple[str, ...]  # of the original's variables
    removed: tuple[str, ...]  # those that the masked file does not have
    original: Numbers  # (n, d)
    masked: Numbers  # (m, d)


def released_numbers(
    original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables
) -> ReleasedNumbers:
    """Continuous, integer, ordinal and binary variables of the original, the latter two by position of the category.

    original, variables : length n, typed
    recoded             : length n, row i the record of `original`'s row i after the recodings alone; which original
                          values a released group may stand for is read off the two
    masked, released    : length m, typed; any records in any order
    raises              : DataError if the original and the recoded file differ in length
    cost                : O(n log n + m) a variable

    Where probabilities of categories are released, a record lies at its expected position. A group behind which no
    original value stands may be any value. Numbers that name a person, household or firm are left out, as are dates.
    """
    if len(original) != len(recoded):
        raise DataError(f"the recoded file must hold the original's records; got {len(recoded)} for {len(original)}.")
    names = [name for name, variable in variables.items() if variable.role not in NAMES and _is_number(variable)]
    as_they_are = set(comparable_columns(original, masked, variables, released))
    told_of = {
        name: () if variables[name].kind.is_numeric else released_as(name, variables, released) for name in names
    }
    before = [NumberColumn.of(original[name]) for name in names]
    after = []
    for name, was in zip(names, before, strict=True):
        if name in as_they_are and _means_the_same(original[name], recoded.get(name)):
            after.append(NumberColumn.of(masked[name]))
        elif name in released and name in recoded:
            after.append(_read(was, DistinctValues.of(recoded[name]), DistinctValues.of(masked[name])))
        elif columns := told_of[name]:
            categories = original[name].cat.categories
            places = categories.get_indexer(pd.Index([column.removeprefix(f"{name}=") for column in columns]))
            after.append(NumberColumn.of(_expected(masked[list(columns)].to_numpy(np.float64, na_value=0.0), places)))
        else:
            nothing: Codes = np.zeros(len(masked), dtype=np.uint8)
            after.append(NumberColumn(nothing, np.array([np.nan])))
    removed = tuple(name for name in names if name not in released and not told_of[name])
    files = NumberColumns(before, len(original)), NumberColumns(after, len(masked))
    return ReleasedNumbers(tuple(names), removed, *files)


def _is_number(variable: Variable) -> bool:
    return variable.kind.is_numeric or variable.kind in (Kind.ORDINAL, Kind.BINARY)


def _means_the_same(original: "pd.Series[Any]", recoded: "pd.Series[Any] | None") -> bool:
    """Whether the recodings left each category what it was; numbers are numbers, however they were recoded."""
    if recoded is None or not isinstance(original.dtype, pd.CategoricalDtype):
        return True
    before, after = codes_of(original), codes_of(recoded)
    return bool(((before == after) | (after < 0)).all())


def _expected(shares: FloatArray, places: npt.NDArray[Any]) -> FloatArray:
    """(m,): the mean place of the categories, by the shares that were released; of those of no category nothing."""
    known = np.maximum(shares[:, places >= 0], 0.0)
    total = known.sum(axis=1)
    return np.asarray(known @ places[places >= 0].astype(np.float64) / np.where(total > 0, total, np.nan))


def _read(was: NumberColumn, recoded: DistinctValues, masked: DistinctValues) -> NumberColumn:
    """The mean of the distinct values behind each label of `recoded`, for each label of `masked`."""
    values = was.values[:-1]
    label, value, _ = recoded.pairs(DistinctValues(was.codes, pd.Index(values)))
    behind = (label < len(recoded.distinct)) & (value < len(values))
    label, value = label[behind], value[behind]
    labels = len(recoded.distinct)
    with np.errstate(invalid="ignore"):
        means = np.bincount(label, values[value], labels) / np.bincount(label, minlength=labels)
    occurs = values[was.counts[:-1] > 0]
    anything = float(occurs.mean()) if len(occurs) else np.nan
    read = pd.Series(means, recoded.distinct).reindex(masked.distinct).fillna(anything).to_numpy(np.float64)
    return NumberColumn(masked.codes, np.append(read, np.nan))
