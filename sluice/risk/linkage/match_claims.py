"""Claims: how sure an intruder may be that the best match is the right one.

Scores add up what variables say as if they were independent, and so are too sure of themselves. How much too sure is
learned from people whose pairs are known: by one temperature for all scores, under which the best candidate has a share
of all. But where a few are barely masked among many who are not, one temperature for everybody would let nobody be
claimed. So a match is claimed by whichever tells most, of that share, of how far the best candidate leads the second
one, of how many times farther the second one is, and of how near the best one is; from the value on that gains most
right claims over wrong ones among those people.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.linkage.learned_linker import Candidates

_TEMPERATURES = (-3.0, 5.0)  # natural logarithms
_LARGEST_LOGIT = 30.0


@dataclass(frozen=True)
class Calibration:
    """What turns scores into the probability that the best match is the right one, and into claims.

    gain : right claims less wrong ones, of the people learned from
    """

    temperature: float
    sign: str  # by which of `SIGNS` it is claimed
    least: float  # from which value on; infinite: nothing is claimed
    gain: int

    @classmethod
    def learn(cls, candidates: Candidates) -> Self:
        """Learned from people whose own records are known, whom the scores were not learned from."""
        from scipy.optimize import minimize_scalar  # loaded where it is needed

        masses = _Masses(candidates)

        def loss(log_temperature: float) -> float:
            own, all_ = masses.at(np.exp(log_temperature))
            return -float(np.mean(np.log(np.maximum(own / all_, 1e-300))))

        temperature = float(np.exp(minimize_scalar(loss, bounds=_TEMPERATURES, method="bounded").x))
        signs = Signs.of(candidates, temperature)
        best = cls(temperature, "share", np.inf, 0)
        for name, values in signs.values.items():
            least, gain = _threshold(values, signs.right)
            if gain > best.gain:
                best = replace(best, sign=name, least=least, gain=gain)
        return best

    def claims(self, candidates: Candidates) -> tuple[BoolArray, BoolArray]:
        """Who is claimed to be found, more likely than not, and of whom this is right, shapes (q,)."""
        claimed = (SIGNS[self.sign](candidates, self.temperature) >= self.least) & ~_tied(candidates)
        return claimed, claimed & _right(candidates)

    def claims_without(self, candidates: Candidates) -> BoolArray:
        """Who would be claimed in the released file without the own record: never rightly."""
        return self.claims(replace(candidates, own=np.full(len(candidates.own), -np.inf)))[0]


@dataclass(frozen=True)
class Signs:
    """What tells of each of q people that the best match is the right one, and whether it is.

    values : by the names of `SIGNS`, shapes (q,); minus infinity where several records score highest
    """

    values: Mapping[str, FloatArray]
    right: BoolArray

    @classmethod
    def of(cls, candidates: Candidates, temperature: float) -> Self:
        tied = _tied(candidates)
        values = {name: np.where(tied, -np.inf, sign(candidates, temperature)) for name, sign in SIGNS.items()}
        return cls(values, _right(candidates))

    def claimed_rightly(self, group: IntArray) -> IntArray:
        """Of a group of these people, those who are claimed rightly by what tells most of the group alone."""
        right, best, claimed = self.right[group], 0, np.zeros(len(group), np.bool_)
        for values in self.values.values():
            least, gain = _threshold(values[group], right)
            if gain > best:
                best, claimed = gain, values[group] >= least
        return group[claimed & right]


def claimed_in_learning(one: Candidates, other: Candidates) -> int:
    """Right claims less wrong ones on two sets of people, each by what was learned on the other."""
    gain = 0
    for learned_on, tried_on in ((one, other), (other, one)):
        claimed, right = Calibration.learn(learned_on).claims(tried_on)
        gain += 2 * int(right.sum()) - int(claimed.sum())
    return gain


def _threshold(values: FloatArray, right: BoolArray) -> tuple[float, int]:
    """The value from which on most claims are right over wrong, and by how many; halfway to the next lower value."""
    order = np.argsort(-values, kind="stable")
    sorted_values = values[order]
    gains = np.cumsum(np.where(right[order], 1, -1))
    ends = np.append(sorted_values[1:] < sorted_values[:-1], True) & np.isfinite(sorted_values)  # equal ones together
    if not ends.any():
        return np.inf, 0
    at = int(np.argmax(np.where(ends, gains, -len(gains) - 1)))
    if gains[at] <= 0:
        return np.inf, 0
    lower = sorted_values[at + 1] if at + 1 < len(values) else -np.inf
    return float((sorted_values[at] + lower) / 2), int(gains[at])


def _right(candidates: Candidates) -> BoolArray:
    return np.asarray(candidates.own > candidates.scores[:, 0])


def _tied(candidates: Candidates) -> BoolArray:
    """Whether several records score highest, so that none can be claimed."""
    best, own = candidates.scores[:, 0], candidates.own
    return np.asarray(np.where(own > best, False, (own == best) | (candidates.ties > 1)))


def _best_two(candidates: Candidates) -> tuple[FloatArray, FloatArray]:
    """Scores of the best two of all candidates, the own one among them, shapes (q,)."""
    scores = np.column_stack([candidates.own, candidates.scores[:, :2]])
    two = -np.sort(-scores, axis=1)[:, :2] if scores.shape[1] > 1 else np.column_stack([scores, scores - np.inf])
    return two[:, 0], two[:, 1]


def _lead(candidates: Candidates, temperature: float) -> FloatArray:
    best, second = _best_two(candidates)
    return np.where(np.isfinite(best), best - second, -np.inf)


def _times_farther(candidates: Candidates, temperature: float) -> FloatArray:
    """Logarithm of the second's squared distance over the best one's, where scores are distances, at most 0."""
    best, second = _best_two(candidates)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.maximum(-second, 1e-300)) - np.log(np.maximum(-best, 1e-300))
    return np.where((best > 0) | ~np.isfinite(best), -np.inf, np.minimum(ratio, 1e3))


def _closeness(candidates: Candidates, temperature: float) -> FloatArray:
    return _best_two(candidates)[0]


class _Masses:
    """Of own and all candidates, relative to the best, at any temperature, shapes (q,)."""

    def __init__(self, candidates: Candidates) -> None:
        scores, own = candidates.scores, candidates.own
        best = np.maximum(own, scores[:, 0])
        self._others, self._own = scores - best[:, None], own - best
        listed = (scores == scores[:, :1]).sum(axis=1)
        self._more = np.maximum(candidates.ties - listed, 0)  # ties that the list does not hold

    def at(self, temperature: float) -> tuple[FloatArray, FloatArray]:
        relative, own = np.exp(self._others / temperature), np.exp(self._own / temperature)
        return own, own + relative.sum(axis=1) + self._more * relative[:, 0]


def _share(candidates: Candidates, temperature: float) -> FloatArray:
    """Logit of the best candidate's share of all."""
    _, all_ = _Masses(candidates).at(temperature)
    return np.asarray(np.minimum(-np.log(np.maximum(all_ - 1.0, 1e-13)), _LARGEST_LOGIT))


SIGNS: dict[str, Callable[[Candidates, float], FloatArray]] = {
    "share": _share, "lead": _lead, "times farther": _times_farther, "closeness": _closeness,
}  # fmt: skip
"""What may tell that the best match is right: values of shape (q,), the higher the surer."""
