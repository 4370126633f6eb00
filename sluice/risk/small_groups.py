"""Small groups: people who share a category, a band of a number, or two of these, and may fare worse than all others.

A share of all people says nothing of a minority: two per cent may be everybody who was born in one country. So the
people are parted by each variable and by pairs of them. Of some thousand groups a few are chosen on those people whom
an intruder learned from, by what is reached of them, and judged by the others: a choice made on one half of the data
costs the test on the other nothing (Cox 1975), and its error is shared out among the questions asked (Dunn 1961).

Most people need not be looked for to choose: whoever is found has a record that agrees closely. So only those are whose
own records agree best, by how improbable it is that a record drawn at random would agree as closely, and that have few
like them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import comparable_values, is_missing, plain_values
from sluice.ground.variables import NAMES, Kind, Role, Variables
from sluice.risk.row_groups import row_groups

FEWEST = 100  # people of a group
_FEW_VALUES = 20  # numbers of no more values are parted as categories
_BANDS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)  # ends, in shares of the people
_HEAP = 0.25  # share of the people from which a single value is a band of its own
_PAIRS = 200  # pairs of variables, those of quasi-identifiers first
_COARSEST, _FINER, _RANKS_OF_TWINS = 20, 5, 6  # parts of the ranks of a number, from so many on
_WIDE = 4  # times as wide as the own record moved: edges of narrower cells would part records that are alike
_GRIDS, _GOLDEN = 5, (5**0.5 - 1) / 2  # whose edges are elsewhere in each
_RANKED = 60  # groups from which some are chosen that do not tell the same


@dataclass(frozen=True)
class Partition:
    """The people, parted by one variable or two; groups of fewer than FEWEST people are left aside.

    of    : (n,) group of each person, -1 for none
    called: for each group the value of each variable: a category, or None for a band of a number or a missing value
    """

    names: tuple[str, ...]
    of: npt.NDArray[np.int32] = field(repr=False)
    called: tuple[tuple[str | None, ...], ...]

    @cached_property
    def sizes(self) -> IntArray:
        return np.bincount(self.of[self.of >= 0], minlength=len(self.called))

    def members(self, group: int) -> IntArray:
        """Places of the people of a group, rising."""
        return np.flatnonzero(self.of == group)


def partitions(frame: pd.DataFrame, variables: Variables, pairs: bool = True) -> Iterator[Partition]:
    """The people by each variable, then by up to 200 pairs of those that have several groups.

    frame   : typed by `variables`; names of people and units, weights and texts make no groups
    returns : without partitions of one group, which would be nearly everybody
    cost    : O(n) time for each; 4 n bytes for each variable
    """
    described = [
        name
        for name, variable in variables.items()
        if name in frame and variable.role not in (*NAMES, Role.WEIGHT) and variable.kind is not Kind.TEXT
    ]
    single = []
    for name in described:
        each = _with_enough((name,), *_codes(frame[name]))
        if len(each.called) > 1:
            single.append(each)
            yield each
    if not pairs:
        return
    # Those of quasi-identifiers come first.
    single.sort(key=lambda each: variables[each.names[0]].role is not Role.QUASI_IDENTIFIER)
    keys = sum(variables[each.names[0]].role is Role.QUASI_IDENTIFIER for each in single)
    crossings = sorted(combinations(range(len(single)), 2), key=lambda pair: pair[1] >= keys)
    for one, other in crossings[:_PAIRS]:
        crossed = _crossed(single[one], single[other])
        if len(crossed.called) > 1:
            yield crossed


def groups_of(column: "pd.Series[Any]", others: "pd.Series[Any]") -> tuple[IntArray, IntArray]:
    """The group of each value, as `partitions` parts them by this variable, and of those of other people."""
    codes, _ = _codes(column, others)
    return codes[: len(column)], codes[len(column) :]


def _codes(column: "pd.Series[Any]", others: "pd.Series[Any] | None" = None) -> tuple[IntArray, list[str | None]]:
    """Group of each value, and what each is called; behind them those of other people's values, in the same groups."""
    values = plain_values(column)
    known = len(values)
    if others is not None:
        values = np.concatenate([values, plain_values(others)])
    missing = is_missing(values)
    if values.dtype.kind != "f":
        codes, found = pd.factorize(values.astype(object))
        called: list[str | None] = [str(each) for each in found]
    else:
        codes, called = _bands(values, values[:known][~missing[:known]])
    return np.where(missing, len(called), codes).astype(np.int64), [*called, None]


def _bands(values: FloatArray, present: FloatArray) -> tuple[IntArray, list[str | None]]:
    """Bands of a number: its values where they are few; else heaps, and between quantiles of the others.

    present : by which the bands are chosen. A value that is none of a few is in the band of the next larger one
    """
    distinct, counts = np.unique(present, return_counts=True)
    if len(distinct) <= _FEW_VALUES:
        return np.searchsorted(distinct, values), [None] * len(distinct)
    heaps = distinct[counts >= _HEAP * len(present)]
    others = present[~np.isin(present, heaps)]
    parted = len(others) >= 4 * FEWEST  # fewer are one band, whoever has any such value
    ends = np.unique(np.quantile(others, _BANDS)) if parted else np.zeros(0)
    codes = np.searchsorted(ends, values, side="right")
    codes = np.where(np.isin(values, heaps), len(ends) + 1 + np.searchsorted(heaps, values), codes)
    return codes, [None] * (len(ends) + 1 + len(heaps))


def _with_enough(names: tuple[str, ...], codes: IntArray, called: Sequence[Any]) -> Partition:
    sizes = np.bincount(codes[codes >= 0], minlength=len(called))
    held = np.flatnonzero(sizes >= FEWEST)
    place = np.full(len(called) + 1, -1, np.int32)
    place[held] = np.arange(len(held))
    words = tuple(each if isinstance(each := called[at], tuple) else (each,) for at in held.tolist())
    return Partition(names, place[codes], words)


def _crossed(one: Partition, other: Partition) -> Partition:
    wide = len(other.called)
    codes = np.where((one.of < 0) | (other.of < 0), -1, one.of.astype(np.int64) * wide + other.of)
    called = [(*first, *second) for first in one.called for second in other.called]
    return _with_enough((*one.names, *other.names), codes, called)


@dataclass(frozen=True)
class Group:
    """rows : places of its people, rising"""

    names: tuple[str, ...]
    called: tuple[str | None, ...]
    rows: IntArray = field(repr=False)


@dataclass(frozen=True)
class Rehearsal:
    """What an intruder reaches of q people who are learned from; of the other learners it is taken to be nothing.

    learners : (n,) who is learned from
    people   : (q,) places of the people
    found    : (q,) success of each, 0 to 1
    rightly  : of some of them, by their positions in `people`, those whom who is sure finds
    """

    learners: BoolArray = field(repr=False)
    people: IntArray = field(repr=False)
    found: FloatArray = field(repr=False)
    rightly: Callable[[IntArray], IntArray] = field(repr=False)

    def exposed(self, parted: Iterable[Partition], may_be: tuple[float, float], most: int) -> tuple[int, list[Group]]:
        """How many groups there are, and at most so many of those of which most more are found than may be.

        may_be : shares of a group that may be found, and found by who is sure
        A group of which the half of those found are in one chosen before is left aside: it tells the same.
        """
        count, best = 0, list[tuple[float, float, Group, IntArray]]()
        for partition in parted:
            count += len(partition.called)
            of, among = partition.of[self.people], partition.of[self.learners]
            learned = np.bincount(among[among >= 0], minlength=len(partition.called))
            hits = np.bincount(of[of >= 0], self.found[of >= 0], len(partition.called))
            enough = np.minimum(learned, partition.sizes - learned) >= FEWEST // 5
            for at in np.flatnonzero(enough & (hits > min(may_be) * learned)).tolist():
                inside, size = np.flatnonzero(of == at), int(learned[at])
                found = float(hits[at]), float(len(self.rightly(inside)))
                chance = min(chance_of_so_many(each, size, limit) for each, limit in zip(found, may_be, strict=True))
                rank = chance, -max(each / limit for each, limit in zip(found, may_be, strict=True)) / size
                if len(best) < _RANKED or rank < best[-1][:2]:
                    each = Group(partition.names, partition.called[at], partition.members(at))
                    best = sorted([*best, (*rank, each, inside[self.found[inside] > 0])], key=lambda one: one[:2])
                    del best[_RANKED:]
        chosen = list[tuple[Group, BoolArray]]()
        for *_, group, found_in in best:
            if len(chosen) < most and all(2 * other[found_in].sum() <= len(found_in) for _, other in chosen):
                chosen.append((group, np.zeros(len(self.people), np.bool_)))
                chosen[-1][1][found_in] = True
        return count, [group for group, _ in chosen]


def agreeing_most(recoded: pd.DataFrame, masked: pd.DataFrame, most: int, parted: Iterable[IntArray] = ()) -> IntArray:
    """Places of those whose own records agree with them best, at most so many, rising.

    recoded, masked : the variables that are compared; row i of both is one person
    parted          : the group of each person, -1 for none, shape (n,), by one variable after the other. A quarter of
                      the places are for groups that have few: each gets its best in turn
    cost            : O(n log n) time for each variable and each of `parted`

    Of several records that are nearly alike each agrees as well, and who has one of them is not found. So what agrees
    is shared out among them: people in sets of near twins hide no group.
    """
    total, pairs = np.zeros(len(recoded), np.float32), list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]()
    for name in recoded:
        pairs.append(comparable_values(recoded[name], masked[name]))
        total += agreement(*pairs[-1])
    order = np.argsort(-total / _alike(pairs, len(total)), kind="stable")
    turn = np.full(len(order), len(order))
    for of in parted:
        group = of[order]
        by_group = np.argsort(group, kind="stable")
        place = np.arange(len(order)) - np.searchsorted(group[by_group], group[by_group])
        turn[by_group] = np.where(group[by_group] < 0, turn[by_group], np.minimum(turn[by_group], place))
    first = most - most // 4
    others = np.argsort(turn[first:], kind="stable")[: most // 4]
    return np.sort(np.concatenate([order[:first], order[first:][others]]))


def _alike(pairs: Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]], n: int) -> IntArray:
    """How many records are like each person's own one, itself among them: with the same labels, and with numbers of
    about the same ranks, as near as those of the own record are to the person's."""
    labels, places, moved = list[npt.NDArray[Any]](), list[FloatArray](), np.zeros(n)
    for before, after in pairs:
        if not before.dtype.kind == after.dtype.kind == "f":
            labels.append(after)
            continue
        held = np.sort(after[~is_missing(after)])
        place, of_person = (_places(each, held) for each in (after, before))
        by_rank = _places(before, np.sort(before[~is_missing(before)]))  # of a file on another scale
        moved = np.maximum(moved, np.minimum(np.abs(of_person - place), np.abs(by_rank - place)))
        places.append(place)
    alike, fineness = np.ones(n, np.int64), _COARSEST
    while fineness <= max(_COARSEST, n // _RANKS_OF_TWINS):
        near = _WIDE * moved <= 1 / fineness if fineness > _COARSEST else np.ones(n, np.bool_)
        most = np.zeros(n, np.int64)
        for grid in range(_GRIDS):  # what an edge of one parts lies together in another
            cells = [
                np.floor(place * fineness + _GOLDEN * grid * (at + 1) % 1.0).astype(np.int32)
                for at, place in enumerate(places)
            ]
            of = row_groups([*labels, *cells]).of
            most = np.maximum(most, np.bincount(of)[of])
        alike = np.where(near, most, alike)
        fineness *= _FINER
    return alike


def _places(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """Share of the ordered values below each, ties halved; -1 where it is missing."""
    below, at_most = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.where(is_missing(values), -1.0, (below + at_most) / (2 * max(1, len(ordered))))


def agreement(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """How improbable it is that a random record agrees as closely as the own one: minus its logarithm, shape (n,).

    before, after : as `comparable_values` gives them, row by row of one person
    A category that is another one says nothing; a number is compared by its rank, each in its own file.
    """
    n = len(after)
    if before.dtype.kind == "f" and after.dtype.kind == "f":
        lost = [is_missing(each) for each in (before, after)]
        ranks, ties = zip(*(_ranks(each, gap) for each, gap in zip((before, after), lost, strict=True)), strict=True)
        likely = np.clip(2 * np.abs(ranks[0] - ranks[1]) + ties[1], 1 / n, 1.0)
        likely[lost[0] | lost[1]] = 1.0
        both = lost[0] & lost[1]
        likely[both] = lost[1].mean()
    else:
        codes, _ = pd.factorize(np.concatenate([each.astype(object) for each in (before, after)])
                                if before.dtype.kind != "u" else np.concatenate([before, after]),
                                use_na_sentinel=False)  # fmt: skip
        counts = np.bincount(codes[n:], minlength=int(codes.max(initial=0)) + 1)
        likely = np.where(codes[:n] == codes[n:], counts[codes[n:]] / n, 1.0)
    return np.asarray(-np.log(likely), np.float32)


def _ranks(values: FloatArray, lost: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Share of the values below each, ties halved, and share of equal ones."""
    ordered = np.sort(values[~lost])
    below, at_most = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    n = max(1, len(ordered))
    return (below + at_most) / (2 * n), (at_most - below) / n


def chance_of_so_many(successes: float, cases: int, limit: float) -> float:
    """Probability of at least so many successes of `cases` independent ones that each succeed with this probability.

    successes : rounded down
    """
    from scipy.special import betainc  # loaded where it is needed; scipy.stats takes fifty times as long for each

    least = int(successes + 1e-9)
    return float(betainc(least, cases - least + 1, min(1.0, limit))) if least > 0 else 1.0
