"""Prediction distance, ambiguity and uncertainty: what a released file tells of each original record.

Source: Lasko and Vinterbo (2010), section II.A, "Prediction distance", "Prediction ambiguity", "Prediction uncertainty"
and equation (1). Low distance: the file holds a record much like this person's. Low ambiguity: it stands out from the
next ones. Low uncertainty: the nearest records agree, so that it does not matter which of them is the person's.

Whether a released file tells more than the reference does is a one-sided comparison with a margin and three answers.
Source: Lasko and Vinterbo (2010), section II.A: a Kolmogorov-Smirnov test with a one-sided null hypothesis and a
statistical definition of 'equivalent', "such as for example, a vertical difference of 0.05". Differs from it: a file is
not let through because a test found nothing (which gets easier the fewer the records), but because the difference seen
lies within the margin.
"""

from dataclasses import dataclass
from math import exp, nan

import numpy as np

from sluice.ground.arrays import BoolArray, Codes, FloatArray, IntArray
from sluice.ground.verdict import Verdict
from sluice.risk.coded_points import Points
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.distances.neighbours_of_others import nearest_of_others
from sluice.risk.distances.wide_category import variance_within

_DECIMALS = 9  # measures that agree to so many decimals are tied

_BLOCK_CELLS = 4_000_000  # neighbours are gathered in blocks of 32 MB


@dataclass(frozen=True)
class Prediction:
    """The three measures, each of shape (n,), one value an original record. Small is worse for all three."""

    distance: FloatArray  # to the nearest released record, equation (1): root mean square over the dimensions
    ambiguity: FloatArray  # nearest distance / k-th nearest distance, 0 to 1; 0 / 0 is 0
    uncertainty: FloatArray  # mean over the dimensions of the variance (n - 1) of the k nearest


def prediction(
    original: Points, released: Points, k: int = 5, units: tuple[IntArray, IntArray] | None = None
) -> Prediction:
    """Attack each original record with the whole released file.

    original : shape (n, d), coded records (see sluice.risk.coding), finite
    released : shape (m, d), coded in the same space, m >= k
    units    : who belongs together, of both, shapes (n,) and (m,): records of the own unit do not count
               (leave-one-out)
    raises   : ValueError when k < 2 or there are fewer than k released records of others
    cost     : that of nearest_of_others
    """
    if k < 2:
        raise ValueError(f"k must be at least 2, for a nearest and a k-th nearest record; got {k}")
    near = (
        nearest_neighbours(original, released, k) if units is None else nearest_of_others(original, released, k, *units)
    )
    n, d = original.shape
    nearest, farthest = near.distance[:, 0], near.distance[:, -1]
    uncertainty = variance_within(released, near.index)
    if uncertainty is None:
        uncertainty = np.empty(n)
        rows = max(1, _BLOCK_CELLS // (k * d))
        for start in range(0, n, rows):
            crowd = released[near.index[start : start + rows]]
            crowd = crowd - crowd[:, :1]  # k copies of one record then vary by 0 exactly, not by a rounding error
            uncertainty[start : start + rows] = crowd.var(axis=1, ddof=1).mean(axis=1)
    return Prediction(
        distance=nearest / np.sqrt(d),
        # An exact copy fails even when it stands k times: 0 / 0 is 0, not 1.
        ambiguity=np.divide(nearest, farthest, out=np.zeros(n), where=farthest > 0),
        uncertainty=uncertainty,
    )


@dataclass(frozen=True)
class EquivalenceTest:
    """The largest excess of the release's cumulative share over the reference's, and what follows from it."""

    statistic: float  # D+ = sup_t [F_release(t) - F_reference(t)], 0 to 1; large is worse
    at: float  # the smallest t where it is attained
    release_share: float  # F_release(at)
    reference_share: float  # F_reference(at)
    p_value: float  # bound on the probability of so large a D+ when the true excess is the margin
    verdict: Verdict


def equivalence_test(
    release: FloatArray,
    reference: FloatArray,
    margin: float = 0.05,
    alpha: float = 0.05,
    units: tuple[IntArray, IntArray] | None = None,
) -> EquivalenceTest:
    """PASS when D+ <= margin; FAIL when it is above the margin beyond chance (p < alpha); REVIEW in between.

    release, reference : shapes (n,) and (m,), one measure of which small is worse; equal values are shared exactly.
                         A value that is not a number, or no value at all, makes the answer UNKNOWN
    margin             : tolerated excess, a share of the records; p = exp(-2 max(0, D+ - margin)^2 n m / (n + m)),
                         where n and m are the cases that tell as much
    units              : who belongs together, such as the household of each value, shapes (n,) and (m,); None:
                         everybody is alone
    cost               : O((n + m) log(n + m))
    """
    n, m = len(release), len(reference)
    if n == 0 or m == 0 or np.isnan(release).any() or np.isnan(reference).any():
        return EquivalenceTest(nan, nan, nan, nan, nan, Verdict.UNKNOWN)
    rounded = np.round(release, _DECIMALS), np.round(reference, _DECIMALS)
    release, reference = (np.sort(each) for each in rounded)
    values = np.unique(release)  # F_release - F_reference can only rise at a value of the release
    release_share = np.searchsorted(release, values, side="right") / n
    reference_share = np.searchsorted(reference, values, side="right") / m
    where = int(np.argmax(release_share - reference_share))
    statistic = max(0.0, float(release_share[where] - reference_share[where]))
    cases, others = float(n), float(m)
    if units is not None:
        cases, others = (_cases(each <= values[where], of) for each, of in zip(rounded, units, strict=True))
    p_value = exp(-2 * max(0.0, statistic - margin) ** 2 * cases * others / (cases + others))
    # A difference of two shares that equals the margin may come out above it by the last bits.
    beyond = Verdict.FAIL if p_value < alpha else Verdict.REVIEW
    verdict = Verdict.PASS if statistic <= margin + 1e-12 else beyond
    return EquivalenceTest(
        statistic, float(values[where]), float(release_share[where]), float(reference_share[where]), p_value, verdict
    )


class Excesses:
    """The statistic of `equivalence_test` of many groups of the same people at once, to the last few bits.

    cost : O(n log n) once, and O(n) for each way to part the people; 20 bytes for each of them
    """

    def __init__(self, release: FloatArray, reference: FloatArray) -> None:
        """release, reference : shapes (n,), of the same people; a value that is not a number counts as the largest"""
        values = np.round(np.concatenate([reference, release]), _DECIMALS)
        order = np.argsort(values, kind="stable")  # of equal values those of the reference come first
        n = len(release)
        self._person, self._step = order % n, np.where(order < n, np.int32(-1), np.int32(1))

    def of_groups(self, of: Codes, groups: int) -> FloatArray:
        """of : shape (n,), the group of each person, from 0 on, or -1 for none. Returns shape (groups,)."""
        sizes = np.bincount(of + 1, minlength=groups + 1)
        # Everybody is counted up once and down once, so that each group begins at 0. Nobody would be highest elsewhere
        # than behind all that are equal.
        order = np.argsort((of + 1).astype(np.min_scalar_type(groups))[self._person], kind="stable")
        ahead = np.append(np.cumsum(self._step[order]), 0)
        begins = 2 * (np.cumsum(sizes) - sizes)
        most = np.where(sizes > 0, np.maximum.reduceat(ahead, begins), 0)
        return np.asarray(np.maximum(most, 0)[1:] / np.maximum(sizes[1:], 1))


def _cases(below: BoolArray, units: IntArray) -> float:
    """As many independent cases as tell what these tell, of whom units lie below together or not (Kish 1965).

    At least as many as where all of a unit do: units of s people each move a share by s / n, so that n is n^2 / sum of
    s^2 (Hoeffding 1963, theorem 2). So many, too, where all lie below or nobody does, which tells nothing of it.
    """
    of = np.unique(units, return_inverse=True)[1]
    n, sizes, share = len(units), np.bincount(of).astype(np.float64), float(below.mean())
    worst = n**2 / float((sizes**2).sum())
    together = float((np.bincount(of, below - share) ** 2).sum())
    return float(np.clip(n * n * share * (1 - share) / together, worst, n)) if together > 0 else worst
