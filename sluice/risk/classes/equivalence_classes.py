"""Equivalence classes: the records that share one combination of key values.

A missing key counts as a category of its own. `classes_with_missing_keys.py` is the other reading, in which it may
stand for any value. Where it is known whose the records are, people are counted: five records of one person are a
crowd of one.

Source: Desfontaines (2020), Definition 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError

Codes = NDArray[np.integer[Any]]

_HISTOGRAM_CELLS = 2**26  # 512 MB of counts: the most that a histogram may take
_MANY = 100_000  # records; from here on, compiled loops are worth the half second that loading them takes
_BLOCK = 2**15  # records whose keys are put together at a time, so that they stay in the processor's cache
_KEY_LIMIT = 2**62  # a mixed-radix key stays below this, well inside 64 bits


@dataclass(frozen=True)
class EquivalenceClasses:
    """A partition of n records into c classes.

    cell    : shape (n,), whole numbers from 0: records of one class have the same
    records : the number of records in each cell, or of people where these are known; a cell may be empty
    people  : shape (n,), the person of each record, from 0; None: every record is somebody else's
    """

    cell: Codes
    records: IntArray
    people: IntArray | None = None

    @cached_property
    def _numbered(self) -> tuple[IntArray, IntArray]:
        occupied = np.flatnonzero(self.records)
        if len(occupied) == len(self.records):
            return self.cell.astype(np.int64, copy=False), self.records
        label = np.zeros(len(self.records), dtype=np.int64)
        label[occupied] = np.arange(len(occupied))
        return label[self.cell], self.records[occupied]

    @property
    def labels(self) -> IntArray:
        """Shape (n,), the class of each record, 0..c-1; the numbering has no meaning."""
        return self._numbered[0]

    @property
    def sizes(self) -> IntArray:
        """Shape (c,), the number of records in each class, or of people, all at least 1."""
        return self._numbered[1]

    @property
    def members(self) -> int:
        """The number of records, or of people, in all."""
        return len(self.cell) if self.people is None else len(np.unique(self.people))

    def of_records(self, rows: IntArray) -> "EquivalenceClasses":
        """The classes of some of the records, those that have any of them; in the order of `rows`."""
        cell = self.cell[rows]
        if self.people is None:
            return EquivalenceClasses(cell, np.bincount(cell, minlength=len(self.records)))
        people = self.people[rows]
        return EquivalenceClasses(cell, distinct_people(cell, people, len(self.records)), people)

    def of_people(self, people: IntArray | None) -> "EquivalenceClasses":
        """The same classes, in which people are counted. Cost: a sort of the different pairs of a class and a person"""
        if people is None:
            return self
        return EquivalenceClasses(self.cell, distinct_people(self.cell, people, len(self.records)), people)

    @cached_property
    def frequencies(self) -> IntArray:
        """Shape (n,): for each record, how many records, or people, share its combination, itself included."""
        if len(self.cell) < _MANY:
            return self.records[self.cell]
        from sluice.risk.classes.class_sizes_kernel import look_up  # compiled code, loaded where it is needed

        frequency = np.empty(len(self.cell), dtype=np.int64)
        look_up(self.records.astype(np.min_scalar_type(len(self.cell))), self.cell, frequency)
        return frequency


def distinct_people(cell: Codes, people: IntArray, cells: int) -> IntArray:
    """Shape (cells,): how many people have a record in each cell."""
    persons = int(people.max(initial=-1)) + 1
    return np.bincount(np.unique(cell.astype(np.int64) * persons + people) // max(persons, 1), minlength=cells)


def category_codes(column: pd.Series) -> Codes:
    """Integer codes of a typed column: equal values have equal codes, a missing value has the largest code.

    column  : category, Int64, float64, datetime or text, any index
    returns : shape (n,), from 0; in the order of the values (the declared order of a category); in as few bytes as the
              largest code needs, where the column is a category
    cost    : O(n) and a sort of the distinct values; a category column costs one pass
    """
    codes, count = _signed_codes(column)
    missing = codes < 0
    if not missing.any():
        return codes
    wide = codes if count <= np.iinfo(codes.dtype).max else codes.astype(np.min_scalar_type(-count - 1))
    return np.where(missing, wide.dtype.type(count), wide)


def _signed_codes(column: pd.Series) -> tuple[Codes, int]:
    """Codes from 0, -1 where missing, and how many values there may be."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.array.codes, len(column.array.categories)
    codes, values = pd.factorize(column, sort=True)
    return codes, len(values)


def equivalence_classes(keys: Sequence[Codes]) -> EquivalenceClasses:
    """The classes of records that agree on every key, exactly, for any number of keys.

    keys   : at least one array of shape (n,), integer codes from 0 (see `category_codes`)
    raises : DataError if there is no key, a code is negative or the lengths differ
    cost   : O(n) per key; one key of 32 or 64 bits a record, and a histogram of at most 512 MB
    """
    for key in keys:
        if len(key) and key.min() < 0:
            raise DataError("key codes must be 0 or more; got negative ones. Is -1 meant as missing?")
    return _classes([(key, int(key.max(initial=0)) + 1) for key in keys], 0)


def classes_of(frame: pd.DataFrame, columns: Sequence[str], people: IntArray | None = None) -> EquivalenceClasses:
    """The classes of a typed frame by some of its columns, a missing value being a category of its own.

    people : shape (n,), the person of each record; records are counted when it is not given
    """
    keys = [_signed_codes(frame[name]) for name in columns]
    return _classes([(key, count + 1) for key, count in keys], 1).of_people(people)


def _classes(keys: Sequence[tuple[Codes, int]], shift: int) -> EquivalenceClasses:
    """The classes by codes that lie, once `shift` is added, from 0 to below the number given with them."""
    if not keys:
        raise DataError("equivalence classes need at least one key column; got none.")
    lengths = [len(key) for key, _ in keys]
    if len(set(lengths)) != 1:
        raise DataError(f"key columns must have one length; got {', '.join(map(str, lengths))}.")
    n = lengths[0]
    if not n:
        return EquivalenceClasses(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    if prod(values for _, values in keys) <= histogram_cells(n) and n >= _MANY:
        from sluice.risk.classes.class_sizes_kernel import add_key, counted  # compiled code, loaded where it is needed

        cell = np.zeros(n, dtype=np.int32)
        for start in range(0, n, _BLOCK):
            for key, values in keys:
                add_key(cell[start : start + _BLOCK], key[start : start + _BLOCK], values, shift)
        return EquivalenceClasses(cell, counted(cell, prod(values for _, values in keys)))
    combined = np.zeros(n, dtype=np.int64)
    cells = 1  # combinations that `combined` can hold
    for key, values in keys:
        code = key.astype(np.int64) + shift
        if values > n:  # so that the product of two factors never passes n squared
            code, count = _dense(code, values)
            values = len(count)
        if cells * values > _KEY_LIMIT:
            combined, count = _dense(combined, cells)
            cells = len(count)
        combined *= values
        combined += code
        cells *= values
    return EquivalenceClasses(*_dense(combined, cells))


def _dense(key: IntArray, cells: int) -> tuple[IntArray, IntArray]:
    """Labels 0..c-1 of equal keys, and their counts; by a histogram where the keys are few, else by a hash."""
    if cells <= histogram_cells(len(key)):
        numbered = EquivalenceClasses(key, np.bincount(key, minlength=cells))
        return numbered.labels, numbered.sizes
    labels, values = pd.factorize(key)
    return labels, np.bincount(labels, minlength=len(values))


def histogram_cells(n: int) -> int:
    """The most combinations that a histogram of n records is worth."""
    return min(_HISTOGRAM_CELLS, max(8 * n, 2**16))
