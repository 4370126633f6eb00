"""The learned linker: the released record that is most likely a known person's, by weights learned from true pairs.

Source: Fellegi and Sunter (1969) for the sum of weights; the weights are those of `learned_variable`.

The posterior says how probable each candidate is the person's record, and without the own household. Scores are sums of
weights, which count what dependent variables share several times. So they are divided by a temperature, under which the
probabilities are right on people whose records are known (`learned_intruder`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.machine import threads
from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.progress import counted
from sluice.risk.linkage.learned_variable import ComparedVariable, LearnedVariable
from sluice.risk.row_groups import RowGroups, row_groups

_PEOPLE = 16  # people that a thread takes at a time, of large files; of small ones more,
_WEIGHTS = 1_000_000  # whose weights are so many in all


@dataclass(frozen=True)
class Candidates:
    """The most likely released records of q people."""

    own: FloatArray  # (q,) score of the own record: log likelihood ratio, one person against two
    rows: IntArray  # (q, k) others' records with the highest scores, best first; -1 where there are fewer
    scores: FloatArray  # (q, k), minus infinity where there are fewer
    ties: IntArray  # (q,) others' records that score as high as the best of them, not limited to k
    looks: float = 0.0  # variables looked at per pair, on average

    @property
    def found(self) -> FloatArray:
        """Success of each person, shape (q,), 0 to 1: 1 / t where the own record is one of t that score highest."""
        best = self.scores[:, 0]
        shared = np.where(self.own == best, 1.0 / (1.0 + self.ties), 0.0)
        return np.where(self.own > best, 1.0, shared)

    def best(self, candidates: int) -> "Candidates":
        """The same with at most so many of the others."""
        return replace(self, rows=self.rows[:, :candidates], scores=self.scores[:, :candidates])

    def of(self, people: IntArray) -> "Candidates":
        """Those of some of the people, by their places, in this order."""
        return Candidates(self.own[people], self.rows[people], self.scores[people], self.ties[people], self.looks)


@dataclass(frozen=True)
class LearnedLinker:
    """Weights for every variable, learned from the true pairs of some rows, and the codes of both files.

        linker = LearnedLinker.learn(compared_variables(original, recoded, masked, variables, released), learning_rows)
        found = linker.link(judged_rows, variables=[0, 3, 4], candidates=20)

    Any subset of variables can be linked by: scores are sums over the variables chosen. `learned[j].weights(rows)` is
    the table of one variable for given people, shape (q, levels); `compared[j].released` the level of each released
    record. Row i of original and released file are one record.
    """

    compared: tuple[ComparedVariable, ...]
    learned: tuple[LearnedVariable, ...]
    _levels: npt.NDArray[np.uint16] = field(repr=False)  # (v, m)
    _exact: npt.NDArray[np.int32] = field(repr=False)  # (v, m)

    @classmethod
    def learn(cls, compared: Sequence[ComparedVariable], rows: IntArray, beside: Self | None = None) -> Self:
        """Learn from the true pairs of these rows.

        beside : a linker of the same variables, whose codes are shared
        cost   : O(v q log q) time; O(v m) memory, without `beside`
        """
        if beside is not None:
            learned = tuple(variable.learn(rows) for variable in beside.compared)
            return cls(beside.compared, learned, beside._levels, beside._exact)
        exact = np.zeros((len(compared), len(compared[0].released)), np.int32)
        levels = np.vstack([variable.released for variable in compared])
        shared = tuple(variable.sharing(row, sent) for variable, row, sent in zip(compared, levels, exact, strict=True))
        return cls(shared, tuple(variable.learn(rows) for variable in shared), levels, exact)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.compared)

    @property
    def records(self) -> int:
        """Released records, m."""
        return len(self.compared[0].released)

    def weights(self, rows: IntArray, shown: IntArray, variables: Sequence[int] | IntArray | None = None) -> FloatArray:
        """Weight of each variable for people and released records, shape (q, k, v chosen).

        rows  : the people, shape (q,)
        shown : released records for each of them, shape (q, k)
        """
        chosen = range(len(self.compared)) if variables is None else variables
        found = np.empty((*shown.shape, len(chosen)))
        for start in range(0, len(rows), _PEOPLE):
            block = slice(start, start + _PEOPLE)
            for at, j in enumerate(chosen):
                found[block, :, at] = self._weights_of(j, rows[block], shown[block])
        return found

    def _weights_of(self, j: int, rows: IntArray, shown: IntArray) -> FloatArray:
        compared, learned = self.compared[j], self.learned[j]
        level = self._levels[j, shown].astype(np.int64)
        table, span, bins = learned.tables(rows)
        weights = np.take_along_axis(table, level, axis=1)
        if compared.exact is not None:
            mine, other = compared.exact[0][rows][:, None], self._exact[j, shown]
            far = np.abs(learned.coordinates[mine] - learned.coordinates[other])
            bin_of = np.where(mine == other, 0, np.searchsorted(learned.edges, far) + 1)
            by_value = np.take_along_axis(bins, bin_of, axis=1)
            weights = np.where((span[:, :1] <= level) & (level <= span[:, 1:]), by_value, weights)
        return weights.astype(np.float64)

    def alike(self, variables: Sequence[int]) -> RowGroups:
        """Groups of released records that no ruler of these variables, at least one, tells apart."""
        exact = [j for j in variables if self.compared[j].exact is not None]
        return row_groups([*self._levels[list(variables)], *self._exact[exact]])

    def link(
        self,
        rows: IntArray,
        variables: Sequence[int] | IntArray | None = None,
        candidates: int = 1,
        factors: FloatArray | None = None,
        among: IntArray | None = None,
    ) -> Candidates:
        """Score every released record for each of these people.

        rows       : the people, shape (q,)
        variables  : positions in `names` of what the intruder knows; all when not given
        candidates : others' records returned, k
        factors    : shape (v,), how much each variable's weight counts, at least 0; 1 when not given
        among      : released records that are candidates beside the own one; all when not given
        cost       : O(q m c) time for c variables looked at per pair, mostly a third of them; O(q levels v) memory
        """
        chosen = np.arange(len(self.compared)) if variables is None else np.asarray(variables, np.int64)
        factors = np.ones(len(self.compared)) if factors is None else factors
        chosen = chosen[factors[chosen] > 0]
        k = min(candidates, max(1, self.records - 1))
        # What differs most between people comes first: most pairs are given up after it.
        spread = [
            factors[j] * float(self.learned[j].weights(rows[: min(len(rows), 64)]).std(axis=1).mean()) for j in chosen
        ]
        order = chosen[np.argsort(spread)[::-1]]
        shown, exact, places = self._levels, self._exact, rows
        if among is not None:
            held = np.union1d(among, rows)
            shown, exact, places = shown[:, held], exact[:, held], np.searchsorted(held, rows)
        edges = [self.learned[j].edges for j in order]
        starts = np.cumsum([0, *(len(self.learned[j].coordinates) for j in order)])[:-1]
        coordinates = np.concatenate([self.learned[j].coordinates for j in order])
        padded = np.zeros((len(order), max(1, *(len(each) for each in edges))), np.float32)
        for at, each in enumerate(edges):
            padded[at, : len(each)] = each
        counts = np.array([len(each) for each in edges], np.int64)
        widest = max(self.compared[j].levels for j in order)
        at_a_time = int(np.clip(_WEIGHTS // (len(order) * widest), _PEOPLE, max(_PEOPLE, -(-len(rows) // threads()))))
        own, ties = np.empty(len(rows), np.float32), np.empty(len(rows), np.int64)
        best, scores = np.empty((len(rows), k), np.int64), np.empty((len(rows), k), np.float32)

        def attack(start: int) -> int:
            from sluice.risk.linkage.learned_linker_kernel import best_candidates

            block = slice(start, start + at_a_time)
            people = rows[block]
            tables = np.full((len(people), len(order), widest), -np.inf, np.float32)
            spans = np.empty((len(people), len(order), 2), np.int64)
            bins = np.full((len(people), len(order), padded.shape[1] + 2), -np.inf, np.float32)
            known = np.zeros((len(people), len(order)), np.int32)
            for at, j in enumerate(order):
                factor = np.float32(factors[j])
                table, spans[:, at], near = self.learned[j].tables(people)
                tables[:, at, : self.compared[j].levels] = factor * table
                bins[:, at, : near.shape[1]] = factor * near
                if (exact_codes := self.compared[j].exact) is not None:
                    known[:, at] = exact_codes[0][people]
                else:
                    bins[:, at] = -np.inf
            looks: int = best_candidates(
                tables, spans, bins, padded, counts, known, order, shown, exact, coordinates, starts, places[block],
                own[block], best[block], scores[block], ties[block],
            )  # fmt: skip
            return looks

        of_people = range(0, len(rows), at_a_time)
        looks = sum(counted(each_in_threads(attack, of_people), "people who are looked for", len(of_people)))
        if among is not None:
            best = np.where(best >= 0, held[best], -1)
        pairs = max(1, len(rows) * (shown.shape[1] - 1))
        return Candidates(own.astype(np.float64), best, scores.astype(np.float64), ties, looks / pairs)


@dataclass(frozen=True)
class CandidatePosterior:
    """The candidates of q people, the own record first, and their probabilities."""

    rows: IntArray  # (q, k + 1) released records, -1 for none
    shares: FloatArray  # (q, k + 1) of a sum of at most 1: what is left belongs to equal records that nobody reads
    without: FloatArray  # (q, k + 1) the same in a file without the own unit, whose share is 0

    @classmethod
    def of(
        cls, people: IntArray, candidates: Candidates, temperature: float, units: IntArray | None = None,
        alike: RowGroups | None = None,
    ) -> Self:  # fmt: skip
        """The posterior of people whose own released records are `people`, shape (q,).

        units : of each released record, who belongs together, shape (m,): a household stays out as a whole. None:
                everybody is alone
        alike : groups of released records that score the same. Where more score highest than are listed, as many of
                them as the list holds, drawn at random, stand for all. None: those that are not listed are not read
        """
        k = candidates.rows.shape[1]
        scores = np.column_stack([candidates.own, candidates.scores])
        with np.errstate(invalid="ignore"):
            mass = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
        mass[~np.isfinite(scores)] = 0
        # Of more than k records that score the same, k are listed: the others count, and nobody reads them.
        tied = (candidates.scores == candidates.scores[:, :1]).sum(axis=1)
        unlisted = np.where(tied == k, np.maximum(0, candidates.ties - tied), 0) * mass[:, 1]
        listed = candidates.rows
        if alike is not None and (beyond := np.flatnonzero(unlisted > 0)).size:
            listed = listed.copy()
            listed[beyond] = _drawn(listed[beyond], people[beyond], alike)
            mass[beyond, 1:] *= candidates.ties[beyond, None] / k
            unlisted[:] = 0
        mass[candidates.own < candidates.scores[:, -1], 0] = 0  # the list would not hold it
        others = mass.copy()
        others[:, 0] = 0
        rows = np.column_stack([people, listed])
        if units is not None:
            others[(rows >= 0) & (units[rows] == units[people][:, None])] = 0
        return cls(
            rows,
            mass / np.maximum(mass.sum(axis=1) + unlisted, 1e-300)[:, None],
            others / np.maximum(others.sum(axis=1) + unlisted, 1e-300)[:, None],
        )

    @property
    def sure(self) -> BoolArray:
        """Of whom one candidate is more probable than all others together."""
        return np.asarray(self.shares.max(axis=1) > 0.5)

    @property
    def sure_without(self) -> BoolArray:
        """The same in a file without the own unit."""
        return np.asarray(self.without.max(axis=1) > 0.5)


def _drawn(listed: IntArray, people: IntArray, alike: RowGroups) -> IntArray:
    """As many records of the groups of each row of the list, at random: whatever order the file is in.

    listed  : (q, k) records
    returns : (q, k), none of them the person's own record
    """
    rng = np.random.default_rng(0)
    order = np.argsort(alike.of, kind="stable")
    starts = np.cumsum(alike.size) - alike.size
    drawn = np.empty_like(listed)
    for at, of in enumerate(alike.of[listed]):
        groups = np.unique(of)
        ends = np.cumsum(alike.size[groups])
        place = rng.integers(0, ends[-1], len(of))
        which = np.searchsorted(ends, place, "right")
        drawn[at] = order[starts[groups[which]] + place - (ends - alike.size[groups])[which]]
    return np.where(drawn == people[:, None], listed, drawn)
