"""Distinct values: a column as codes of its values, which take a byte or two a record where texts take eight."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from sluice.ground.arrays import Codes, IntArray, narrow
from sluice.ground.categories import codes_of
from sluice.ground.comparable_values import plain_values


def is_number(column: "pd.Series[Any]") -> bool:
    """Whether a typed column holds numbers or dates."""
    return pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype)


@dataclass(frozen=True)
class DistinctValues:
    """A column by its distinct values, some of which may occur nowhere.

    codes    : (n,) the place of each value in `distinct`, len(distinct) for a missing one
    distinct : categories in their order, other values in that of their appearance
    """

    codes: Codes
    distinct: "pd.Index[Any]"

    @classmethod
    def of(cls, column: "pd.Series[Any]") -> Self:
        """Of a typed column. Cost: O(n), for categories without looking at any text."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, distinct = codes_of(column), pd.Index(column.cat.categories)
        else:
            codes, found = pd.factorize(plain_values(column))
            distinct = pd.Index(found)
        places = narrow(np.arange(len(distinct) + 1), len(distinct) + 1)
        return cls(places[codes], distinct)  # the place -1 is the last one

    @property
    def counts(self) -> IntArray:
        """(len(distinct) + 1,): the records of each value, and last of none."""
        return np.bincount(self.codes, minlength=len(self.distinct) + 1)

    def pairs(self, other: "DistinctValues") -> tuple[IntArray, IntArray, IntArray]:
        """The pairs of codes of this column and another that occur, in rising order, and the records of each.

        other : of the same records
        cost  : O(n) with 8 bytes a record, and a sort where far more pairs could occur than there are records
        """
        size = len(other.distinct) + 1
        pairs = self.codes.astype(np.int64)
        pairs *= size
        pairs += other.codes
        if (len(self.distinct) + 1) * size <= 4 * len(pairs):
            counts = np.bincount(pairs)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:
            found, counts = np.unique(pairs, return_counts=True)
        return found // size, found % size, counts
