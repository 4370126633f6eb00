"""A node of the lattice: the classes of records that one transformation makes, and the sensitive values in them.

Distinct combinations of key values are counted once; a coarser node's classes are unions of a finer one's, so that it
is made of those and never of the records. Sensitive values are histograms of the classes, united with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sluice.generalization.lattice.histogram import Histogram, PeopleHistogram
from sluice.generalization.lattice.key import Key
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.class_values import ClassValues
from sluice.risk.classes.equivalence_classes import Codes
from sluice.risk.classes.privacy_model import NO_CLASS

Words = NDArray[np.uint64]

EVERYBODY = "\0"  # no variable has this name

_WORD = 64  # bits


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
class Population:
    """The people of the population, those of the file among them.

    codes  : for each key, shape (m,), the leaf of each row
    counts : shape (m,), how many people each row stands for; None: one
    """

    codes: tuple[Codes, ...]
    counts: IntArray | None = None

    def of_classes(self, holder: IntArray, classes: int) -> IntArray:
        """Shape (classes,), the people of each class; holder : shape (m,), the class of each row."""
        return np.bincount(holder, self.counts, classes).astype(np.int64)


@dataclass(frozen=True)
class Node:
    """The classes of one transformation of the records.

    levels     : shape (p,), the level of each key
    words      : shape (c, w), the group of each key that each class shows, see `shown`
    sizes      : shape (c,), the records of each class, 0 only where `population` has people without a record
    histograms : of each sensitive column, by name
    having     : where it is known whose the records are, who has which value of each sensitive column, by name; and
                 under EVERYBODY whose records there are
    population : shape (c,), the people of the population in each class; None where no population is known
    unknown    : the class in which every key is missing, as in a suppressed record; NO_CLASS where there is none
    """

    keys: tuple[Key, ...]
    layout: Layout
    levels: tuple[int, ...]
    words: Words
    sizes: IntArray
    histograms: Mapping[str, Histogram]
    having: Mapping[str, PeopleHistogram]
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
        return self.having[EVERYBODY].members if self.having else self.sizes

    def members_of(self, classes: BoolArray) -> int:
        """The records of some classes together, or their people where it is known whose the records are."""
        return self.having[EVERYBODY].members_of(classes) if self.having else int(self.sizes[classes].sum())

    def class_values(self, sensitive: str, among: BoolArray) -> ClassValues:
        """A sensitive column in all classes, and in the whole file, which are the records of the classes `among`.
        Raises DataError if there is no such column."""
        if sensitive not in self.histograms:
            known = ", ".join(self.histograms) or "none"
            raise DataError(f"no sensitive column '{sensitive}' was given; there are: {known}.")
        return (self.having if self.having else self.histograms)[sensitive].class_values(among)

    @property
    def is_overlapping(self) -> bool:
        """Whether somebody has records in several classes: uniting these, people are not added up."""
        return bool(self.having) and len(self.having[EVERYBODY].holder) > 0

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
        unknown = NO_CLASS if self.unknown == NO_CLASS else int(into[self.unknown])
        levels = (*self.levels[:key], level, *self.levels[key + 1 :])
        return replace(self.united(into, count), levels=levels, words=words, sizes=sizes, unknown=unknown), into

    def united(self, into: IntArray, classes: int) -> "Node":
        """With the classes that hold these: `into` says which for each. What they show stays to be said."""
        population = None if self.population is None else np.bincount(into, self.population, classes).astype(np.int64)
        return replace(
            self,
            sizes=np.bincount(into, self.sizes, classes).astype(np.int64),
            histograms={name: each.united(into, classes) for name, each in self.histograms.items()},
            having={name: each.united(into, classes) for name, each in self.having.items()},
            population=population,
        )

    def at(self, levels: Sequence[int]) -> tuple["Node", IntArray]:
        """The node of these levels, none of which lies below this node's; and for each class here its class there."""
        node, into = self, np.arange(len(self.sizes))
        for key, level in enumerate(levels):
            if level != node.levels[key]:
                node, of_node = node.raised(key, level)
                into = of_node[into]
        return node, into

    def hidden_costs(self, hidden: IntArray, costs: FloatArray, first: IntArray) -> FloatArray:
        """Shape (p,), the costs of what hidden records show, summed for each key.

        hidden : shape (c,), how many records of each class are
        costs  : of each group of each key, one key after the other; first : where each key's begin
        """
        from sluice.generalization.lattice.node_kernel import hidden_costs

        total: FloatArray = hidden_costs(self.words, hidden, self.layout.table, costs, first)
        return total


def bottom(
    keys: Sequence[Key],
    codes: Sequence[Codes],
    sensitive: Mapping[str, Codes],
    population: Population | None = None,
    people: IntArray | None = None,
) -> tuple[Node, IntArray]:
    """The node in which no key is generalised, and the class of each record in it.

    codes      : for each key, shape (n,), the leaf of each record
    sensitive  : shape (n,) each, codes from 0, or BLANK
    population : its people, those of the file among them
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

    of_population = 0 if population is None else len(population.codes[0])
    layout = Layout.of(keys)
    words = np.zeros((n + of_population, layout.words), dtype=np.uint64)
    for at, (key, (word, shift, _)) in enumerate(zip(keys, layout.fields, strict=True)):
        pack(words[:n], word, shift, codes[at])
        if population is not None:
            _refuse_unknown_leaves(key, population.codes[at])
            pack(words[n:], word, shift, population.codes[at])
    none, leaves = np.zeros(0, dtype=np.int64), np.arange(keys[0].levels.shape[1])
    into, distinct, sizes = unite(words, none, *layout.fields[0], leaves)
    count, member = len(distinct), into[:n]
    node = Node(
        keys=tuple(keys),
        layout=layout,
        levels=(0,) * len(keys),
        words=distinct,
        sizes=sizes if population is None else np.bincount(member, minlength=count),
        histograms={name: Histogram.of(member, count, values) for name, values in sensitive.items()},
        having=_having(member, count, sensitive, people),
        population=None if population is None else population.of_classes(into[n:], count),
        unknown=_unknown(keys, layout, distinct),
        records=n,
    )
    return node, member


def _having(
    member: IntArray, classes: int, sensitive: Mapping[str, Codes], people: IntArray | None
) -> dict[str, PeopleHistogram]:
    if people is None:
        return {}
    persons = np.unique(people, return_inverse=True)[1]
    columns = {**sensitive, EVERYBODY: np.zeros_like(persons)}
    return {name: PeopleHistogram.of(member, classes, values, persons) for name, values in columns.items()}


def _unknown(keys: Sequence[Key], layout: Layout, words: Words) -> int:
    if any(key.missing is None for key in keys):
        return NO_CLASS
    from sluice.generalization.lattice.node_kernel import pack

    row = np.zeros((1, layout.words), dtype=np.uint64)
    for key, (word, shift, _) in zip(keys, layout.fields, strict=True):
        pack(row, word, shift, np.array([key.missing]))
    found = np.flatnonzero((words == row).all(axis=1))
    return int(found[0]) if len(found) else NO_CLASS


def _refuse_unknown_leaves(key: Key, codes: Codes) -> None:
    leaves = key.levels.shape[1]
    outside = int(((codes < 0) | (codes >= leaves)).sum())
    if outside:
        raise DataError(
            f"'{key.name}': codes must be leaves, from 0 to {leaves - 1}; {outside:,} of {len(codes):,} are not."
        )
