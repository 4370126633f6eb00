"""The intruder who learns: picks the ruler on people whose pairs are known, and is judged on the other people.

An intruder who knows the masking method can make such pairs by masking a file of their own. Half of the people,
households whole, play that file. Weights, the choice among rulers and the calibration of claims see that half only, so
that nothing has to be made up for on the other: one ruler is judged, once.

Claims say how sure the intruder may be that the best match is the right one. Scores add up what variables say as if
they were independent, and so are too sure of themselves. How much too sure is learned from people whose pairs are
known: by one temperature for all scores, and a logistic curve from the share that the best candidate then has to the
share of the right ones among the best (Platt 1999).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.coded_points import Points, side_by_side
from sluice.risk.linkage.learned_linker import Candidates, LearnedLinker
from sluice.risk.linkage.learned_rulers import (
    Examples,
    by_distance,
    greedy_factors,
    logit_factors,
    whitened,
)
from sluice.risk.linkage.learned_variable import ComparedVariable

_SURE = 0.5  # a claim is confident from here
_TEMPERATURES = (-3.0, 5.0)  # natural logarithms
_LARGEST_LOGIT = 30.0

_MOST_LEARNED = 50_000  # people that the weights are learned from
_MOST_TUNED = 300  # people of each fold by whom rulers are compared and claims calibrated
_OF_GROUP = 150  # people of one group who are learned from, and as many who are judged
_CANDIDATES = 20  # other records that share the probability with the best match
_MOST_COORDINATES = 200  # more come of categories by the hundred, which weights tell apart better than distances

_AT_ONCE = 8_000_000  # coordinates of a file that are held as an array, 64 MB; those of larger ones are worked out

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
    learning: IntArray
    judged: IntArray
    seed: int
    spaces: tuple[Space, ...] = field(repr=False)

    @classmethod
    def fit(
        cls,
        compared: Sequence[ComparedVariable],
        spaces: Sequence[Space],
        units: IntArray,
        rng: np.random.Generator,
        people: int = 2_000,
    ) -> Self:
        """Part the people and learn.

        compared : as `compared_variables` returns them, of paired files
        spaces   : coordinates for the distances, one entry for each of `compared` (w may be 0)
        units    : (n,) who belongs together, such as the household of each record; a unit is in one half
        people   : most people judged
        cost     : that of linking 600 people by all records a few times for each set of variables that is played, and
                   of the judged ones once
        """
        drawn = rng.random(int(units.max()) + 1)
        # By rank, so that the halves are equal; units are drawn, and their records follow.
        half = drawn[units] >= np.median(drawn[np.unique(units)])
        part = (drawn[units] * 1e6).astype(np.int64) % 2  # a coin of its own
        learning, others = np.flatnonzero(half), np.flatnonzero(~half)
        judged = np.sort(rng.choice(others, people, replace=False)) if len(others) > people else others
        folds: list[tuple[LearnedLinker, IntArray]] = []
        for side in (0, 1):
            learned, tuned = learning[part[learning] == side], learning[part[learning] != side]
            beside = folds[0][0] if folds else None
            folds.append((
                LearnedLinker.learn(compared, _some(learned, _MOST_LEARNED, rng), beside),
                _some(tuned, _MOST_TUNED, rng),
            ))  # fmt: skip
        linker = LearnedLinker.learn(compared, _some(learning, _MOST_LEARNED, rng), folds[0][0])
        return cls(linker, tuple(folds), learning, judged, int(rng.integers(2**62)), tuple(spaces))

    def of_group(
        self, rows: IntArray, units: IntArray, rng: np.random.Generator, people: int = _OF_GROUP
    ) -> Self | None:
        """The same intruder who learned, of the people who were learned from, from those of one group alone, and has
        no ruler but learned weights.

        rows   : the group, rising
        units  : as for `fit`
        people : most people learned from, and most people judged
        returns: None where there are fewer than four to learn from, or nobody to judge
        """
        known = np.isin(rows, self.learning, assume_unique=True)
        learning, judged = (_some(part, people, rng) for part in (rows[known], rows[~known]))
        folds_of = units[learning]
        one = np.isin(folds_of, rng.permutation(np.unique(folds_of))[::2])
        parts = learning[one], learning[~one]
        if min(map(len, parts)) < 2 or not len(judged):
            return None
        folds = tuple((LearnedLinker.learn(self.linker.compared, part, self.linker), other)
                      for part, other in (parts, parts[::-1]))  # fmt: skip
        linker = LearnedLinker.learn(self.linker.compared, learning, self.linker)
        return replace(self, linker=linker, folds=folds, learning=learning, judged=judged, spaces=())

    def play(self, variables: Sequence[int] | IntArray | None = None) -> Reached:
        """Choose the ruler for what is known, and judge it."""
        known = np.arange(len(self.linker.compared)) if variables is None else np.asarray(variables, np.int64)
        rng = np.random.default_rng(self.seed)
        examples = [Examples.of(linker, rows, known, rng) for linker, rows in self.folds]
        both = Examples(np.concatenate([each.weights for each in examples]), examples[0].stands_for)
        choices: dict[str, tuple[float, FloatArray | None]] = {}
        plain = np.ones(len(known))
        choices["all variables"] = (float(both.found(plain).mean()), plain)
        for name, learn in (("a subset of the variables", greedy_factors), ("weighted variables", logit_factors)):
            # What was learned on the people of one fold is tried on those of the other.
            crossed = np.concatenate([examples[1 - side].found(learn(examples[side])) for side in (0, 1)])
            choices[name] = (float(crossed.mean()), learn(both))
        tuned_rows = np.concatenate([rows for _, rows in self.folds])
        spaces = self._points(known)
        nearest = {name: by_distance(*space, tuned_rows, _CANDIDATES) for name, space in spaces.items()}
        choices |= {name: (float(near.found.mean()), None) for name, near in nearest.items()}
        ruler = max(choices, key=lambda each: choices[each][0])
        factors = choices[ruler][1]

        if factors is None:
            tuned, candidates = nearest[ruler], by_distance(*spaces[ruler], self.judged, _CANDIDATES)
        else:
            full = np.zeros(len(self.linker.compared))
            full[known] = factors
            tuned = _together([linker.link(rows, known, _CANDIDATES, full) for linker, rows in self.folds])
            candidates = self.linker.link(self.judged, known, _CANDIDATES, full)
        calibration = Calibration.learn(tuned)
        claimed, right = calibration.claims(candidates)
        without, _ = calibration.claims(replace(candidates, own=np.full(len(self.judged), -np.inf)))
        return Reached(
            ruler, self.judged, candidates, candidates.found, claimed, right, without, tuned_rows, tuned,
            calibration.temperature,
        )  # fmt: skip

    def _points(self, known: IntArray) -> dict[str, Space]:
        chosen = [self.spaces[j] for j in known if self.spaces[j][0].shape[1]] if self.spaces else []
        if not 0 < sum(space[0].shape[1] for space in chosen) <= _MOST_COORDINATES:
            return {}
        a, b = (side_by_side([space[side] for space in chosen], _AT_ONCE) for side in (0, 1))
        return {"the distance": (a, b), "the distance in units of what masking did": whitened(a, b, self.learning)}


def _some(rows: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    return np.sort(rng.choice(rows, most, replace=False)) if len(rows) > most else rows


def _together(parts: Sequence[Candidates]) -> Candidates:
    return Candidates(
        np.concatenate([part.own for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.ties for part in parts]),
    )


@dataclass(frozen=True)
class Calibration:
    """What turns scores into the probability that the best match is the right one."""

    temperature: float
    slope: float
    intercept: float

    @classmethod
    def learn(cls, candidates: Candidates) -> Self:
        """Learned from people whose own records are known, whom the scores were not learned from."""
        from scipy.optimize import minimize_scalar  # loaded where it is needed, as scikit-learn below

        def loss(log_temperature: float) -> float:
            return -float(np.mean(np.log(np.maximum(_share_of_own(candidates, np.exp(log_temperature)), 1e-300))))

        temperature = float(np.exp(minimize_scalar(loss, bounds=_TEMPERATURES, method="bounded").x))
        logits = _logits(candidates, temperature)
        right = candidates.found > 0.5
        if right.all() or not right.any():
            return cls(temperature, 0.0, _LARGEST_LOGIT if right.all() else -_LARGEST_LOGIT)
        from sklearn.linear_model import LogisticRegression

        curve = LogisticRegression(C=10.0).fit(logits[:, None], right)
        return cls(temperature, max(0.0, float(curve.coef_[0, 0])), float(curve.intercept_[0]))

    def claims(self, candidates: Candidates) -> tuple[BoolArray, BoolArray]:
        """Who is claimed to be found, by a probability above one half, and of whom this is right, shapes (q,)."""
        logit = self.intercept + self.slope * _logits(candidates, self.temperature)
        claimed = (1 / (1 + np.exp(-logit)) > _SURE) & ~_tied(candidates)
        return claimed, claimed & (candidates.own > candidates.scores[:, 0])


def _tied(candidates: Candidates) -> BoolArray:
    """Whether several records score highest, so that none can be claimed."""
    best, own = candidates.scores[:, 0], candidates.own
    return np.asarray(np.where(own > best, False, (own == best) | (candidates.ties > 1)))


def _masses(candidates: Candidates, temperature: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of own, best and all candidates, relative to the best, shapes (q,)."""
    scores, own = candidates.scores, candidates.own
    best = np.maximum(own, scores[:, 0])
    relative = np.exp((scores - best[:, None]) / temperature)
    more = np.maximum(candidates.ties - (scores == scores[:, :1]).sum(axis=1), 0)  # ties that the list does not hold
    of_own = np.exp((own - best) / temperature)
    return of_own, np.ones(len(own)), of_own + relative.sum(axis=1) + more * relative[:, 0]


def _share_of_own(candidates: Candidates, temperature: float) -> FloatArray:
    own, _, all_ = _masses(candidates, temperature)
    return own / all_


def _logits(candidates: Candidates, temperature: float) -> FloatArray:
    _, best, all_ = _masses(candidates, temperature)
    return np.asarray(np.minimum(np.log(best) - np.log(np.maximum(all_ - best, 1e-13)), _LARGEST_LOGIT))
