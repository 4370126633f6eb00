"""A node of the lattice: the classes of records that one transformation makes, and the sensitive values in them.

Distinct combinations of key values are counted once; a coarser node's classes are unions of a finer one's, so that it
is made of those and never of the records. Sensitive values are histograms of the classes, united with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.arrays import BoolArray, FloatArray, IntArray
from sluice.errors import DataError
from sluice.generalization.lattice.key import Key
from sluice.risk.classes.equivalence_classes import Codes, equivalence_classes

NO_CLASS = -1
BLANK = -1  # the code of a sensitive value that is missing


@dataclass(frozen=True)
class Histogram:
    """How often each value of a sensitive column occurs in each class. A blank is no value.

    holder, value, records : shape (pairs,), a class, a value that occurs in it, and the records with both; sorted by
                             class, then by value
    classes, values        : how many there are
    """

    holder: IntArray
    value: IntArray
    records: IntArray
    classes: int
    values: int

    @property
    def sizes(self) -> IntArray:
        """Shape (classes,), the records of each class that have a value."""
        return np.bincount(self.holder, self.records, self.classes).astype(np.int64)

    def overall(self, among: BoolArray) -> FloatArray:
        """Shape (values,), the share of each value in the records of some classes; 0 everywhere if these have none."""
        chosen = among[self.holder]
        counts = np.bincount(self.value[chosen], self.records[chosen], self.values)
        return np.asarray(counts / max(counts.sum(), 1), dtype=np.float64)

    def united(self, into: IntArray, classes: int) -> "Histogram":
        """Of the classes that hold these: `into` says which for each."""
        cell, member = np.unique(into[self.holder] * self.values + self.value, return_inverse=True)
        records = np.bincount(member, self.records, len(cell)).astype(np.int64)
        return Histogram(*np.divmod(cell, self.values), records, classes, self.values)


@dataclass(frozen=True)
class Node:
    """The classes of one transformation of the records.

    levels     : shape (p,), the level of each key
    groups     : shape (p, c), the group of each key that each class shows
    sizes      : shape (c,), the records of each class, 0 only where `population` has people without a record
    histograms : of each sensitive column, by name
    population : shape (c,), the people of the population in each class; None where no population is known
    unknown    : the class in which every key is missing, as in a suppressed record; NO_CLASS where there is none
    """

    keys: tuple[Key, ...]
    levels: tuple[int, ...]
    groups: IntArray
    sizes: IntArray
    histograms: Mapping[str, Histogram]
    population: IntArray | None
    unknown: int

    @property
    def records(self) -> int:
        return int(self.sizes.sum())

    def raised(self, key: int) -> "Node":
        """The node above this one in one key."""
        return self.at([level + (at == key) for at, level in enumerate(self.levels)])[0]

    def at(self, levels: Sequence[int]) -> tuple["Node", IntArray]:
        """The node of these levels, none of which lies below this node's; and for each class here its class there.

        cost : the classes of this node, a key
        """
        groups = np.empty_like(self.groups)
        for key, (shown, now, then) in enumerate(zip(self.groups, self.levels, levels, strict=True)):
            groups[key] = shown
            for step in self.keys[key].steps[now:then]:
                groups[key] = step[groups[key]]
        classes = equivalence_classes(list(groups))
        into, count = classes.labels, len(classes.sizes)
        united = np.empty((len(groups), count), dtype=np.int64)
        united[:, into] = groups
        node = Node(
            keys=self.keys,
            levels=tuple(levels),
            groups=united,
            sizes=np.bincount(into, self.sizes, count).astype(np.int64),
            histograms={name: histogram.united(into, count) for name, histogram in self.histograms.items()},
            population=None if self.population is None else np.bincount(into, self.population, count).astype(np.int64),
            unknown=NO_CLASS if self.unknown == NO_CLASS else int(into[self.unknown]),
        )
        return node, into


def bottom(
    keys: Sequence[Key],
    codes: Sequence[Codes],
    sensitive: Mapping[str, Codes],
    population: Sequence[Codes] | None = None,
) -> tuple[Node, IntArray]:
    """The node in which no key is generalised, and the class of each record in it.

    codes      : for each key, shape (n,), the leaf of each record
    sensitive  : shape (n,) each, codes from 0, or BLANK
    population : for each key, shape (m,), the leaf of each person of the population, the file's people among them
    raises     : DataError if there is no key or no record, lengths differ, or a code is no leaf of its key
    cost       : O(n) a key
    """
    if not keys:
        raise DataError("a generalisation needs at least one key; got none.")
    for key, given in zip(keys, codes, strict=True):
        _refuse_unknown_leaves(key, given)
    n = len(codes[0])
    lengths = {len(given) for given in (*codes, *sensitive.values())}
    if lengths != {n}:
        raise DataError(f"keys and sensitive columns must have one length; got {', '.join(map(str, sorted(lengths)))}.")
    if not n:
        raise DataError("a generalisation needs at least one record; got none.")
    all_codes = list(codes)
    if population is not None:
        for key, given in zip(keys, population, strict=True):
            _refuse_unknown_leaves(key, given)
        all_codes = [np.concatenate([ours, theirs]) for ours, theirs in zip(codes, population, strict=True)]
    classes = equivalence_classes(all_codes)
    count, member = len(classes.sizes), classes.labels[:n]
    groups = np.empty((len(keys), count), dtype=np.int64)
    for row, given in zip(groups, all_codes, strict=True):
        row[classes.labels] = given
    missing = np.array([-1 if key.missing is None else key.missing for key in keys])
    unknown = np.flatnonzero((groups == missing[:, None]).all(axis=0))
    node = Node(
        keys=tuple(keys),
        levels=(0,) * len(keys),
        groups=groups,
        sizes=np.bincount(member, minlength=count),
        histograms={name: _histogram(member, count, values) for name, values in sensitive.items()},
        population=None if population is None else np.bincount(classes.labels[n:], minlength=count),
        unknown=int(unknown[0]) if len(unknown) else NO_CLASS,
    )
    return node, member


def _histogram(member: IntArray, classes: int, values: Codes) -> Histogram:
    present = values >= 0
    count = int(values.max(initial=0)) + 1
    cell, records = np.unique(member[present] * count + values[present].astype(np.int64), return_counts=True)
    return Histogram(*np.divmod(cell, count), records, classes, count)


def _refuse_unknown_leaves(key: Key, codes: Codes) -> None:
    leaves = key.levels.shape[1]
    outside = int(((codes < 0) | (codes >= leaves)).sum())
    if outside:
        raise DataError(
            f"'{key.name}': codes must be leaves, from 0 to {leaves - 1}; {outside:,} of {len(codes):,} are not."
        )
