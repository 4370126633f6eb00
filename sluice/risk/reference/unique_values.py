"""Unique values: values, and pairs of values, that one person alone has and that came through masking.

Whoever knows such a value, an income to the last digit, finds the person at a glance. A distance over all variables
does not see it; nor does a grid, where a few tiny digits tell people apart. So values are compared one by one and in
pairs, at several resolutions: exactly, to four digits, on a grid, and by rank, which adding a constant to all values,
or multiplying them by one, leaves as it is; and by rank from above, for values whose sign or order was reversed.

What chance would reach is taken off: where values were permuted, the one record that holds a person's value is the
person's own once in n; and the one that holds a pair, once in as many as hold the rarer of both values.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import is_missing
from sluice.risk.reference.copies import CopyCount, count_copies
from sluice.risk.row_groups import value_ranks
from sluice.risk.spread import FINE, on_one_grid

Column = npt.NDArray[Any]
Codes = npt.NDArray[np.integer[Any]]
Columns = Mapping[str, Callable[[], tuple[Column, Column]]]  # by name, how to get the values of both files

_DIGITS = 4
_FEWEST_TWINS = 30  # people; what fewer have in common tells little
_COUNTED = 2  # combinations a record: so many are counted faster than they are hashed
_SIGMAS = 3.0  # standard errors that chance passes about once in a thousand times


@dataclass(frozen=True)
class UniqueValues:
    """People who are alone with their values of one or two variables, and are found by them."""

    names: tuple[str, ...]
    how: str  # at which resolution the values were compared: in words
    count: CopyCount


class _Codes(NamedTuple):
    """One variable of two files as common codes from 0 to `levels` - 1, shapes (n,) and (m,)."""

    original: Codes
    released: Codes
    levels: int
    known: BoolArray  # (n,) the person has a value

    def alone(self) -> BoolArray:
        """Shape (n,): nobody else of the original has the value."""
        return np.asarray((np.bincount(self.original, minlength=self.levels)[self.original] == 1) & self.known)

    def once(self) -> BoolArray:
        """Shape (levels,): one released record has the value."""
        return np.asarray(np.bincount(self.released, minlength=self.levels) == 1)

    def holding(self, people: IntArray | slice = slice(None)) -> IntArray:
        """How many released records have the value of each of these people."""
        return np.bincount(self.released, minlength=self.levels)[self.original[people]]

    def with_other(self, other: "_Codes", people: BoolArray | slice) -> IntArray:
        """The values of this variable and another together, of these people; below the product of both levels."""
        return np.asarray(self.original[people].astype(np.int64) * other.levels + other.original[people])

    def released_with_other(self, other: "_Codes", records: BoolArray) -> IntArray:
        """The same of these released records."""
        return np.asarray(self.released[records].astype(np.int64) * other.levels + other.released[records])

    def held_by(self, people: IntArray) -> BoolArray:
        """Shape (levels,): some of these people have the value."""
        return np.asarray(np.bincount(self.original[people], minlength=self.levels) > 0)

    def holders(self) -> IntArray:
        """Shape (levels,): a released record with the value, any number where there is none."""
        holder = np.zeros(self.levels, np.int64)
        holder[self.released] = np.arange(len(self.released))
        return holder

    def twins(self, units: IntArray) -> tuple[IntArray, IntArray]:
        """The people who share a value with one other alone, of another unit: both of each pair, shape (pairs,)."""
        pairs = (np.bincount(self.original, minlength=self.levels) == 2)[self.original] & self.known
        at = np.flatnonzero(pairs)
        at = at[np.argsort(self.original[at], kind="stable")]
        apart = units[at[::2]] != units[at[1::2]]
        return at[::2][apart], at[1::2][apart]

    def next_person(self, units: IntArray) -> IntArray:
        """Shape (n,): who of another unit comes next in the order of the values; of the last ones, who came before."""
        order = np.argsort(self.original, kind="stable")
        starts = np.r_[0, np.flatnonzero(np.diff(units[order])) + 1]  # of each run of one unit
        run = np.searchsorted(starts, np.arange(len(order)), side="right")  # the next one
        beside = np.empty(len(order), np.int64)
        beside[order] = order[np.where(run < len(starts), starts[np.minimum(run, len(starts) - 1)], starts[-1] - 1)]
        return beside


def unique_values(columns: Columns, least: float = 0.0) -> list[UniqueValues]:
    """For each variable and each pair, the people whose unique value stands on their own released record.

    columns : row i of both files being the same person; numbers, NaN where missing, objects, or codes of categories
              (see `comparable_values`); shape (n,)
    least   : pairs that stand on the own record of a smaller share of the people are passed over
    returns : one for each variable at each resolution, one for each pair of variables exactly and on a grid. Whoever is
              alone with one value of a pair is counted with that variable, and not with the pair. Where t released
              records have the value, the own one counts 1 / t
    cost    : O(d^2 n) time, of which most is for pairs that `least` does not pass over; O(d n) memory
    """
    found = []
    for how, coded in _at_each_resolution(columns):
        alone = {name: codes.alone() for name, codes in coded.items()}
        own = {name: codes.original == codes.released for name, codes in coded.items()}
        n = len(next(iter(own.values()), ()))
        for name in coded:
            found.append(
                UniqueValues((name,), how, _found(alone[name], own[name], coded[name].holding(), np.full(n, 1 / n), n))
            )
        others = {name: coded[name].known & ~alone[name] for name in coded}
        for one, two in combinations(coded, 2) if how in _PAIRED else ():
            people, both = others[one] & others[two], own[one] & own[two]
            if np.count_nonzero(both & people) >= least * n:
                count = _found_by_pair(coded[one], coded[two], people, both)
                found.append(UniqueValues((one, two), how, count))
        del alone, own, others, coded  # before those of the next resolution are made
    return found


def values_beside_unique_ones(columns: Columns, units: IntArray | None = None) -> list[UniqueValues]:
    """What the one released record with a person's unique value tells of another variable; of rows that nobody owns.

    A file whose values were permuted or drawn holds original values by design, and gives nothing away as long as what
    stands beside a person's unique value is the person's own no more often than what the next person has, in the order
    of that value.

    Where the first value says much of the second, as a weight that all of a region, sex and age have, another person
    with that value shows it, too: so the reference is what two of the original who alone share a value have in common,
    where there are 30 such people or more and that is more.

    columns : shapes (n,) and (m,), rows in any order
    units   : shape (n,), who belongs together: what members share is no guess, as the household would be missing as a
              whole. None: everybody is alone
    returns : one for each ordered pair of variables. Found are the people whose second value (on a grid) stands beside
              their unique first one
    cost    : O(d^2 n + d n log n) time
    """
    resolutions = dict(_at_each_resolution(columns))
    found = []
    for how, coded in resolutions.items():
        for name, codes in coded.items():
            n = len(codes.original)
            together = np.arange(n) if units is None else units
            people = np.flatnonzero(codes.alone() & codes.once()[codes.original])
            if n < 2 or not len(people):
                continue
            holder, beside = codes.holders()[codes.original[people]], codes.next_person(together)[people]
            one, two = codes.twins(together)
            for other, values in resolutions["on a grid"].items():
                if other != name:
                    told, guessed = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
                    told[people] = values.released[holder] == values.original[people]
                    guessed[people] = values.original[beside] == values.original[people]
                    alike = values.original[one] == values.original[two]
                    count = _beside_another(count_copies(told, guessed), len(people), alike)
                    found.append(UniqueValues((name, other), how, count))
    return found


def _beside_another(count: CopyCount, people: int, alike: BoolArray) -> CopyCount:
    """The same count, by what two who share a value have in common where that is more; shape (pairs,)."""
    if 2 * len(alike) < _FEWEST_TWINS:
        return count
    share = float(alike.mean())
    by_twins = people * share / count.records
    variance = people * share * (1 - share) * (1 + people / len(alike)) + 1  # of the count, and of the share
    chance = _SIGMAS * sqrt(variance) / count.records
    if by_twins + chance <= count.expected + count.chance:
        return count
    return CopyCount(count.found, count.records, by_twins, chance)


_PAIRED = ("exactly", "on a grid")


def _at_each_resolution(columns: Columns) -> Iterator[tuple[str, dict[str, _Codes]]]:
    yield "exactly", {name: _coded(*pair()) for name, pair in columns.items()}
    yield "on a grid", {name: _coded(*on_one_grid(*pair(), FINE)) for name, pair in columns.items()}
    numbers = {name: pair for name, pair in columns.items() if {each.dtype.kind for each in pair()} == {"f"}}
    yield f"to {_DIGITS} digits", {name: _coded(*map(_rounded, pair())) for name, pair in numbers.items()}
    by_rank, reversed_rank = {}, {}
    for name, pair in numbers.items():
        before, after = map(_rank, pair())
        by_rank[name] = _coded(before, after)
        reversed_rank[name] = _coded(before, np.count_nonzero(~np.isnan(after)) + 1 - after)
    yield "by rank", by_rank
    yield "by rank, from above in one file and from below in the other", reversed_rank


def _coded(original: Column, released: Column) -> _Codes:
    ranks, levels = value_ranks(np.concatenate([original, released]))
    codes = ranks.astype(np.min_scalar_type(levels))  # a byte or two for most variables
    return _Codes(codes[: len(original)], codes[len(original) :], levels, ~is_missing(original))


def _rounded(values: FloatArray) -> FloatArray:
    """To significant digits: the leading ones of a large amount tell as much as those of a small one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        units = 10.0 ** (np.floor(np.log10(np.abs(values))) - (_DIGITS - 1))
        return np.where(np.isfinite(values) & (units > 0), np.rint(values / units) * units, values)


def _rank(values: FloatArray) -> FloatArray:
    return np.asarray(pd.Series(values).rank(), dtype=np.float64)


def _found_by_pair(one: _Codes, two: _Codes, people: BoolArray, own: BoolArray) -> CopyCount:
    """The count for these people; only released records matter that may have a pair of somebody who is alone with it.

    own : shape (n,), the own released record has both values
    """
    n, levels = len(own), one.levels * two.levels
    mine = one.with_other(two, slice(None) if people.all() else people)
    codes = mine
    if levels > _COUNTED * n:
        codes, values = pd.factorize(mine)
        levels = len(values)
    times = np.bincount(codes, minlength=levels)
    if not (times == 1).any():  # as of most pairs
        nobody = np.zeros(0, np.int64)
        return _found(own[:0], own[:0], nobody, nobody.astype(np.float64), n)
    alone = times[codes] == 1
    at = np.flatnonzero(people)[alone]
    possible = one.held_by(at)[one.released] & two.held_by(at)[two.released]
    codes, values = pd.factorize(np.concatenate([mine[alone], one.released_with_other(two, possible)]))
    holding = np.bincount(codes[len(at) :], minlength=len(values))[codes[: len(at)]]
    by_chance = 1 / np.fmax(np.minimum(one.holding(at), two.holding(at)), 1)
    return _found(np.ones(len(at), np.bool_), own[at], holding, by_chance, n)


def _found(alone: BoolArray, own: BoolArray, holding: IntArray, by_chance: FloatArray, n: int) -> CopyCount:
    """Of n people the shares found, and found by chance.

    alone, own, holding : of some people, whether they alone have the value, whether their own released record has it,
                          and how many records have it
    by_chance           : how often one of these records is their own, in a file that tells nothing
    """
    lucky = float(by_chance[alone & (holding > 0)].sum())
    return CopyCount(
        found=round(float((1 / holding[alone & own]).sum())),
        records=n,
        expected=lucky / n,
        chance=_SIGMAS * sqrt(lucky + 1) / n,
    )
