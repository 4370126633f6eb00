"""Released numbers: every number of the original beside what the masked file tells of it.

Compared with the original as it was, not with the recoded one: that is how recoding and the removal of a variable come
to count as loss. A released group is read as the mean of the values that it may stand for, see `released_values`; what
may be any value, and all of a removed variable, is missing.

The numbers of a file are held as codes of their distinct values, a byte or two where a number takes eight, and are read
like an array of shape (n, d): a block of records, some columns, one column.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import Codes, FloatArray, IntArray, narrow
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import DataError
from sluice.ground.released_values import ReleasedValues, at_face_value, labels_of, released_as
from sluice.ground.variables import NAMES, Kind, Variable, Variables


class Numbers(Protocol):
    """Numbers of a file, shape (n, d), NaN for a missing value: an array, or `NumberColumns`."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, place: Any, /) -> Any: ...


class NumberColumn:
    """One column.

    values : (k + 1,) its distinct values in rising order, of which some may occur nowhere, and last NaN
    codes  : (n,) the place of each number in `values`, in the smallest unsigned type that holds them
    """

    def __init__(self, codes: Codes, values: FloatArray) -> None:
        """codes : places in `values`, of which a negative one counts from the end; values : any order, any repetition,
        and last NaN."""
        present = ~np.isnan(values)
        distinct, place_of_present = np.unique(values[present], return_inverse=True)
        place = np.full(len(values), len(distinct))
        place[present] = place_of_present
        self.values: FloatArray = np.append(distinct, np.nan)
        self.codes: Codes = narrow(place, len(self.values))[codes]

    @classmethod
    def of(cls, column: "FloatArray | pd.Series[Any]") -> Self:
        """Of floats with NaN for a missing value, or of a typed column: a number, or the place of its category.

        cost : O(n), and a sort of the distinct values
        """
        if not isinstance(column, np.ndarray) and isinstance(column.dtype, pd.CategoricalDtype):
            return cls(codes_of(column), np.append(np.arange(len(column.cat.categories)), np.nan))
        numbers = column if isinstance(column, np.ndarray) else column.to_numpy(np.float64, na_value=np.nan)
        codes, values = pd.factorize(numbers)
        return cls(codes, np.append(values, np.nan))

    @property
    def counts(self) -> IntArray:
        """(k + 1,): the records of each value, and last of none."""
        return np.bincount(self.codes, minlength=len(self.values))

    @property
    def numbers(self) -> FloatArray:
        """(n,)"""
        return self.values[self.codes]


class NumberColumns:
    """Columns of one length; see `Numbers`."""

    def __init__(self, columns: Iterable[NumberColumn], records: int) -> None:
        self.columns: Sequence[NumberColumn] = tuple(columns)
        self.shape = (records, len(self.columns))

    @classmethod
    def of(cls, numbers: Numbers) -> "NumberColumns":
        """The same numbers; of an array its columns. Cost: see `NumberColumn.of`."""
        if isinstance(numbers, NumberColumns):
            return numbers
        return cls((NumberColumn.of(numbers[:, at]) for at in range(numbers.shape[1])), len(numbers))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Any, /) -> Any:
        """[rows] is an array of these records, [:, at] of one column, and [:, places] these columns without a copy."""
        if isinstance(place, tuple):
            rows, at = place
            assert rows == slice(None)
            if isinstance(at, int | np.integer):
                return self.columns[int(at)].numbers
            return NumberColumns([self.columns[each] for each in at], len(self))
        columns = [each.values[each.codes[place]] for each in self.columns]
        return np.column_stack(columns) if columns else np.empty((len(self), 0))[place]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.asarray(self[:], dtype=dtype)


class ReleasedNumbers(NamedTuple):
    """Numbers of two files by the same columns; NaN for a missing value."""

    names: tuple[str, ...]  # of the original's variables
    removed: tuple[str, ...]  # those that the masked file does not have, or recoded to one group
    original: Numbers  # (n, d)
    masked: Numbers  # (m, d)


def released_numbers(
    original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables
) -> ReleasedNumbers:
    """Continuous, integer, ordinal and binary variables of the original, the latter two by position of the category.

    original, variables : length n, typed
    recoded             : length n, row i the record of `original`'s row i after the recodings alone
    masked, released    : length m, typed; any records in any order
    raises              : DataError if the original and the recoded file differ in length
    cost                : O(n log n + m) a variable

    Where probabilities of categories are released, a record lies at its expected position. Numbers that name a person,
    household or firm are left out, as are dates.
    """
    if len(original) != len(recoded):
        raise DataError(f"the recoded file must hold the original's records; got {len(recoded)} for {len(original)}.")
    names = [name for name, variable in variables.items() if variable.role not in NAMES and _is_number(variable)]
    removed, after = [], []
    for name in names:
        if name not in released:
            columns = () if variables[name].kind.is_numeric else released_as(name, variables, released)
            if columns:
                categories = original[name].cat.categories
                places = categories.get_indexer(pd.Index(labels_of(name, columns)))
                shares = masked[list(columns)].to_numpy(np.float64, na_value=0.0)
                after.append(NumberColumn.of(_expected(shares, places)))
                continue
            removed.append(name)
            nothing: Codes = np.zeros(len(masked), dtype=np.uint8)
            after.append(NumberColumn(nothing, np.array([np.nan])))
        elif at_face_value(original[name], masked[name]):
            after.append(NumberColumn.of(masked[name]))
        else:
            read = ReleasedValues.of(original[name], recoded.get(name), masked[name], variables[name].hierarchy)
            known = read.known.distinct if variables[name].kind.is_numeric else range(len(read.known.distinct))
            after.append(NumberColumn(read.told.codes, read.means(np.asarray(known, dtype=np.float64))))
            if read.is_lost and read.told.counts[:-1].any():
                removed.append(name)
    before = NumberColumns([NumberColumn.of(original[name]) for name in names], len(original))
    return ReleasedNumbers(tuple(names), tuple(removed), before, NumberColumns(after, len(masked)))


def _is_number(variable: Variable) -> bool:
    return variable.kind.is_numeric or variable.kind in (Kind.ORDINAL, Kind.BINARY)


def _expected(shares: FloatArray, places: npt.NDArray[np.int64]) -> FloatArray:
    """(m,): the mean place of the categories, by the shares that were released; of those of no category nothing."""
    known = np.maximum(shares[:, places >= 0], 0.0)
    total = known.sum(axis=1)
    return np.asarray(known @ places[places >= 0].astype(np.float64) / np.where(total > 0, total, np.nan))
