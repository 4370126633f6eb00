"""The posterior of candidates: how probable each released record is the person's, and without the own record.

Scores are sums of weights, which count what dependent variables share several times. So they are divided by a
temperature, under which the probabilities are right on people whose records are known (`learned_claims`).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.linkage.learned_linker import Candidates


@dataclass(frozen=True)
class CandidatePosterior:
    """The candidates of q people, the own record first, and their probabilities."""

    rows: IntArray  # (q, k + 1) released records, -1 for none
    shares: FloatArray  # (q, k + 1) of a sum of at most 1: what is left belongs to equal records beyond the k
    without: FloatArray  # (q, k + 1) the same in a file without the own record, whose share is 0

    @classmethod
    def of(cls, people: IntArray, candidates: Candidates, temperature: float) -> Self:
        """The posterior of people whose own released records are `people`, shape (q,)."""
        k = candidates.rows.shape[1]
        scores = np.column_stack([candidates.own, candidates.scores])
        with np.errstate(invalid="ignore"):
            mass = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
        mass[~np.isfinite(scores)] = 0
        # Of more than k records that score the same, k are listed: the others count, and nobody reads them.
        tied = (candidates.scores == candidates.scores[:, :1]).sum(axis=1)
        unlisted = np.where(tied == k, np.maximum(0, candidates.ties - tied), 0) * mass[:, 1]
        mass[candidates.own < candidates.scores[:, -1], 0] = 0  # the list would not hold it
        others = mass.copy()
        others[:, 0] = 0
        return cls(
            np.column_stack([people, candidates.rows]),
            mass / np.maximum(mass.sum(axis=1) + unlisted, 1e-300)[:, None],
            others / np.maximum(others.sum(axis=1) + unlisted, 1e-300)[:, None],
        )

    @property
    def sure(self) -> BoolArray:
        """Of whom one candidate is more probable than all others together."""
        return np.asarray(self.shares.max(axis=1) > 0.5)

    @property
    def sure_without(self) -> BoolArray:
        """The same in a file without the own record, where this is never right."""
        return np.asarray(self.without.max(axis=1) > 0.5)
