"""Gower points: records with numbers and categories, on one scale that the original data alone set.

The Gower distance of two records is the sum over the variables of: for numbers, dates and ordinal categories (by their
position) the difference as a share of the original's range; for other categories 0 if equal and 1 if not. A missing
value equals a missing value, and is 1 away from any other.

Source: Gower (1971). Differs from it: the range of numbers and dates is the one that evenly distributed values of the
same spread have, so that one wild value does not make all others equal; and it is that of the original for every file,
so that a distance means the same in each. Values far out may be more than 1 away.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.risk.spread import EVEN_RANGE, spread

CodeArray = npt.NDArray[np.int32]

_MISSING = -1


@dataclass(frozen=True)
class GowerPoints:
    """Records ready to be compared.

    numbers    : shape (n, p), in units of the original's range, NaN where missing
    categories : shape (n, q), a code for each label, -1 where missing
    """

    numbers: FloatArray
    categories: CodeArray

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: npt.NDArray[np.integer]) -> "GowerPoints":
        return GowerPoints(self.numbers[rows], self.categories[rows])

    def in_random_order(self, rng: np.random.Generator) -> IntArray:
        """Shape (n,): all rows, shuffled so that the draw depends on the records and not on the order they came in."""
        columns = [*self.numbers.T, *self.categories.T]
        return np.lexsort(columns)[rng.permutation(len(self))]


def gower_points(
    names: Sequence[str], variables: Variables, original: pd.DataFrame, *others: pd.DataFrame
) -> tuple[GowerPoints, ...]:
    """The records of the original and of other files as points of one space.

    names   : columns to compare, at least one; each of a kind other than text
    original, others : typed by `variables`, any index; other files may hold labels that the original does not
    returns : as many as files, in their order
    raises  : DataError for a name that a file lacks, a free text, or no name at all
    cost    : O(n) a column
    """
    files = (original, *others)
    if not names:
        raise DataError("records can be compared by one column at least; got none")
    numbers: list[list[FloatArray]] = []
    categories: list[list[CodeArray]] = []
    for name in names:
        if name not in variables or any(name not in file.columns for file in files):
            raise DataError(f"no column '{name}' that all files share.", came=name, allowed=variables)
        columns = [file[name] for file in files]
        if variables[name].kind is Kind.TEXT:
            raise DataError(f"'{name}' is free text, which has no distance. Leave it out of the columns.")
        if variables[name].kind in (Kind.NOMINAL, Kind.BINARY, Kind.ITEMS):
            categories.append(_codes(columns))
        else:
            positions = [_positions(column, variables[name]) for column in columns]
            unit = _range(positions[0], variables[name].kind)
            numbers.append([column / unit if unit > 0 else column for column in positions])
    return tuple(
        GowerPoints(
            np.column_stack([column[at] for column in numbers]) if numbers else np.empty((len(file), 0)),
            np.column_stack([column[at] for column in categories])
            if categories
            else np.empty((len(file), 0), dtype=np.int32),
        )
        for at, file in enumerate(files)
    )


def _codes(columns: Sequence[pd.Series]) -> list[CodeArray]:
    """One code a label, whatever order the files hold their labels in."""
    labels = pd.Index(sorted({label for column in columns for label in column.cat.categories}), dtype=object)
    return [
        np.append(labels.get_indexer(pd.Index(column.cat.categories, dtype=object)), _MISSING)[codes_of(column)].astype(
            np.int32
        )
        for column in columns
    ]


def _positions(column: pd.Series, variable: Variable) -> FloatArray:
    """Numbers as they are, an ordinal category by its declared place, a date by its microseconds; NaN where missing."""
    if variable.kind is Kind.ORDINAL:
        declared = pd.Index(list(variable.categories or ()), dtype=object)
        places = np.append(declared.get_indexer(pd.Index(column.cat.categories, dtype=object)), _MISSING)
        codes = places[codes_of(column)]
        return np.where(codes < 0, np.nan, codes)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        moments = column.to_numpy("datetime64[us]").astype(np.int64).astype(np.float64)
        return np.where(column.isna().to_numpy(), np.nan, moments)
    return column.to_numpy(np.float64, na_value=np.nan)


def _range(values: FloatArray, kind: Kind) -> float:
    """The range of the categories that occur; of numbers and dates, which may hold wild values, by their spread."""
    if kind is Kind.ORDINAL:
        return float(np.nanmax(values) - np.nanmin(values)) if not np.isnan(values).all() else 0.0
    return EVEN_RANGE * spread(values)
