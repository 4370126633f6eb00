"""Attribute combinations: sets of a few keys that make many records rare.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), section on population uniqueness; Hundepool and others (2012),
section 3.4.2, for the threshold on the combinations of a few keys.

ARX reports this risk, for all sets of keys up to a size; the threshold is that of mu-ARGUS. A missing key is a category
of its own. Where it is known whose the records are, people are counted: a person's equal records count once, and who is
unique may be so with several records. A record that is unique on some keys is so on every larger set of them, which the
search makes use of. Higher is worse.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentences, percent
from sluice.ground.verdict import Finding
from sluice.risk.classes.equivalence_classes import Codes, equivalence_classes
from sluice.risk.classes.microdata_rule import KeyedRecords, KeyedRule
from sluice.risk.measurement import Measurement

_SAYS = Sentences(
    "attribute_combinations",
    rare="An intruder who knows up to {size:,} of {keys:listed} puts {share:percent} of the {unit} in a group of fewer "
    "than {k:,}",
    worst=", and most with {worst:listed}",
    limit="; the policy allows {limit:percent}.",
)

_Growing = tuple[tuple[int, ...], int, IntArray, IntArray, int]  # keys, unique records, others, their groups, next key

_MOST_SETS = 2**17  # sets of keys: all sets of 17 keys, all of up to 3 of 92


@dataclass(frozen=True)
class Projection:
    """The combinations of all keys, grouped by what a set of keys shows of them.

    keys    : positions of the keys, rising
    before  : how many records are unique already on the set without its first key; they are not looked at again
    alone   : the combinations whose record is unique on these keys, and was not so before
    records : shape (g,), how many records each group has, of those that were not unique before
    people  : shape (g,), whose they are: how many people; without people as many as records
    """

    keys: tuple[int, ...]
    before: int
    alone: IntArray
    records: IntArray
    people: IntArray


@dataclass(frozen=True)
class CombinationCounts:
    """How many records each set of keys makes unique, and how many it puts in a group of fewer than k.

    sets          : positions of the keys in each set, s in all
    unique, below : shape (s,), numbers of records
    records       : records in the file
    """

    sets: tuple[tuple[int, ...], ...]
    unique: IntArray
    below: IntArray
    records: int

    def worst(self, size: int | None = None) -> int:
        """The set with most records below k, among those of one size when it is given; the smallest among equals."""
        among = [at for at, keys in enumerate(self.sets) if size is None or len(keys) == size]
        if not among:
            raise DataError(f"no set of {size} keys was looked at.")
        return min(among, key=lambda at: (-self.below[at], len(self.sets[at]), self.sets[at]))

    @property
    def share_below(self) -> Measurement:
        """The share of the records that the worst set puts in a group of fewer than k."""
        return Measurement(float(self.below.max()) / self.records, self.records, self.records)


def attribute_combinations(
    keys: Sequence[Codes], size: int, k: int, people: IntArray | None = None
) -> CombinationCounts:
    """Unique and rare records of every set of 1 to `size` keys.

    keys   : at least one array of shape (n,), integer codes from 0 (see `category_codes`)
    size   : most keys in a set, from 1; all sets when there are fewer keys
    k      : a group is rare with fewer records, or people, from 2
    people : shape (n,), the person of each record, from 0; every record is somebody else's when not given
    raises : DataError if there is no record or no key, size or k is out of bounds, or the sets are more than 131,072
    cost   : O(c) for each set, c the different combinations that are not unique on fewer keys; O(c p) memory
    """
    if k < 2:
        raise DataError(f"k of attribute combinations must be 2 or more; got {k}.")
    distinct = distinct_combinations(keys, people)
    sets, unique, below = [], [], []
    for projection in projections(distinct, size):
        sets.append(projection.keys)
        unique.append(projection.before + len(projection.alone))
        below.append(projection.before + int(projection.records[projection.people < k].sum()))
    return CombinationCounts(tuple(sets), np.array(unique), np.array(below), int(distinct.records.sum()))


@dataclass(frozen=True)
class DistinctCombinations:
    """The combinations of all keys that occur; where people are known, each as often as people have it.

    codes   : for each key, shape (c,), its code
    records : shape (c,), how many records have it; 1 where people are known
    people  : shape (c,), whose it is; None where people are not known
    members : shape (c,), how many records, or people, have the same combination
    of      : shape (n,), the combination of each record
    first   : shape (c,), a record that has it
    """

    codes: tuple[Codes, ...]
    records: IntArray
    people: IntArray | None
    members: IntArray
    of: IntArray
    first: IntArray


def distinct_combinations(keys: Sequence[Codes], people: IntArray | None = None) -> DistinctCombinations:
    """DataError without records."""
    classes = equivalence_classes(keys if people is None else [*keys, people])
    n, c = len(classes.labels), len(classes.sizes)
    if not n:
        raise DataError("combinations of keys need at least one record; got none.")
    first = np.empty(c, dtype=np.int64)
    first[classes.labels] = np.arange(n)
    codes = tuple(key[first] for key in keys)
    if people is None:
        return DistinctCombinations(codes, classes.sizes, None, classes.sizes, classes.labels, first)
    members = equivalence_classes(codes).frequencies
    return DistinctCombinations(codes, np.ones(c, dtype=np.int64), people[first], members, classes.labels, first)


def projections(distinct: DistinctCombinations, size: int) -> Iterator[Projection]:
    """The groups by every set of 1 to `size` keys; a set comes after all sets that are parts of it."""
    codes = distinct.codes
    if size < 1:
        raise DataError(f"size must be 1 key or more; got {size}.")
    size = min(size, len(codes))
    sets = sum(comb(len(codes), keys) for keys in range(1, size + 1))
    if sets > _MOST_SETS:
        raise DataError(
            f"{len(codes)} keys have {sets:,} sets of up to {size}; at most {_MOST_SETS:,} are looked at. "
            "Use a smaller size."
        )
    # Each set grows from the set without its first key. With the keys as bits of a number, the first the lowest, the
    # numbers rise: so parts come before the whole.
    everything, together = np.arange(len(distinct.first)), np.zeros(len(distinct.first), dtype=np.int64)
    waiting: list[_Growing] = [((), 0, everything, together, key) for key in reversed(range(len(codes)))]
    while waiting:
        keys, before, rows, label, key = waiting.pop()
        groups = equivalence_classes([label, codes[key][rows]])
        held = np.bincount(groups.labels, weights=distinct.records[rows], minlength=len(groups.sizes))
        records = held.astype(np.int64)
        people = records if distinct.people is None else groups.of_people(distinct.people[rows]).sizes
        single = people[groups.labels] == 1
        grown = Projection((key, *keys), before, rows[single], records, people)
        if len(grown.keys) < size:
            left = rows[~single], groups.labels[~single]
            unique = before + len(grown.alone)
            waiting += [(grown.keys, unique, *left, smaller) for smaller in reversed(range(key))]
        yield grown


class AttributeCombinations(KeyedRule):
    """No set of a few keys makes many records rare. A missing key is a category of its own."""

    rule: Literal["attribute_combinations"] = "attribute_combinations"
    example: ClassVar[str] = "{rule: attribute_combinations, size: 2, k: 2, at_most: 0.1}"
    advice: ClassVar[str] = (
        "The combination that the finding names makes most records rare: recode one of its variables, best the one "
        "that other rare combinations share."
    )
    size: int = Field(default=3, ge=1, description="most keys that an intruder knows")
    k: int = Field(default=2, ge=2, description="a combination with fewer records is rare; 2: with one")
    at_most: Share = Field(default=0, lt=1, description="share of the records, not percent, for the worst set of keys")

    def judge(self, file: KeyedRecords) -> list[Finding]:
        found = attribute_combinations(file.codes, self.size, self.k, file.people)
        observed, worst = found.share_below.value, [file.keys[at] for at in found.sets[found.worst()]]
        says = _SAYS.rare(size=self.size, keys=file.keys, share=observed, unit=file.unit, k=self.k)
        says += (_SAYS.worst(worst=worst) if observed else ()) + _SAYS.limit(limit=self.at_most)
        return [self.finding(file, observed <= self.at_most, observed, self.at_most, says)]

    def describe(self) -> str:
        return (
            f"No set of up to {self.size:,} quasi-identifiers puts more than {percent(self.at_most)} of the records "
            f"in a group of fewer than {self.k:,} (attribute combinations)."
        )
