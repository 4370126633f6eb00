"""Number columns: the numbers of a file as codes of their distinct values, a byte or two where a number takes eight.

They are read like an array of shape (n, d): a block of records, some columns, one column.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd

from sluice.ground.arrays import Codes, FloatArray, IntArray, narrow
from sluice.ground.categories import codes_of


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
