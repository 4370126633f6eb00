"""Power: which truth a limit lets pass, before anything is measured.

A figure passes where the upper end of its interval keeps the limit. So the number of people who are judged decides how
far below the limit the truth must lie for a harmless file to pass in 95 of 100 cases, and whether one that shows nobody
can pass at all. Intervals are the gate's own. Of shares the probability is that of the binomial law, over both looks.

Source: Clopper and Pearson (1934), of whose interval this is the reverse.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.risk.attacks.attack_success import AttackSuccess, quantile

ASSURANCE = 0.95
"""How often a file passes whose truth is the one that is said."""

_STEPS = 30  # of bisection

Ends = Callable[[int, int, float], tuple[float, float]]
"""Interval by successes, cases and level."""


@dataclass(frozen=True)
class Look:
    """So many cases, all of the earlier looks among them, and the level of the interval."""

    cases: int
    level: float


def exact_ends(successes: int, cases: int, level: float) -> tuple[float, float]:
    return AttackSuccess(cases, cases, successes).exact(level)


def can_pass(limit: float, looks: Sequence[Look], ends: Ends = exact_ends) -> bool:
    """Whether a file passes of which nobody is found."""
    return any(look.cases > 0 and ends(0, look.cases, look.level)[1] <= limit for look in looks)


def largest_share(limit: float, looks: Sequence[Look], ends: Ends = exact_ends) -> float | None:
    """The largest share of cases, in truth, with which a file passes in 95 of 100 cases; None where none does.

    looks  : one or two; the second is looked at where the first interval crosses the limit
    cost   : O(cases) time for each of 30 steps, where there are two looks
    """
    if not can_pass(limit, looks, ends):
        return None
    at_most = [_successes(look, lambda low, high: high <= limit, ends) for look in looks]
    below = [_successes(look, lambda low, high: low <= limit, ends) for look in looks]

    def passes(share: float) -> float:
        from scipy.special import bdtr  # loaded where it is needed

        first = looks[0].cases
        certain = float(bdtr(at_most[0], first, share)) if at_most[0] >= 0 else 0.0
        if len(looks) == 1:
            return certain
        open_ones = np.arange(at_most[0] + 1, below[0] + 1)
        chances = _probabilities(open_ones, first, share)
        left, more = at_most[1] - open_ones, looks[1].cases - first
        second = np.where(left < 0, 0.0, bdtr(np.clip(left, 0, more), more, share) if more else 1.0)
        return certain + float((chances * second).sum())

    low, high = 0.0, limit
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) >= ASSURANCE else (low, middle)
    return low


def _successes(look: Look, keeps: Callable[[float, float], bool], ends: Ends) -> int:
    """The most successes whose interval keeps to something that more successes keep to less; -1 where none does."""
    low, high = -1, look.cases
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if keeps(*ends(middle, look.cases, look.level)) else (low, middle - 1)
    return low


def _probabilities(successes: "np.ndarray[tuple[int], np.dtype[np.int64]]", cases: int, share: float) -> FloatArray:
    from scipy.special import bdtr  # loaded where it is needed

    below = np.where(successes > 0, bdtr(np.maximum(successes - 1, 0), cases, share), 0.0)
    return np.asarray(bdtr(successes, cases, share) - below)


def largest_difference(limit: float, half_width: float, level: float) -> float:
    """The largest difference of two shares, in truth, with which a file passes in 95 of 100 cases, by the normal law;
    below 0 where not even a file that tells nothing does.

    half_width : of the interval at this level
    """
    return limit - half_width * (1 + quantile(2 * ASSURANCE - 1) / quantile(level))
