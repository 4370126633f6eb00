"""How many an attack reaches, and the people on whom it is learned, chosen and judged."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

Z_OF_MANY = 3.0
"""Standard errors of an interval where one category of several is the worst."""

PAIRS = 30_000_000
"""Of people and records that are scored at most."""

JUDGED = 400
"""People."""

_Z = 1.96
_LEARNERS = 4_000
_CHOSEN_ON = 150  # people


@dataclass(frozen=True)
class Reach:
    """Of so many people so many were reached; one household counts as one where its members are found together."""

    right: float
    people: float
    z: float = _Z
    variance: float | None = None  # of `right`, where that is a difference and no count

    @property
    def share(self) -> float:
        return self.right / self.people if self.people else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's."""
        if not self.people:
            return 0.0, 1.0
        n, z, p = self.people, self.z, min(1.0, max(0.0, self.share))
        if self.variance is not None:
            half = z * sqrt(self.variance + 1.0) / n
            return self.share - half, self.share + half
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)

    def __add__(self, other: "Reach") -> "Reach":
        variance = None if self.variance is None else self.variance + (other.variance or 0.0)
        return Reach(self.right + other.right, self.people + other.people, self.z, variance)


Reaches = dict[str, Reach]
"""By the aim of an attack."""


@dataclass(frozen=True)
class Parts:
    learners: Rows
    chosen_on: Rows
    judged: Rows

    @classmethod
    def of(cls, n: int, rng: np.random.Generator) -> "Parts":
        order = rng.permutation(n)
        half = n // 2
        room = min(_CHOSEN_ON + JUDGED, max(120, PAIRS // max(1, n)), n - half)
        first = room * _CHOSEN_ON // (_CHOSEN_ON + JUDGED)
        return cls(order[:half][:_LEARNERS], order[half : half + first], order[half + first : half + room])
