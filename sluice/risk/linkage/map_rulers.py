"""Rulers by maps: where a person's record is expected, by a map of the whole file, of its parts, or by one of several.

Each is learned on the people whose pairs are known, and tried on others of them. One that seems to find fewer than
another ruler does is not tried further.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import Protocol

import numpy as np

from sluice.ground.arrays import IntArray
from sluice.risk.linkage.hidden_maps import ALL_COUNTS, COUNTS, HIDDEN_SCALES, HiddenMaps
from sluice.risk.linkage.learned_linker import Candidates
from sluice.risk.linkage.learned_map import SCALES, LearnedMap, learners_of_scale
from sluice.risk.linkage.learned_rulers import by_distance, by_product
from sluice.risk.linkage.mapped_columns import MappedColumns
from sluice.risk.linkage.match_claims import claimed_in_learning
from sluice.risk.linkage.parted_map import PARTED_SCALES, PartedMap, likeliest_parts

CANDIDATES = 20
"""Other records that share the probability with the best match."""

FIFTHS = 5
"""Parts of the people who are learned from, one of which is left out of maps that know few as it is."""

_SCREENED = 4_000  # released records at random, among which the scale of maps is chosen,
_SCREENERS = 200  # by so many people of one fold
_NEARLY_ALL = 0.9  # of the people: whoever finds so many looks for no secrets of parts
_TELLS = 0.02  # of the people more are found by some hidden maps than by one, or others are not tried
_STARTS = 3  # random beginnings of hidden maps, on the chosen scale
_SIGMAS = 3.0

Link = Callable[[IntArray | None], Candidates]
"""Candidates among all records: of these people, of whom none was learned from; or else of those of both folds."""


@dataclass(frozen=True)
class Ruler:
    """A way to rank released records, and what it reaches among some of them."""

    name: str
    tried: tuple[Candidates, ...]  # of the people of each fold, by what was learned on the other one
    link: Link

    @cached_property
    def found(self) -> float:
        return float(np.concatenate([each.found for each in self.tried]).mean())

    @cached_property
    def sure(self) -> int:
        """Right claims less wrong ones, each by what is learned of the other fold's."""
        return claimed_in_learning(self.tried[0], self.tried[1])


def together(parts: Sequence[Candidates]) -> Candidates:
    return Candidates(
        np.concatenate([part.own for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.ties for part in parts]),
    )


@dataclass(frozen=True)
class MapLearners:
    """Whom maps are learned from, and who tries them.

    folds    : the people of each fold who try what was learned on the other one
    parts    : the people whom each fold learned from
    learning : all who are learned from
    fifth    : (n,) in which of five parts of them each would be
    records  : released ones, m
    at_once  : coordinates of a file that are held as an array
    """

    folds: tuple[IntArray, IntArray]
    parts: tuple[IntArray, IntArray]
    learning: IntArray
    fifth: IntArray
    records: int
    at_once: int

    def rulers(self, columns: MappedColumns, among: IntArray, others: Sequence[Ruler]) -> list[Ruler]:
        """Those that are worth it beside these others.

        columns : what is known, and all that is released
        among   : released records among which rulers are rated, which rise and hold the people of the folds
        """
        made: list[Ruler] = []
        for way, known in (
            (self._everybody, columns), (self._parts, columns.by_totals), (self._hidden, columns.by_totals)
        ):  # fmt: skip
            made += way(known, among, max(each.found for each in (*others, *made)))
        return made

    def _everybody(self, columns: MappedColumns, among: IntArray, reached: float) -> list[Ruler]:
        """The map on the scale on which most people of one fold are found by what the other one tells.

        reached : the share that another ruler finds; a map that seems to find far fewer is not tried
        """
        rows = self.folds[0]
        some = np.union1d(among[:: -(-len(among) // _SCREENED)], rows)
        first = rows[:: -(-len(rows) // _SCREENERS)]
        # Of a large file the records are put in order on the chosen scale alone.
        learners = learners_of_scale(self.parts[0])
        held = np.union1d(some, learners)
        fewer = columns.take(held) if self.records > len(among) else columns

        def place(rows: IntArray) -> IntArray:
            return rows if fewer is columns else np.asarray(np.searchsorted(held, rows))

        def found(learned: LearnedMap | None, of: Callable[[IntArray], IntArray]) -> float:
            if learned is None:
                return -1.0
            ranked = by_product(learned.expected(of(first)), learned.points(of(some)), of(some), of(first), 2)
            return float(ranked.found.mean())

        def screened(scale: str) -> float:
            return found(LearnedMap.learn(fewer, scale, place(learners), linear=True), place)

        # What a unit's members tell together stands under no name of their own, and so in no order.
        scale = max((each for each, (_, _, order) in SCALES.items() if not (order and columns.of_a_unit)), key=screened)
        one = LearnedMap.learn(columns, scale, self.parts[0])
        if _far_below(found(one, lambda rows: rows), len(first), reached):
            return []
        other, both = (LearnedMap.learn(columns, scale, part) for part in (self.parts[1], self.learning))
        if one is None or other is None or both is None:
            return []
        tried = tuple(
            by_product(learned.expected(rows), learned.points(among), among, rows, CANDIDATES)
            for learned, rows in zip((one, other), self.folds, strict=True)
        )

        def link(people: IntArray | None) -> Candidates:
            rows = np.concatenate(self.folds) if people is None else people
            return by_distance(both.expected(rows), both.all_points(self.at_once), rows, CANDIDATES)

        return [Ruler(f"a map of {columns.of_whom}, by {scale}", tried, link)]

    def _parts(self, columns: MappedColumns, among: IntArray, reached: float) -> list[Ruler]:
        """The maps of those parts, and on that scale, that the people learned from say most for."""
        if reached > _NEARLY_ALL:
            return []
        ways: list[tuple[str, _Learn]] = []
        for scale in PARTED_SCALES:
            parts = likeliest_parts(columns, scale, columns.one_of_each_unit(self.learning), self.records)
            if parts:
                learn = partial(PartedMap.learn, columns, scale, parts=parts)
                ways.append((f"maps of parts ({parts.name}){_of_unit(columns)}, by {scale}", learn))
        return self._best_of(columns, ways, among, reached)

    def _hidden(self, columns: MappedColumns, among: IntArray, reached: float) -> list[Ruler]:
        """So many maps, on that scale, by one of which most people are found."""
        if reached > _NEARLY_ALL or not len(self._screeners):
            return []
        some = np.union1d(among[:: -(-len(among) // _SCREENED)], self._screeners)
        without = columns.one_of_each_unit(self._without(0))

        def found(scale: str, count: int, starts: int = 1) -> tuple[float, int, str, HiddenMaps | None]:
            learned = HiddenMaps.learn(columns, scale, without, count, starts)
            share = float(learned.candidates(self._screeners, some, 1).found.mean()) if learned else -1.0
            return share, -count, scale, learned

        tried = [found(scale, count) for scale in HIDDEN_SCALES for count in (1, *COUNTS)]
        share, begun, scale, _ = max(tried, key=itemgetter(0, 1, 2))
        if share < _TELLS + max(each for each, count, *_ in tried if count == -1):
            return []
        best = found(scale, -begun, _STARTS)
        for onward in (-1, 1):  # fewer, then more, as long as they find no fewer, or more people
            for count in sorted((each for each in ALL_COUNTS if (each + begun) * onward > 0), reverse=onward < 0):
                more = found(scale, count, _STARTS)
                if more[:2] < best[:2]:
                    break
                best = more
        count, first = -best[1], best[3]
        if first is None:
            return []
        learn = partial(HiddenMaps.learn, columns, scale, begin=first)
        return self._best_of(columns, [(f"one of {count} maps{_of_unit(columns)}, by {scale}", learn)], among, reached)

    def _best_of(
        self, columns: MappedColumns, ways: Sequence[tuple[str, "_Learn"]], among: IntArray, reached: float
    ) -> list[Ruler]:
        """The one of these ways to learn by which most people are found who were left out; each by maps that were
        learned without them."""
        best, share = None, -1.0
        for name, learn in ways if len(self._screeners) else ():
            first = learn(columns.one_of_each_unit(self._without(0)))
            found = float(first.candidates(self._screeners, among, 1).found.mean()) if first else -1.0
            if first and found > share:
                best, share = (name, learn, first), found
        if best is None or _far_below(share, len(self._screeners), reached):
            return []
        name, learn, first = best
        others = (columns.one_of_each_unit(self._without(each)) for each in range(1, FIFTHS))
        both, learned = learn(columns.one_of_each_unit(self.learning)), [first, *map(learn, others)]
        if both is None or None in learned:
            return []

        def by_others(rows: IntArray, among: IntArray) -> Candidates:
            """Each of the people learned from by maps that were learned without them."""
            order = np.argsort(self.fifth[rows], kind="stable")
            made = [
                of.candidates(rows[self.fifth[rows] == each], among, CANDIDATES)
                for each, of in enumerate(learned)
                if of is not None and (self.fifth[rows] == each).any()
            ]
            return together(made).of(np.argsort(order))

        everything = np.arange(self.records)

        def link(people: IntArray | None) -> Candidates:
            if people is None:
                return by_others(np.concatenate(self.folds), everything)
            return both.candidates(people, everything, CANDIDATES)

        return [Ruler(name, tuple(by_others(rows, among) for rows in self.folds), link)]

    @cached_property
    def _screeners(self) -> IntArray:
        rows = self.folds[0]
        return np.asarray(rows[self.fifth[rows] == 0][:_SCREENERS])

    def _without(self, fifth: int) -> IntArray:
        return np.asarray(self.learning[self.fifth[self.learning] != fifth])


class _Learned(Protocol):
    def candidates(self, people: IntArray, records: IntArray, most: int) -> Candidates: ...


_Learn = Callable[[IntArray], _Learned | None]
"""Maps that are learned from the pairs of these people."""


def _of_unit(columns: MappedColumns) -> str:
    return f" of {columns.of_whom}" if columns.of_a_unit else ""


def _far_below(share: float, people: int, reached: float) -> bool:
    return bool(share < 0 or share + _SIGMAS * np.sqrt(share * (1 - share) / people) < reached)
