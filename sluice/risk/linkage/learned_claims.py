"""Learned claims: how sure an intruder may be that the best match is the right one.

Scores add up what variables say as if they were independent, and so are too sure of themselves. How much too sure is
learned from people whose pairs are known: by one temperature for all scores, and a logistic curve from the share that
the best candidate then has to the share of the right ones among the best (Platt 1999).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.risk.linkage.learned_linker import Candidates

_SURE = 0.5  # a claim is confident from here
_TEMPERATURES = (-3.0, 5.0)  # natural logarithms
_LARGEST_LOGIT = 30.0


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
