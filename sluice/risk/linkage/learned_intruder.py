"""The intruder who learns: picks the ruler on people whose pairs are known, and is judged on the other people.

An intruder who knows the masking method can make such pairs by masking a file of their own. Half of the people,
households whole, play that file. Weights, maps, the choice among rulers and the calibration of claims see that half
only, so that nothing has to be made up for on the other: one ruler is judged by whom it finds, once, and one by whom it
claims to have found, which may be another: who finds a few surely may find fewer in all.

All rulers are rated on the same people among the same released records: all of them, or so many that draws tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.coded_points import Points, side_by_side
from sluice.risk.linkage.learned_linker import Candidates, LearnedLinker
from sluice.risk.linkage.learned_rulers import (
    Examples,
    by_distance,
    by_product,
    greedy_factors,
    logit_factors,
    whitened,
)
from sluice.risk.linkage.learned_variable import ComparedVariable
from sluice.risk.linkage.map_rulers import CANDIDATES, FIFTHS, Link, MapLearners, Ruler, together
from sluice.risk.linkage.mapped_columns import MappedColumns
from sluice.risk.linkage.match_claims import Calibration

_MOST_LEARNED = 50_000  # people that the weights are learned from
_MOST_TUNED = (300, 1_000)  # people of each fold by whom rulers are compared and claims calibrated, of large files
_PAIRS_TUNED = 4_500_000  # people of a fold times records; of small files the people are more
_OF_GROUP = 300  # most people of one group who are learned from
_MORE = 3  # times as many are judged of the other half, which is looked at where the first leaves a figure open
_MOST_COORDINATES = 200  # more come of categories by the hundred, which weights tell apart better than distances
_AMONG = 20_000  # released records, at random, among which rulers are rated
_SURER, _MORE_SURE = 0.01, 0.25  # right claims less wrong ones by which another ruler is surer: of all people, of them

_AT_ONCE = 8_000_000  # coordinates of a file that are held as an array, 64 MB; those of larger ones are worked out

FEWEST_PEOPLE = 100
"""Of both halves: of fewer nothing can be learned, and what chance explains of so few asks for a decision anyway."""

Space = tuple[Points, Points]  # coordinates of one variable: original (n, w), released (m, w)


@dataclass(frozen=True)
class Reached:
    """What the intruder reaches, for each of q judged people."""

    ruler: str
    rows: IntArray  # (q,) the people, by their place in the file
    candidates: Candidates
    found: FloatArray  # (q,) 0 to 1: 1 / t where the own record is one of t that rank highest
    claimed: BoolArray  # (q,) the best match is claimed to be right by a probability above one half
    right: BoolArray  # (q,) claimed, and it is
    claimed_without: BoolArray  # (q,) claimed in the released file without the own record: never right
    tuned_rows: IntArray  # people who are learned from, but not weights: whatever else is chosen is tried on them
    tuned: Candidates
    temperature: float  # that scores are divided by to be logarithms of probabilities
    of_others: Callable[[IntArray], "Reached"] = field(
        repr=False
    )  # the same of other people, whom nothing was learned from


@dataclass(frozen=True)
class LearnedIntruder:
    """Two halves of the people: what is learned on the one, and who is judged on the other.

        intruder = LearnedIntruder.fit(compared, spaces, units, rng)
        reached = intruder.play()             # knows all variables
        reached = intruder.play([0, 3, 4])    # knows these, by their positions in `compared`

    `linker` holds the weights learned on the whole learning half; `folds` those of half of it each, with the people of
    its other half, on whom anything else may be tried without a look at the judged.
    """

    linker: LearnedLinker
    folds: tuple[tuple[LearnedLinker, IntArray], ...]
    parts: tuple[IntArray, IntArray]  # of the learning half, the people that each fold learned from
    learning: IntArray
    judged: IntArray
    seed: int
    spaces: tuple[Space, ...] = field(repr=False)
    columns: tuple[MappedColumns, ...] = field(repr=False, default=())
    part: IntArray = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))  # (n,) in which part each is
    people: int = 2_000  # most people judged

    @classmethod
    def fit(
        cls,
        compared: Sequence[ComparedVariable],
        spaces: Sequence[Space],
        units: IntArray,
        rng: np.random.Generator,
        people: int = 2_000,
        columns: Sequence[MappedColumns] = (),
    ) -> Self:
        """Part the people and learn.

        compared : as `compared_variables` returns them, of paired files
        spaces   : coordinates for the distances, one entry for each of `compared` (w may be 0)
        units    : (n,) who belongs together, such as the household of each record; a unit is in one half
        people   : most people judged
        columns  : what maps over several columns are learned from, one map from each
        cost     : that of linking 600 people by all records a few times for each set of variables that is played, and
                   of the judged ones once
        """
        drawn = rng.random(int(units.max()) + 1)
        # By rank, so that the halves are equal; units are drawn, and their records follow.
        half = drawn[units] >= np.median(drawn[np.unique(units)])
        part = (drawn[units] * 1e6).astype(np.int64) % (2 * FIFTHS)  # a coin of its own, and one of five
        return cls._of_halves(compared, tuple(spaces), tuple(columns), half, part, rng, people)

    @classmethod
    def _of_halves(
        cls,
        compared: Sequence[ComparedVariable],
        spaces: tuple[Space, ...],
        columns: tuple[MappedColumns, ...],
        half: BoolArray,
        part: IntArray,
        rng: np.random.Generator,
        people: int,
    ) -> Self:
        """half : (n,) who is learned from; part : (n,) in which part of it each would be: by the remainder of two one,
        of five more by what two goes into it."""
        learning, others = np.flatnonzero(half), np.flatnonzero(~half)
        judged = np.sort(rng.choice(others, people, replace=False)) if len(others) > people else others
        records = len(compared[0].released)
        tuned_people = int(np.clip(_PAIRS_TUNED // max(1, records), *_MOST_TUNED))
        folds: list[tuple[LearnedLinker, IntArray]] = []
        parts = learning[part[learning] % 2 == 0], learning[part[learning] % 2 == 1]
        for learned, tuned in (parts, parts[::-1]):
            beside = folds[0][0] if folds else None
            folds.append((
                LearnedLinker.learn(compared, _some(learned, _MOST_LEARNED, rng), beside),
                _some(tuned, tuned_people, rng),
            ))  # fmt: skip
        linker = LearnedLinker.learn(compared, _some(learning, _MOST_LEARNED, rng), folds[0][0])
        return cls(
            linker, tuple(folds), parts, learning, judged, int(rng.integers(2**62)), spaces, columns, part, people
        )

    @cached_property
    def other_half(self) -> "LearnedIntruder":
        """The intruder who learns from those whom this one judges, and judges more of those whom this one learned from:
        the same whatever was drawn since this one was made. Cost: as `fit`."""
        half = np.ones(len(self.part), np.bool_)
        half[self.learning] = False
        rng = np.random.default_rng([self.seed, 1])
        compared = self.linker.compared
        return self._of_halves(compared, self.spaces, self.columns, half, self.part, rng, _MORE * self.people)

    def of_group(self, learning: IntArray, judged: IntArray, units: IntArray, rng: np.random.Generator) -> Self | None:
        """The same intruder who learned from people of one group alone, and has no ruler but learned weights.

        learning : of the group, people who are learned from, rising; of more than 300 some
        judged   : others of the group, at least one
        units    : as for `fit`
        returns  : None where there are fewer than four to learn from
        """
        learning = _some(learning, _OF_GROUP, rng)
        folds_of = units[learning]
        one = np.isin(folds_of, rng.permutation(np.unique(folds_of))[::2])
        parts = learning[one], learning[~one]
        if min(map(len, parts)) < 2:
            return None
        folds = tuple((LearnedLinker.learn(self.linker.compared, part, self.linker), other)
                      for part, other in (parts, parts[::-1]))  # fmt: skip
        linker = LearnedLinker.learn(self.linker.compared, learning, self.linker)
        return replace(
            self, linker=linker, folds=folds, parts=parts, learning=learning, judged=judged, spaces=(), columns=()
        )  # fmt: skip

    def play(self, variables: Sequence[int] | IntArray | None = None) -> Reached:
        """Choose the rulers for what is known, and judge them: the one that finds most, and the surest."""
        known = np.arange(len(self.linker.compared)) if variables is None else np.asarray(variables, np.int64)
        rng = np.random.default_rng(self.seed)
        tuned_rows = self._of_folds()
        m = self.linker.records
        among = np.union1d(rng.choice(m, _AMONG, replace=False), tuned_rows) if m > _AMONG else np.arange(m)
        rulers = [*self._sums(known, among, rng), *self._distances(known, among)]
        names = [self.linker.names[at] for at in known]
        for columns in self.columns:
            rulers += self._learners.rulers(columns.knowing(names), among, rulers)
        finder, surest = max(rulers, key=lambda each: each.found), max(rulers, key=lambda each: each.sure)
        tuned = {finder.name: together(finder.tried) if m == len(among) else finder.link(None)}
        more = max(_SURER * len(tuned_rows), finder.sure * _MORE_SURE)
        if surest.sure > finder.sure + more:
            tuned[surest.name] = together(surest.tried) if m == len(among) else surest.link(None)
            if Calibration.learn(tuned[surest.name]).gain <= finder.sure + more:
                surest = finder  # among all records it is not
        else:
            surest = finder
        calibrated = {name: Calibration.learn(candidates) for name, candidates in tuned.items()}

        def reached(people: IntArray) -> Reached:
            judged = {each.name: each.link(people) for each in (finder, surest)}
            claimed, right = calibrated[surest.name].claims(judged[surest.name])
            without = calibrated[surest.name].claims_without(judged[surest.name])
            found = judged[finder.name]
            return Reached(
                finder.name, people, found, found.found, claimed, right, without, tuned_rows, tuned[finder.name],
                calibrated[finder.name].temperature, reached,
            )  # fmt: skip

        return reached(self.judged)

    def rehearsed(
        self, people: IntArray, variables: Sequence[int] | IntArray | None = None
    ) -> tuple[IntArray, list[Candidates]]:
        """People who are learned from, in another order, and what records are most alike to them: by the sum of weights
        that were learned from the other part, and by each distance. Nobody who is judged is looked at.

        cost : that of linking these people by all records, three times
        """
        known = np.arange(len(self.linker.compared)) if variables is None else np.asarray(variables, np.int64)
        tried = [
            (linker, mine)
            for (linker, _), part in zip(self.folds, self.parts[::-1], strict=True)
            if len(mine := np.intersect1d(people, part))
        ]
        candidates = [linker.link(mine, variables, CANDIDATES) for linker, mine in tried]
        rows = np.concatenate([mine for _, mine in tried])
        near = [by_distance(a[rows], b, rows, CANDIDATES) for a, b in self._spaces_of(known).values()]
        return rows, [together(candidates), *near]

    def _sums(self, known: IntArray, among: IntArray, rng: np.random.Generator) -> "list[Ruler]":
        """Sums of weights, by factors that were learned on the people of one fold, and tried on those of the other."""
        examples = [Examples.of(linker, rows, known, rng, among) for linker, rows in self.folds]
        both = examples[0].beside(examples[1])
        some = among if len(among) < self.linker.records else None

        def tried(factors: Sequence[FloatArray]) -> tuple[Candidates, ...]:
            return tuple(
                linker.link(rows, known, CANDIDATES, self._full(known, of), some)
                for (linker, rows), of in zip(self.folds, factors, strict=True)
            )

        def by(factors: FloatArray) -> "Link":
            return lambda people: self._link(people, known, self._full(known, factors))

        plain = tuple(each.linked.best(CANDIDATES) for each in examples)
        rulers = [Ruler("all variables", plain, by(np.ones(len(known))))]
        rated = float(both.found(np.ones(len(known))).mean())
        chosen: tuple[str, Callable[[Examples], FloatArray], list[FloatArray]] | None = None
        ways: tuple[tuple[str, Callable[[Examples], FloatArray]], ...] = (
            ("a subset of the variables", greedy_factors), ("weighted variables", logit_factors),
        )  # fmt: skip
        for name, learn in ways:
            learned = [learn(examples[1]), learn(examples[0])]
            reached = [one.found(factors) for one, factors in zip(examples, learned, strict=True)]
            if float(np.concatenate(reached).mean()) > rated:
                rated, chosen = float(np.concatenate(reached).mean()), (name, learn, learned)
        if chosen is not None:  # by far more records than the examples are
            name, learn, learned = chosen
            rulers.append(Ruler(name, tried(learned), by(learn(both))))
        return rulers

    def _full(self, known: IntArray, factors: FloatArray) -> FloatArray:
        full = np.zeros(len(self.linker.compared))
        full[known] = factors
        return full

    def _link(self, people: IntArray | None, known: IntArray, factors: FloatArray) -> Candidates:
        if people is not None:
            return self.linker.link(people, known, CANDIDATES, factors)
        return together([linker.link(rows, known, CANDIDATES, factors) for linker, rows in self.folds])

    @property
    def _learners(self) -> MapLearners:
        folds = self.folds[0][1], self.folds[1][1]
        return MapLearners(folds, self.parts, self.learning, self.part // 2, self.linker.records, _AT_ONCE)

    def _of_folds(self) -> IntArray:
        return np.concatenate([rows for _, rows in self.folds])

    def _spaces_of(self, known: IntArray) -> dict[str, Space]:
        """Where distances are taken, by the names of these rulers; nowhere where there are too many coordinates."""
        chosen = [self.spaces[j] for j in known if self.spaces[j][0].shape[1]] if self.spaces else []
        if not 0 < sum(space[0].shape[1] for space in chosen) <= _MOST_COORDINATES:
            return {}
        a, b = (side_by_side([space[side] for space in chosen], _AT_ONCE) for side in (0, 1))
        return {"the distance": (a, b), "the distance in units of what masking did": whitened(a, b, self.learning)}

    def _distances(self, known: IntArray, among: IntArray) -> "list[Ruler]":
        return [self._by_distance(name, *space, among) for name, space in self._spaces_of(known).items()]

    def _by_distance(self, name: str, a: Points, b: Points, among: IntArray) -> "Ruler":
        near = b[among]
        tried = tuple(by_product(a[rows], near, among, rows, CANDIDATES) for _, rows in self.folds)

        def link(people: IntArray | None) -> Candidates:
            rows = self._of_folds() if people is None else people
            return by_distance(a[rows], b, rows, CANDIDATES)

        return Ruler(name, tried, link)


def judged_in_looks(records: int, people: int) -> tuple[int, int]:
    """How many of so many records are judged by the intruder who learned from the other half, and with those whom the
    intruder judges who learned from that one.

    people : most people judged at first
    """
    half = records // 2
    return min(people, half), min(people, half) + min(_MORE * people, records - half)


def _some(rows: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    return np.sort(rng.choice(rows, most, replace=False)) if len(rows) > most else rows
