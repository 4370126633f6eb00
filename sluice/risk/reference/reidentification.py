"""Reidentification: how often the nearest released record is the person's own, and whether an intruder can tell.

Source: Lasko and Vinterbo (2010), sections IV.D-E and Figure 3: records are matched by the distance of equation (1);
the area under the receiver operating characteristic (AUC) of each prediction measure says how well it tells correct
matches from wrong ones. A rate alone says little: who cannot tell which matches are correct gains nothing by them.
Differs from it: where several released records are equally near, each is as likely to be chosen, so that a match counts
as partly correct and no order of the records shows.
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.coded_points import Points, keys_of, squared_apart
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.measurement import Measurement
from sluice.risk.reference.prediction import prediction
from sluice.risk.row_groups import row_groups

_TIED = 1e-9  # distances that differ by no more, of themselves, are equal
_MOST_TIED = 64  # different records at one distance that are told apart; more count as so many


@dataclass(frozen=True)
class Reidentification:
    """How well an intruder matches people with their records, and knows of it."""

    rate: Measurement  # share of the people matched with their own record, 0 to 1; the baseline is a blind guess
    correct: FloatArray  # (n,) probability that a person's match is correct
    distance: float  # AUC, 0.5 to 1 or below: a near match is a correct one
    ambiguity: float  # AUC: a match that stands out is a correct one
    uncertainty: float  # AUC: a match whose neighbours differ is a correct one. NaN where all matches are alike

    @property
    def best(self) -> float:
        """The largest AUC; NaN when all matches are correct or none is."""
        return float(np.fmax.reduce([self.distance, self.ambiguity, self.uncertainty]))


def reidentification(original: Points, released: Points, rows: IntArray, k: int = 5) -> Reidentification:
    """Match people with the nearest released record.

    original : shape (n, d), coded records
    released : shape (n, d), coded in the same space; row i is the masked record of row i of `original`
    rows     : shape (r,), the original records that are matched, r >= 1
    k        : released records looked at for ambiguity and uncertainty
    raises   : ValueError when the two files differ in shape, there is no row, or k is not from 2 to n
    cost     : that of nearest_neighbours, twice, for r queries
    """
    if original.shape != released.shape or not len(rows):
        raise ValueError(
            f"original and released must be paired row by row, and a row asked for; got shapes {original.shape} and "
            f"{released.shape}, and {len(rows)} rows. A file without a pairing has no reidentification rate."
        )
    queries = original.take(rows, axis=0)
    found = prediction(queries, released, k)
    nearest = found.distance * np.sqrt(original.shape[1])
    own = np.sqrt(squared_apart(original, released, rows))
    correct = np.where(own <= nearest * (1 + _TIED), 1.0, 0.0)
    maybe = np.flatnonzero(correct)
    correct[maybe] /= _equally_near(queries.take(maybe, axis=0), released)
    r = len(rows)
    rate = float(correct.mean())
    error = 1.96 * float(np.sqrt(rate * (1 - rate) / r + 1 / r**2))  # never 0: other draws might have met others
    interval = None if r == len(original) else (max(0.0, rate - error), min(1.0, rate + error))
    return Reidentification(
        rate=Measurement(rate, r, r, interval=interval, baseline=1 / len(released)),
        correct=correct,
        distance=area_under_curve(-found.distance, correct),
        ambiguity=area_under_curve(-found.ambiguity, correct),
        uncertainty=area_under_curve(found.uncertainty, correct),
    )


def area_under_curve(scores: FloatArray, correct: FloatArray) -> float:
    """Probability that a correct match has a larger score than a wrong one, ties halved; NaN when there is either none.

    scores  : shape (n,), finite
    correct : shape (n,), 0 to 1: how much of each case is a correct one, the rest is a wrong one
    cost    : O(n log n)
    """
    _, place = np.unique(np.round(scores, 12), return_inverse=True)
    right, wrong = np.bincount(place, correct), np.bincount(place, 1 - correct)
    if right.sum() <= 0 or wrong.sum() <= 0:
        return nan
    below = np.cumsum(wrong) - wrong / 2
    return float((right * below).sum() / (right.sum() * wrong.sum()))


def _equally_near(queries: Points, released: Points) -> IntArray:
    """How many released records are as near as the nearest, shape (n,)."""
    groups = row_groups(keys_of(released))
    distinct = released.take(groups.first, axis=0)
    count = np.ones(len(queries), np.int64)
    left = np.arange(len(queries))
    for k in (2, _MOST_TIED):
        if not len(left):
            break
        k = min(k, len(distinct))
        found = nearest_neighbours(queries.take(left, axis=0), distinct, k)
        tied = found.distance <= found.distance[:, :1] * (1 + _TIED)
        count[left] = np.where(tied, groups.size[found.index], 0).sum(axis=1)
        left = left[tied[:, -1] & (k < len(distinct))]
    return count
