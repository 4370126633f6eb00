"""Released numbers: every number of the original beside what the masked file tells of it.

Compared with the original as it was, not with the recoded one: that is how recoding and the removal of a variable come
to count as loss. A released group is read as the mean of all original values that it may stand for, each as likely as
another, because its reader does not know how often each occurs; a removed variable is missing everywhere.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.arrays import FloatArray
from sluice.errors import DataError
from sluice.risk.coding import released_as
from sluice.risk.comparable_values import plain_values
from sluice.utility.comparable_columns import as_numbers, comparable_columns
from sluice.variables import NAMES, Kind, Variable, Variables


class ReleasedNumbers(NamedTuple):
    """Numbers of two files by the same columns; NaN for a missing value."""

    names: tuple[str, ...]  # of the original's variables
    removed: tuple[str, ...]  # those that the masked file does not have
    original: FloatArray  # (n, d)
    masked: FloatArray  # (m, d)


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
    before = as_numbers(original, names)
    after = np.full((len(masked), len(names)), np.nan)
    for place, name in enumerate(names):
        if name in as_they_are and _means_the_same(original[name], recoded.get(name)):
            after[:, place] = as_numbers(masked, [name])[:, 0]
        elif name in released and name in recoded:
            after[:, place] = _read(before[:, place], plain_values(recoded[name]), plain_values(masked[name]))
        elif columns := told_of[name]:
            categories = original[name].cat.categories
            places = categories.get_indexer(pd.Index([column.removeprefix(f"{name}=") for column in columns]))
            after[:, place] = _expected(masked[list(columns)].to_numpy(np.float64, na_value=0.0), places)
    removed = tuple(name for name in names if name not in released and not told_of[name])
    return ReleasedNumbers(tuple(names), removed, before, after)


def _is_number(variable: Variable) -> bool:
    return variable.kind.is_numeric or variable.kind in (Kind.ORDINAL, Kind.BINARY)


def _means_the_same(original: "pd.Series[Any]", recoded: "pd.Series[Any] | None") -> bool:
    """Whether the recodings left each category what it was; numbers are numbers, however they were recoded."""
    if recoded is None or not isinstance(original.dtype, pd.CategoricalDtype):
        return True
    before, after = original.cat.codes.to_numpy(), recoded.cat.codes.to_numpy()
    return bool(((before == after) | (after < 0)).all())


def _expected(shares: FloatArray, places: npt.NDArray[Any]) -> FloatArray:
    """(m,): the mean place of the categories, by the shares that were released; of those of no category nothing."""
    known = np.maximum(shares[:, places >= 0], 0.0)
    total = known.sum(axis=1)
    return np.asarray(known @ places[places >= 0].astype(np.float64) / np.where(total > 0, total, np.nan))


def _read(values: FloatArray, recoded: npt.NDArray[Any], masked: npt.NDArray[Any]) -> FloatArray:
    """(m,): the mean of the distinct values behind each label of `recoded`, for each label of `masked`."""
    pairs = pd.DataFrame({"label": recoded, "value": values}).dropna().drop_duplicates()
    means = pairs.groupby("label", sort=False)["value"].mean()
    distinct = values[~np.isnan(values)]
    anything = float(np.unique(distinct).mean()) if len(distinct) else np.nan
    codes, labels = pd.factorize(masked)
    read = means.reindex(pd.Index(labels)).fillna(anything).to_numpy(np.float64)
    return np.asarray(np.append(read, np.nan)[codes])
