"""Rulers: the ways in which an intruder may rank released records, to be chosen from by what they reach in learning.

factors    : the sum of learned weights, each times a factor: 1; 1 or 0 (the subset of variables that finds most, by
             greedy selection); or those of a conditional logit of the own record among others (McFadden 1974), which
             counts for less what other variables have already said
distance   : Euclidean distance of standardised points, the fixed ruler of Lasko and Vinterbo (2010)
covariance : Mahalanobis distance by the covariance of the differences within learned pairs: what masking did
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.coded_points import CodedPoints, Points
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.linkage.learned_linker import Candidates, LearnedLinker
from sluice.risk.row_groups import row_groups

_LARGEST_FACTOR = 4.0
_EXAMPLES = 300  # people of each fold whom factors are learned from
_PULL = 0.02  # how strongly factors are drawn towards 1, in the unit of a person's log likelihood
_TIED = 1e-6  # scores that differ by no more are equal
_DECIMALS = 9  # distances that agree to so many decimals are tied
_PAIRS = 50_000  # learned pairs of a large file, evenly spread, that tell what masking did
_AT_A_TIME = 64  # people
_SINGULAR = 1e-9  # part of the variance below which a direction counts as constant


@dataclass(frozen=True)
class Examples:
    """People with their own record and others that an intruder might take for it."""

    weights: FloatArray  # (q, 1 + k, v): of the own record, of the best others, of others at random
    stands_for: FloatArray  # (1 + k,) natural logarithm of how many released records each one stands for

    linked: Candidates  # by all weights

    @classmethod
    def of(cls, linker: LearnedLinker, rows: IntArray, variables: IntArray, rng: np.random.Generator, among: IntArray,
           candidates: int = 40, others: int = 60) -> "Examples":  # fmt: skip
        """The best others by all weights, of these records, and some at random of all."""
        m = linker.records
        linked = linker.link(rows, variables, candidates, among=among if len(among) < m else None)
        examples, found = rows[:_EXAMPLES], linked.rows[:_EXAMPLES]
        at_random = rng.integers(0, m, (len(examples), others))
        at_random[at_random == examples[:, None]] += 1
        shown = np.column_stack([examples, found, at_random % m])
        weights = linker.weights(examples, np.maximum(shown, 0), variables)
        weights[shown < 0] = -1e3
        left = max(1.0, (m - 1 - found.shape[1]) / others)
        each = np.log(max(1.0, m / len(among)))
        counts = np.concatenate([[0.0], np.full(found.shape[1], each), np.full(others, np.log(left))])
        return cls(weights, counts, linked)

    def found(self, factors: FloatArray) -> FloatArray:
        """Share of each person's success, shape (q,), if candidates are ranked by these factors."""
        return _found(self.weights @ factors)

    def beside(self, other: "Examples") -> "Examples":
        """Those of both, who have as many others each."""
        return Examples(np.concatenate([self.weights, other.weights]), self.stands_for, self.linked)


def _found(scores: FloatArray) -> FloatArray:
    others = scores[:, 1:] - scores[:, :1]
    tied = (np.abs(others) <= _TIED).sum(axis=1)
    return np.asarray(np.where((others > _TIED).any(axis=1), 0.0, 1.0 / (1.0 + tied)))


def greedy_factors(examples: Examples) -> FloatArray:
    """1 for the variables of the subset that finds most, added one by one; 0 for the others."""
    v = examples.weights.shape[2]
    by_variable = np.ascontiguousarray(np.moveaxis(examples.weights, 2, 0))
    factors, scores, best = np.zeros(v), np.zeros(examples.weights.shape[:2]), -1.0
    while True:
        tried = [(float(_found(scores + by_variable[j]).mean()), j) for j in np.flatnonzero(factors == 0)]
        if not tried or max(tried)[0] <= best:
            return factors
        best, chosen = max(tried)
        factors[chosen] = 1
        scores = scores + by_variable[chosen]


def logit_factors(examples: Examples) -> FloatArray:
    """Factors under which the own record is the most likely, at least 0."""
    from scipy.optimize import minimize  # loaded where it is needed

    weights, q = examples.weights, len(examples.weights)

    def loss(factors: FloatArray) -> tuple[float, FloatArray]:
        scores = weights @ factors + examples.stands_for
        most = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - most)
        sums = shares.sum(axis=1, keepdims=True)
        shares /= sums
        total = (np.log(sums) + most)[:, 0]
        pull = factors - 1
        slope = (np.einsum("qk,qkv->v", shares, weights) - weights[:, 0].sum(axis=0)) / q + 2 * _PULL * pull
        return float((total - scores[:, 0]).mean() + _PULL * pull @ pull), slope

    start = np.ones(weights.shape[2])
    solved = minimize(loss, start, jac=True, bounds=[(0, _LARGEST_FACTOR)] * len(start), method="L-BFGS-B")
    factors = np.asarray(solved.x, np.float64)
    return factors if factors.any() else start


def by_distance(expected: FloatArray, released: Points, rows: IntArray, candidates: int) -> Candidates:
    """The nearest released records; the score is minus half the squared distance.

    expected : shape (q, d), where the records of these people are looked for
    rows     : shape (q,), their own records

    Ties are counted on the list, and of equal records also beyond it.
    """
    k = min(candidates, len(released) - 1)
    others = nearest_neighbours(expected, released, k, own_row=rows)
    own = -(np.round(np.sqrt(((expected - released[rows]) ** 2).sum(axis=1)), _DECIMALS) ** 2) / 2
    scores = -(np.round(others.distance, _DECIMALS) ** 2) / 2
    ties = (scores == scores[:, :1]).sum(axis=1)
    if (ties == k).any():
        groups = row_groups(np.round(coordinate, _DECIMALS) for coordinate in released.T)
        best = groups.of[others.index[:, 0]]
        ties = np.maximum(ties, groups.size[best] - (groups.of[rows] == best))
    return Candidates(own, others.index, scores, ties)


def by_product(
    expected: FloatArray, released: FloatArray, records: IntArray, rows: IntArray, candidates: int
) -> Candidates:
    """As `by_distance`, of some thousand records, by one product of matrices: a tenth of the time.

    released : shape (r, d), the points of `records`, which rise and hold all of `rows`
    """
    k = min(candidates, len(records) - 1)
    places, sizes = np.searchsorted(records, rows), (released**2).sum(axis=1)
    own = -(np.round(np.sqrt(((expected - released[places]) ** 2).sum(axis=1)), _DECIMALS) ** 2) / 2
    found, scores = np.empty((len(rows), k), np.int64), np.empty((len(rows), k))
    ties = np.empty(len(rows), np.int64)
    for start in range(0, len(rows), _AT_A_TIME):
        block = slice(start, start + _AT_A_TIME)
        near = expected[block] @ released.T
        near -= sizes / 2
        every = np.arange(len(near))
        near[every, places[block]] = -np.inf
        top = np.argpartition(near, len(records) - k, axis=1)[:, len(records) - k :]
        apart = np.sqrt(((released[top] - expected[block][:, None]) ** 2).sum(axis=2))
        score = -(np.round(apart, _DECIMALS) ** 2) / 2
        order = np.argsort(-score, axis=1, kind="stable")
        top, scores[block] = np.take_along_axis(top, order, axis=1), np.take_along_axis(score, order, axis=1)
        found[block] = records[top]
        tied = (scores[block] == scores[block, :1]).sum(axis=1)
        for at in np.flatnonzero(tied == k):
            best = near[at, top[at, 0]]
            tied[at] = np.count_nonzero(near[at] >= best - _TIED * max(1.0, abs(best)))
        ties[block] = tied
    return Candidates(own, found, scores, ties)


def whitened(original: Points, released: Points, learning: IntArray) -> tuple[Points, Points]:
    """Both files as points whose Euclidean distance is Mahalanobis' by the differences within the learned pairs.

    Of points that are worked out when they are asked for, so many pairs tell the differences.
    """
    if isinstance(original, CodedPoints) and isinstance(released, CodedPoints):
        some = learning[:: -(-len(learning) // _PAIRS)]
        turn, centre = _turn(original[some], original[some] - released[some])
        return original.turned(centre, turn), released.turned(0.0, turn)
    original, released = original[:], released[:]
    turn, centre = _turn(original, original[learning] - released[learning])
    return (original - centre) @ turn, released @ turn


def _turn(original: FloatArray, apart: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The matrix that makes such differences spread alike in all directions, and their middle."""
    centre = apart.mean(axis=0)
    covariance = (apart - centre).T @ (apart - centre) / len(apart)
    spread, axes = np.linalg.eigh(covariance)
    total = float(original.var(axis=0).mean()) or 1.0
    return axes / np.sqrt(np.maximum(spread, _SINGULAR * total)), centre
