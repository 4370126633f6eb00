"""Class values: how often each value of a sensitive variable occurs in each class.

Every privacy model on sensitive values is a function of them, one figure a class, whether the classes are those of a
file or of a node of a lattice: a rule and a search that means to satisfy it ask the same function.

Numbers that lie near each other are one value: 40,000 and 40,003 are no two answers to what somebody earns. A value is
then a span of a width: of each class the span that holds most of its records, then of the rest, and so on. So no border
of a grid parts what lies together, and no hair of noise makes two values of one.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.equivalence_classes import Codes, EquivalenceClasses, distinct_people, histogram_cells

_ROUNDING = 1e-9  # of a width: two numbers that are just as far apart are near


@dataclass(frozen=True)
class Near:
    """Numbers of which those within a width are one value.

    numbers : shape (n,), finite
    width   : 0 or more; 0: only equal numbers are one value
    """

    numbers: FloatArray
    width: float


Sensitive = Codes | Near


@dataclass(frozen=True)
class ClassValues:
    """The different pairs of a class and a value of one more variable, sorted by class, then by value.

    holder, value, records : shape (pairs,), the class, the code of the value and how many records have both
    sizes                  : shape (c,), the records of each class that have a value
    overall                : shape (largest code + 1,), of all records those with the value
    mass                   : shape (largest code + 1,), the same where each class counts for itself: it adds up to 1

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
        """Shape (c,), whether everybody in a class has one and the same value, whatever else some of them have."""
        certain = np.zeros(len(self.sizes), dtype=np.bool_)
        certain[self.holder[self.records == self.sizes[self.holder]]] = True
        return certain

    def sums(self, of_pairs: FloatArray | IntArray) -> FloatArray:
        """Shape (c,), the sum over the values of each class."""
        return np.bincount(self.holder, of_pairs, len(self.sizes)).astype(np.float64, copy=False)

    def largest(self, of_pairs: FloatArray) -> FloatArray:
        """Shape (c,), the largest over the values of each class; 0 where all are below, or there is none."""
        largest = np.zeros(len(self.sizes))
        np.maximum.at(largest, self.holder, of_pairs)
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


def _near_values(classes: EquivalenceClasses, values: Near) -> ClassValues:
    different, rank, counts = np.unique(values.numbers, return_inverse=True, return_counts=True)
    reach = np.searchsorted(different, different + values.width * (1 + _ROUNDING), "right")
    cell, start = _spans(classes.labels, rank, reach)
    holder = np.zeros(len(start), dtype=np.int64)
    holder[cell] = classes.labels
    if classes.people is None:
        records = np.bincount(cell, minlength=len(start))
    else:
        records = distinct_people(cell, classes.people, len(start))
    up_to = np.concatenate([[0], np.cumsum(counts)])
    overall = (up_to[reach[start]] - up_to[start]) / len(rank)
    return ClassValues(holder, np.arange(len(start)), records, classes.sizes, overall, overall)


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
