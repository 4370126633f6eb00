"""A node of the lattice: the classes of records that one transformation makes, and the sensitive values in them.

Distinct combinations of key values are counted once; a coarser node's classes are unions of a finer one's, so that it
is made of those and never of the records. Sensitive values are histograms of the classes, united with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sluice.generalization.lattice.key import Key
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.class_values import ClassValues
from sluice.risk.classes.equivalence_classes import Codes
from sluice.risk.classes.privacy_model import NO_CLASS

Words = NDArray[np.uint64]

BLANK = -1  # the code of a sensitive value that is missing

PEOPLE = "\0"
"""The column of people: no variable has this name."""

_WORD = 64  # bits


@dataclass(frozen=True)
class Histogram:
    """How often each value of a sensitive column occurs in each class. A blank is no value.

    start                  : shape (classes + 1,), where the pairs of each class begin
    holder, value, records : shape (pairs,), a class, a value that occurs in it, and the records with both; sorted by
                             class, then by value
    values                 : how many different values there may be
    people                 : where people are counted, shape (2, values): the person and the value that each of these
                             codes stands for, sorted by person
    """

    start: IntArray
    holder: IntArray
    value: IntArray
    records: IntArray
    values: int
    people: IntArray | None = None

    @cached_property
    def sizes(self) -> IntArray:
        """Shape (classes,), the records of each class that have a value."""
        return np.diff(np.concatenate([[0], np.cumsum(self.records)])[self.start])

    @property
    def different(self) -> IntArray:
        """Shape (classes,), how many different values each class has."""
        return np.diff(self.start)

    def sums(self, of_pairs: FloatArray) -> FloatArray:
        """Shape (classes,), the sum over the values of each class."""
        return np.asarray(np.bincount(self.holder, of_pairs, len(self.start) - 1), dtype=np.float64)

    def largest(self, of_pairs: FloatArray) -> FloatArray:
        """Shape (classes,), the largest over the values of each class, and 0 where all are below or there is none."""
        largest = np.zeros(len(self.start) - 1)
        filled = self.start[:-1] < self.start[1:]
        if len(of_pairs):
            largest[filled] = np.maximum(np.maximum.reduceat(of_pairs, self.start[:-1][filled]), 0)
        return largest

    def class_values(self, among: BoolArray) -> ClassValues:
        """The same as the measures of risk take it; the whole file are the records of the classes `among`."""
        if self.people is None:
            counts = np.bincount(self.value, self.records * among[self.holder], self.values)
            overall = counts / max(counts.sum(), 1)
            return ClassValues(self.holder, self.value, self.records, self.sizes, overall, overall)
        holder, value, having, sizes = self._having
        labels = int(self.people[1].max(initial=-1)) + 1
        counts = np.bincount(value, having * among[holder], labels)
        person, label = self.people[:, np.unique(self.value[among[self.holder]])]
        overall = np.bincount(label, minlength=labels) / max(len(np.unique(person)), 1)
        return ClassValues(holder, value, having, sizes, overall, counts / max(counts.sum(), 1))

    @cached_property
    def _having(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Holder, value and people of each pair of a class and a value, and how many people of each class have any."""
        person, label = self.people[:, self.value]  # type: ignore[index]
        pairs, having = np.unique(self.holder * self.values + label, return_counts=True)
        holder, value = np.divmod(pairs, self.values)
        new = np.concatenate([[True], (person[1:] != person[:-1]) | (self.holder[1:] != self.holder[:-1])])
        return holder, value, having, np.bincount(self.holder[new[: len(person)]], minlength=len(self.start) - 1)

    def united(self, into: IntArray, classes: int) -> "Histogram":
        """Of the classes that hold these: `into` says which for each."""
        from sluice.generalization.lattice.node_kernel import (
            unite_histograms,
        )  # compiled code, loaded where it is needed

        start, holder, value, records = unite_histograms(
            into, classes, self.start, self.value, self.records, self.values
        )
        return Histogram(start, holder, value, records, self.values, self.people)


@dataclass(frozen=True)
class Layout:
    """Where each key's group lies in the words of a class.

    fields : of each key the word, the shift and the mask
    words  : how many words a class has
    """

    fields: tuple[tuple[int, int, int], ...]
    words: int

    @classmethod
    def of(cls, keys: Sequence[Key]) -> "Layout":
        fields, word, used = [], 0, 0
        for key in keys:
            bits = max(int(key.levels.max()).bit_length(), 1)
            if used + bits > _WORD:
                word, used = word + 1, 0
            fields.append((word, used, 2**bits - 1))
            used += bits
        return cls(tuple(fields), word + 1)

    @cached_property
    def table(self) -> IntArray:
        """Shape (p, 3), the fields as an array."""
        return np.array(self.fields, dtype=np.int64)


@dataclass(frozen=True)
class Node:
    """The classes of one transformation of the records.

    levels     : shape (p,), the level of each key
    words      : shape (c, w), the group of each key that each class shows, see `shown`
    sizes      : shape (c,), the records of each class, 0 only where `population` has people without a record
    histograms : of each sensitive column, by name; of a column whose people are counted, see `of_people`
    population : shape (c,), the people of the population in each class; None where no population is known
    unknown    : the class in which every key is missing, as in a suppressed record; NO_CLASS where there is none
    """

    keys: tuple[Key, ...]
    layout: Layout
    levels: tuple[int, ...]
    words: Words
    sizes: IntArray
    histograms: Mapping[str, Histogram]
    population: IntArray | None
    unknown: int
    records: int

    def shown(self, key: int) -> IntArray:
        """Shape (c,), the group of a key that each class shows."""
        word, shift, mask = self.layout.fields[key]
        return ((self.words[:, word] >> np.uint64(shift)) & np.uint64(mask)).astype(np.int64)

    @property
    def members(self) -> IntArray:
        """Shape (c,), the records of each class, or its people where it is known whose the records are."""
        return self.histograms[PEOPLE].different if PEOPLE in self.histograms else self.sizes

    def members_of(self, classes: BoolArray) -> int:
        """The records of some classes together, or their people where it is known whose the records are."""
        people = self.histograms.get(PEOPLE)
        if people is None:
            return int(self.sizes[classes].sum())
        return len(np.unique(people.value[classes[people.holder]]))

    def class_values(self, sensitive: str, among: BoolArray) -> ClassValues:
        """A sensitive column in all classes, and in the whole file, which are the records of the classes `among`.
        Raises DataError if there is no such column."""
        held = self.histograms.get(of_people(sensitive)) or self.histograms.get(sensitive)
        if held is None:
            known = ", ".join(name for name in self.histograms if PEOPLE not in name) or "none"
            raise DataError(f"no sensitive column '{sensitive}' was given; there are: {known}.")
        return held.class_values(among)

    @property
    def is_overlapping(self) -> bool:
        """Whether somebody has records in several classes: uniting these, people are not added up."""
        people = self.histograms.get(PEOPLE)
        return people is not None and len(people.value) > people.values

    @property
    def people(self) -> IntArray:
        """Shape (c,), how many people of the population fit each class; everybody fits the one that shows no key.

        raises : DataError if no population is known
        """
        people = self._population().copy()
        if self.unknown != NO_CLASS:
            people[self.unknown] = people.sum()
        return people

    @property
    def everybody(self) -> int:
        """How many people the population has. Raises DataError if none is known."""
        return int(self._population().sum())

    def _population(self) -> IntArray:
        if self.population is None:
            raise DataError("this needs the people of the population, by their keys; none were given.")
        return self.population

    def raised(self, key: int, level: int) -> tuple["Node", IntArray]:
        """The node in which a key has this level, not below its own here; and for each class here its class there.

        cost : the classes of this node, and their pairs with sensitive values
        """
        from sluice.generalization.lattice.node_kernel import unite

        word, shift, mask = self.layout.fields[key]
        into, words, sizes = unite(
            self.words, self.sizes, word, shift, mask, self.keys[key].step(self.levels[key], level)
        )
        count = len(sizes)
        node = Node(
            keys=self.keys,
            layout=self.layout,
            levels=(*self.levels[:key], level, *self.levels[key + 1 :]),
            words=words,
            sizes=sizes,
            histograms={name: histogram.united(into, count) for name, histogram in self.histograms.items()},
            population=None if self.population is None else np.bincount(into, self.population, count).astype(np.int64),
            unknown=NO_CLASS if self.unknown == NO_CLASS else int(into[self.unknown]),
            records=self.records,
        )
        return node, into

    def at(self, levels: Sequence[int]) -> tuple["Node", IntArray]:
        """The node of these levels, none of which lies below this node's; and for each class here its class there."""
        node, into = self, np.arange(len(self.sizes))
        for key, level in enumerate(levels):
            if level != node.levels[key]:
                node, of_node = node.raised(key, level)
                into = of_node[into]
        return node, into

    def hidden_costs(self, hidden: BoolArray, costs: FloatArray, first: IntArray) -> FloatArray:
        """Shape (p,), the costs of what the records of hidden classes show, summed for each key.

        costs : of each group of each key, one key after the other; first : where each key's begin
        """
        from sluice.generalization.lattice.node_kernel import hidden_costs

        total: FloatArray = hidden_costs(self.words, self.sizes, hidden, self.layout.table, costs, first)
        return total


def bottom(
    keys: Sequence[Key],
    codes: Sequence[Codes],
    sensitive: Mapping[str, Codes],
    population: Sequence[Codes] | None = None,
    people: IntArray | None = None,
) -> tuple[Node, IntArray]:
    """The node in which no key is generalised, and the class of each record in it.

    codes      : for each key, shape (n,), the leaf of each record
    sensitive  : shape (n,) each, codes from 0, or BLANK
    population : for each key, shape (m,), the leaf of each person of the population, the file's people among them
    people     : shape (n,), whose record each is, from 0: people are counted in place of records
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
    from sluice.generalization.lattice.node_kernel import pack, unite

    of_population = 0 if population is None else len(population[0])
    layout = Layout.of(keys)
    words = np.zeros((n + of_population, layout.words), dtype=np.uint64)
    for at, (key, (word, shift, _)) in enumerate(zip(keys, layout.fields, strict=True)):
        pack(words[:n], word, shift, codes[at])
        if population is not None:
            _refuse_unknown_leaves(key, population[at])
            pack(words[n:], word, shift, population[at])
    none, leaves = np.zeros(0, dtype=np.int64), np.arange(keys[0].levels.shape[1])
    into, distinct, sizes = unite(words, none, *layout.fields[0], leaves)
    count, member = len(distinct), into[:n]
    node = Node(
        keys=tuple(keys),
        layout=layout,
        levels=(0,) * len(keys),
        words=distinct,
        sizes=sizes if population is None else np.bincount(member, minlength=count),
        histograms=_histograms(member, count, sensitive, people),
        population=None if population is None else np.bincount(into[n:], minlength=count),
        unknown=_unknown(keys, layout, distinct),
        records=n,
    )
    return node, member


def _unknown(keys: Sequence[Key], layout: Layout, words: Words) -> int:
    if any(key.missing is None for key in keys):
        return NO_CLASS
    from sluice.generalization.lattice.node_kernel import pack

    row = np.zeros((1, layout.words), dtype=np.uint64)
    for key, (word, shift, _) in zip(keys, layout.fields, strict=True):
        pack(row, word, shift, np.array([key.missing]))
    found = np.flatnonzero((words == row).all(axis=1))
    return int(found[0]) if len(found) else NO_CLASS


def of_people(column: str) -> str:
    """The name under which a node holds a column's values as people have them. No variable is called so."""
    return f"{PEOPLE}{column}"


def _histograms(
    member: IntArray, classes: int, sensitive: Mapping[str, Codes], people: IntArray | None
) -> dict[str, Histogram]:
    found = {name: _histogram(member, classes, values) for name, values in sensitive.items()}
    if people is None:
        return found
    persons = np.unique(people, return_inverse=True)[1]
    for name, values in sensitive.items():
        count, present = int(values.max(initial=0)) + 1, values >= 0
        codes, code = np.unique(persons[present] * count + values[present].astype(np.int64), return_inverse=True)
        having = np.full(len(values), BLANK)
        having[present] = code
        held = _histogram(member, classes, having)
        found[of_people(name)] = replace(held, people=np.array(np.divmod(codes, count)))
    return found | {PEOPLE: _histogram(member, classes, persons)}


def _histogram(member: IntArray, classes: int, values: Codes) -> Histogram:
    present = values >= 0
    count = int(values.max(initial=0)) + 1
    cells = member[present].astype(np.int64) * count + values[present].astype(np.int64)
    cell, records = np.unique(cells, return_counts=True)
    holder, value = np.divmod(cell, count)
    return Histogram(np.searchsorted(holder, np.arange(classes + 1)), holder, value, records, count)


def _refuse_unknown_leaves(key: Key, codes: Codes) -> None:
    leaves = key.levels.shape[1]
    outside = int(((codes < 0) | (codes >= leaves)).sum())
    if outside:
        raise DataError(
            f"'{key.name}': codes must be leaves, from 0 to {leaves - 1}; {outside:,} of {len(codes):,} are not."
        )
