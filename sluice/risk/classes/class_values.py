"""Class values: how often each value of a sensitive variable occurs in each class.

Every privacy model on sensitive values is a function of them, one figure a class, whether the classes are those of a
file or of a node of a lattice: a rule and a search that means to satisfy it ask the same function.

Numbers that lie near each other are one value: 40,000 and 40,003 are no two answers to what somebody earns. A value is
then a span of a width: of each class the span that holds most of its records, then of the rest, and so on. So no border
of a grid parts what lies together, and slight noise does not make two values of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.variables import Variable, as_label
from sluice.risk.classes.equivalence_classes import (
    Codes,
    EquivalenceClasses,
    category_codes,
    distinct_people,
    equivalence_classes,
    histogram_cells,
)
from sluice.risk.spread import on_grid, resolution

_ROUNDING = 1e-9  # of a width: two numbers that are just as far apart are near


@dataclass(frozen=True)
class Near:
    """Numbers of which those within a width are one value.

    numbers : shape (n,), finite
    width   : 0 or more; 0: only equal numbers are one value
    apart   : shape (n,), numbers that are near each other and no other ones; None: all are alike in this
    """

    numbers: FloatArray
    width: float
    apart: BoolArray | None = None


Sensitive = Codes | Near


@dataclass(frozen=True)
class ClassValues:
    """The different pairs of a class and a value of one more variable, sorted by class, then by value.

    holder, value, records : shape (pairs,), the class, the code of the value and how many records have both
    sizes                  : shape (c,), the records of each class that have a value
    overall                : shape (largest code + 1,), of all records those with the value
    mass                   : shape (largest code + 1,), the same where each class counts for itself: it adds up to 1
    harmless               : shape (pairs,), values that may be known of anybody; None: there are none

    Where it is known whose the records are, people take the place of records: somebody with several values counts for
    each of them, so that the shares of a class may add up to more than 1. Of near numbers each pair has a code of its
    own.
    """

    holder: IntArray
    value: IntArray
    records: IntArray
    sizes: IntArray
    overall: FloatArray
    mass: FloatArray
    harmless: BoolArray | None = None

    @cached_property
    def harmful(self) -> BoolArray:
        """Shape (pairs,), whether to be known for the value hurts."""
        return np.ones(len(self.holder), dtype=np.bool_) if self.harmless is None else ~self.harmless

    @cached_property
    def has_harmful(self) -> BoolArray:
        """Shape (c,), whether anybody in the class has such a value."""
        return np.bincount(self.holder[self.harmful], minlength=len(self.sizes)) > 0

    @property
    def share(self) -> FloatArray:
        """Shape (pairs,), of the records of the class those with the value, above 0 to 1."""
        return np.asarray(self.records / self.sizes[self.holder], dtype=np.float64)

    @property
    def distribution(self) -> FloatArray:
        """Shape (pairs,), the same where somebody with several values counts for each: a class adds up to 1."""
        return np.asarray(self.records / np.maximum(self.sums(self.records), 1)[self.holder], dtype=np.float64)

    @property
    def different(self) -> IntArray:
        """Shape (c,), how many different values each class has."""
        return np.bincount(self.holder, minlength=len(self.sizes))

    @property
    def is_certain(self) -> BoolArray:
        """Shape (c,), whether everybody in a class has one and the same value, whatever else some of them have; of
        harmless values none counts."""
        certain = np.zeros(len(self.sizes), dtype=np.bool_)
        certain[self.holder[(self.records == self.sizes[self.holder]) & self.harmful]] = True
        return certain

    def sums(self, of_pairs: FloatArray | IntArray) -> FloatArray:
        """Shape (c,), the sum over the values of each class."""
        return np.bincount(self.holder, of_pairs, len(self.sizes)).astype(np.float64, copy=False)

    def largest(self, of_pairs: FloatArray) -> FloatArray:
        """Shape (c,), the largest over the values of each class; 0 where all are below, or there is none."""
        largest = np.zeros(len(self.sizes))
        if len(of_pairs):
            begins = np.flatnonzero(np.diff(self.holder, prepend=-1))
            largest[self.holder[begins]] = np.maximum(np.maximum.reduceat(of_pairs, begins), 0.0)
        return largest


def class_values(classes: EquivalenceClasses, values: Sensitive) -> ClassValues:
    """How often each value of a variable occurs in each class.

    values : shape (n,), codes of the variable (see `category_codes`), or near numbers
    raises : DataError if there is no record or the lengths differ
    cost   : O(n), and O(n log n) where classes times values are too many for a histogram; near numbers a sort, and as
             many passes as one class has values, over fewer records each time
    """
    n, given = len(classes.labels), len(values.numbers if isinstance(values, Near) else values)
    if given != n:
        raise DataError(f"classes and sensitive values must have one length; got {n}, {given}.")
    if not n:
        raise DataError("the values in a class need at least one record; got none.")
    if isinstance(values, Near):
        return _near_values(classes, values)
    different = int(values.max()) + 1
    pair = classes.labels * different + values
    cells = len(classes.sizes) * different
    if cells <= histogram_cells(n):
        counts = np.bincount(pair, minlength=cells)
        pairs = np.flatnonzero(counts)
        records = counts[pairs]
    else:
        pairs, records = np.unique(pair, return_counts=True)
    holder, value = np.divmod(pairs, different)
    if classes.people is None:
        mass = overall = np.bincount(values) / n
    else:
        records = distinct_people(np.searchsorted(pairs, pair), classes.people, len(pairs))
        overall = distinct_people(values.astype(np.int64), classes.people, different) / classes.members
        mass = np.bincount(value, records, different) / records.sum()
    return ClassValues(holder, value, records, classes.sizes, overall, mass)


def within(numbers: FloatArray, width: float) -> FloatArray:
    """Of each number the largest that is near it."""
    return numbers + width * (1 + _ROUNDING)


def _near_values(classes: EquivalenceClasses, values: Near) -> ClassValues:
    different, rank = np.unique(values.numbers, return_inverse=True)
    reach = np.searchsorted(different, within(different, values.width), "right")
    apart = np.zeros(len(rank), dtype=np.int64) if values.apart is None else values.apart.astype(np.int64)
    cell, start = _spans(2 * classes.labels.astype(np.int64) + apart, rank, reach)
    holder, of_apart = np.zeros((2, len(start)), dtype=np.int64)
    holder[cell], of_apart[cell] = classes.labels, apart
    if classes.people is None:
        records = np.bincount(cell, minlength=len(start))
    else:
        records = distinct_people(cell, classes.people, len(start))
    counts = [np.bincount(rank[apart == which], minlength=len(different)) for which in (0, 1)]
    up_to = np.array([np.concatenate([[0], np.cumsum(count)]) for count in counts])
    overall = (up_to[of_apart, reach[start]] - up_to[of_apart, start]) / len(rank)
    harmless = None if values.apart is None else of_apart.astype(np.bool_)
    return ClassValues(holder, np.arange(len(start)), records, classes.sizes, overall, overall, harmless)


def _spans(labels: IntArray, rank: IntArray, reach: IntArray) -> tuple[IntArray, IntArray]:
    """The span of each record, numbered by class and then by value, and the rank of the number that each begins with.

    reach : for each rank the first one beyond its width
    """
    ranks = len(reach) + 1  # a class's numbers lie apart from the next one's
    pairs, pair_of, records = np.unique(labels * ranks + rank, return_inverse=True, return_counts=True)
    first = np.empty(len(pairs), dtype=np.int64)  # the pair that the span of each pair begins with
    left = np.arange(len(pairs))
    while len(left):
        holder, low = np.divmod(pairs[left], ranks)
        stop = np.searchsorted(pairs[left], holder * ranks + reach[low])
        held = np.concatenate([[0], np.cumsum(records[left])])
        crowd = held[stop] - held[: len(left)]
        begins = np.flatnonzero(np.concatenate([[True], holder[1:] != holder[:-1]]))
        most = np.repeat(np.maximum.reduceat(crowd, begins), np.diff([*begins, len(left)]))
        densest = np.flatnonzero(crowd == most)
        densest = densest[np.unique(holder[densest], return_index=True)[1]]  # of equals the lowest
        taken = np.zeros(len(left) + 1, dtype=np.int64)
        taken[densest] += 1
        np.subtract.at(taken, stop[densest], 1)
        inside = np.cumsum(taken[:-1]) > 0
        lengths = stop[densest] - densest
        first[left[inside]] = np.repeat(left[densest], lengths)
        left = left[~inside]
    begins, span = np.unique(first, return_inverse=True)
    return span[pair_of], pairs[begins] % ranks


@dataclass(frozen=True)
class SensitiveValues:
    """The records that have a value.

    rows     : shape (m,), their positions
    classes  : of these records
    column   : shape (m,), their values
    values   : the same as codes, or as near numbers
    harmless : shape (m,), whether the contract calls the value harmless
    """

    rows: IntArray
    classes: EquivalenceClasses
    column: "pd.Series[Any]"
    values: Sensitive
    harmless: BoolArray
    variable: Variable

    @classmethod
    def of(
        cls, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, near: float | None
    ) -> "SensitiveValues":
        """near : numbers and dates within this share of their spread are one value; None: as they are."""
        rows = np.flatnonzero(column.notna().to_numpy())
        present = column.iloc[rows]
        numbers = plain_values(present)
        named = () if variable.harmless is None else variable.harmless.values
        harmless = present.map(as_label).isin(named).to_numpy(np.bool_) if named else np.zeros(len(rows), np.bool_)
        if near is None or numbers.dtype.kind != "f":
            values: Sensitive = category_codes(present)
        else:
            values = Near(numbers, resolution(numbers, near), harmless if harmless.any() else None)
        return cls(rows, classes.of_records(rows), present, values, harmless, variable)

    @property
    def categories(self) -> tuple[str, ...]:
        """By code, where the column has categories."""
        of_column = self.column.dtype.categories if isinstance(self.column.dtype, pd.CategoricalDtype) else ()
        return tuple(map(str, of_column))

    @cached_property
    def in_classes(self) -> ClassValues:
        """How often each value occurs in each class, and which of them are harmless."""
        found = class_values(self.classes, self.values)
        if isinstance(self.values, Near) or not self.harmless.any():
            return found
        return replace(found, harmless=np.isin(found.value, self.values[self.harmless]))

    @property
    def on_grid(self) -> Self:
        """With codes that are one in all classes for one value: of near numbers, the place on a grid of their width."""
        if not isinstance(self.values, Near):
            return self
        place = category_codes(pd.Series(on_grid(self.values.numbers, self.values.width)))
        return replace(self, values=2 * place.astype(np.int64) + self.harmless)

    @property
    def as_they_occur(self) -> tuple[Self, tuple[str, ...]]:
        """With codes of the values that occur, in their order, and these values; numbers as they are."""
        codes, values = pd.factorize(self.column, sort=True)
        return replace(self, values=codes), tuple(str(as_label(value)) for value in values)

    def records_of(self, chosen: BoolArray) -> IntArray:
        """The position of one record of each of the chosen classes."""
        first = np.empty(len(chosen), dtype=np.int64)
        first[self.classes.labels] = self.rows
        return first[chosen]

    def sizes(self, chosen: BoolArray) -> list[int]:
        return [int(size) for size in self.classes.sizes[chosen]]


def knowing_others(classes: EquivalenceClasses, others: Sequence[Codes]) -> EquivalenceClasses:
    """The classes for whoever knows the other sensitive values of a person, too: they count as keys.

    A file with several sensitive variables is l-diverse when it is so for each of them among these classes: else
    knowing one of them by chance tells another.

    others : codes of the other sensitive variables, each of shape (n,)
    """
    return equivalence_classes([classes.labels, *others]).of_people(classes.people)
