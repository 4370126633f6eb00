"""Histograms of the classes of a node: how often each value of a sensitive column occurs in each, and whose it is.

They are united with the classes, never made of the records again.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.classes.class_values import ClassValues
from sluice.risk.classes.equivalence_classes import Codes, histogram_cells

BLANK = -1  # the code of a sensitive value that is missing


@dataclass(frozen=True)
class Histogram:
    """How often each value of a sensitive column occurs in each class. A blank is no value.

    start                  : shape (classes + 1,), where the pairs of each class begin
    holder, value, records : shape (pairs,), a class, a value that occurs in it, and the records with both; sorted by
                             class, then by value
    values                 : how many different values there may be
    sizes                  : shape (classes,), the records of each class that have a value
    shares                 : shape (values,), of all records with a value those with each
    """

    start: IntArray
    holder: IntArray
    value: IntArray
    records: IntArray
    values: int
    sizes: IntArray
    shares: FloatArray

    @classmethod
    def of(cls, member: IntArray, classes: int, values: Codes) -> "Histogram":
        """member : shape (n,), the class of each record; values : shape (n,), codes from 0, or BLANK"""
        present = values >= 0
        count = int(values.max(initial=0)) + 1
        cells = member[present].astype(np.int64) * count + values[present].astype(np.int64)
        return cls.of_cells(*np.unique(cells, return_counts=True), classes, count)

    @classmethod
    def of_cells(cls, cell: IntArray, records: IntArray, classes: int, values: int) -> "Histogram":
        """cell : class * values + value of each pair, rising"""
        holder, value = np.divmod(cell, values)
        start = np.searchsorted(holder, np.arange(classes + 1))
        sizes = np.bincount(holder, records, classes).astype(np.int64)
        counts = np.bincount(value, records, values)
        return cls(start, holder, value, records, values, sizes, counts / max(counts.sum(), 1))

    def largest(self, of_pairs: FloatArray) -> FloatArray:
        """Shape (classes,), the largest over the values of each class, and 0 where all are below or there is none."""
        largest = np.zeros(len(self.start) - 1)
        filled = self.start[:-1] < self.start[1:]
        if len(of_pairs):
            largest[filled] = np.maximum(np.maximum.reduceat(of_pairs, self.start[:-1][filled]), 0)
        return largest

    def class_values(self, among: BoolArray) -> ClassValues:
        """The same as the measures of risk take it; the whole file are the records of the classes `among`."""
        overall = self.shares
        if not among.all():
            counts = np.bincount(self.value, self.records * among[self.holder], self.values)
            overall = counts / max(counts.sum(), 1)
        return ClassValues(self.holder, self.value, self.records, self.sizes, overall, overall)

    def united(self, into: IntArray, classes: int) -> "Histogram":
        """Of the classes that hold these: `into` says which for each."""
        from sluice.generalization.lattice.node_kernel import unite_histograms  # compiled code, loaded where needed

        start, holder, value, records, sizes = unite_histograms(
            into, classes, self.start, self.value, self.records, self.values
        )
        return Histogram(start, holder, value, records, self.values, sizes, self.shares)


@dataclass(frozen=True)
class PeopleHistogram:
    """How many people have records in each class, and how many of them each value of a sensitive column.

    Somebody whose records all lie in one class is in one class whatever classes are united. Such people are counted,
    and only the others are listed: as classes become few, hardly anybody is.

    counted       : the people with all records in one class, by their values there; each value of a person counts
    in_one        : shape (classes,), how many people these are
    holder, code  : shape (pairs,), of the others, who has which value in each class; sorted by code
    is_first      : shape (pairs,), whether it is the first pair of its person and class
    person, value : shape (codes,), what each code stands for; sorted by person
    """

    counted: Histogram
    in_one: IntArray
    holder: IntArray
    code: IntArray
    is_first: BoolArray
    person: IntArray
    value: IntArray

    @classmethod
    def of(cls, member: IntArray, classes: int, values: Codes, people: IntArray) -> "PeopleHistogram":
        """people : shape (n,), whose record each is, from 0; the others as for `Histogram.of`"""
        count, present = int(values.max(initial=0)) + 1, values >= 0
        having, code = np.unique(people[present] * count + values[present].astype(np.int64), return_inverse=True)
        order, none = np.argsort(code), np.zeros(0, dtype=np.int64)
        nobody = Histogram.of_cells(none, none, classes, count)
        listed = cls(
            nobody,
            np.zeros(classes, dtype=np.int64),
            member[present][order].astype(np.int64),
            code[order],
            np.zeros(len(order), dtype=np.bool_),
            *np.divmod(having, count),
        )
        return listed._mapped(np.arange(classes), nobody, listed.in_one)

    @cached_property
    def members(self) -> IntArray:
        """Shape (classes,), how many people each class has."""
        return self.in_one + np.bincount(self.holder[self.is_first], minlength=len(self.in_one))

    def members_of(self, classes: BoolArray) -> int:
        """How many people some classes have together."""
        listed = self.person[self._listed_in(classes)]
        return int(self.in_one[classes].sum()) + len(listed[:1]) + int(np.count_nonzero(np.diff(listed)))

    def class_values(self, among: BoolArray) -> ClassValues:
        """As of records; somebody with several values counts for each of them."""
        (holder, value, having), values = self._pairs, self.counted.values
        mass = np.bincount(value, having * among[holder], values)
        once = np.bincount(self.counted.value, self.counted.records * among[self.counted.holder], values)
        once += np.bincount(self.value[self._listed_in(among)], minlength=values)
        overall, mass = once / max(self.members_of(among), 1), mass / max(mass.sum(), 1)
        return ClassValues(holder, value, having, self.members, overall, mass)

    def united(self, into: IntArray, classes: int) -> "PeopleHistogram":
        """Of the classes that hold these: `into` says which for each."""
        in_one = np.bincount(into, self.in_one, classes).astype(np.int64)
        return self._mapped(into.astype(np.int64, copy=False), self.counted.united(into, classes), in_one)

    def _mapped(self, into: IntArray, counted: Histogram, in_one: IntArray) -> "PeopleHistogram":
        """With those counted, beside who is counted already, whose records now lie in one class."""
        if not len(self.holder):
            return replace(self, counted=counted, in_one=in_one)
        from sluice.generalization.lattice.node_kernel import unite_listed  # compiled code, loaded where it is needed

        classes = len(in_one)
        (holder, code, is_first), settled, whole = unite_listed(into, classes, self.person, self.holder, self.code)
        if len(whole):
            in_one = in_one + np.bincount(whole, minlength=classes)
            cells = _added(counted, settled[0], self.value[settled[1]])
            counted = Histogram.of_cells(*cells, classes, counted.values)
        return PeopleHistogram(counted, in_one, holder, code, is_first, self.person, self.value)

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Holder, value and people of each pair of a class and a value, sorted by class, then by value."""
        pairs, having = _added(self.counted, self.holder, self.value[self.code])
        return *np.divmod(pairs, self.counted.values), having

    def _listed_in(self, classes: BoolArray) -> IntArray:
        """The codes listed in some classes, rising, each once."""
        found = np.zeros(len(self.person), dtype=np.bool_)
        found[self.code[classes[self.holder]]] = True
        return np.flatnonzero(found)


def _added(counted: Histogram, holder: IntArray, value: IntArray) -> tuple[IntArray, IntArray]:
    """Each pair of a histogram, or of one more person each, as class * values + value, rising; and how many it has."""
    cell = np.concatenate([counted.holder, holder]) * counted.values + np.concatenate([counted.value, value])
    people = np.concatenate([counted.records, np.ones(len(holder), dtype=np.int64)])
    cells = (len(counted.start) - 1) * counted.values
    if cells <= histogram_cells(len(cell)):
        total = np.bincount(cell, people, cells).astype(np.int64)
        pairs = np.flatnonzero(total)
        return pairs, total[pairs]
    pairs, at = np.unique(cell, return_inverse=True)
    return pairs, np.bincount(at, people).astype(np.int64)
