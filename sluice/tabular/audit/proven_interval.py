"""How much of a suppressed cell's feasibility interval is proven: how far above and below its value it can lie.

Everything is said as a deviation from the true values: deviations in whole units that add up to nothing in every sum,
that leave alone what the attacker knows and that stay within the bounds are exactly what the attacker cannot tell from
the truth.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sluice.tabular.model.cells import Floats
from sluice.tabular.model.known_sums import Indices


@dataclass(frozen=True)
class Need:
    """What must stay possible for a cell: so much below, so much above, and so wide an interval."""

    lower: float
    upper: float
    sliding: float

    @property
    def nothing(self) -> bool:
        """Whether the cell may be known."""
        return self.lower <= 0 and self.upper <= 0 and self.sliding <= 0

    @property
    def widest(self) -> float:
        """So far both ways, in whole units, is enough."""
        return float(np.ceil(max(self.lower, self.upper, self.sliding / 2)))

    def met(self, below: float, above: float) -> bool:
        """Whether an interval is wide enough, but for what a solver rounds (a thousandth, or a millionth)."""
        lower, upper, width = self.enough
        return below >= lower and above >= upper and below + above >= width

    @cached_property
    def enough(self) -> tuple[float, float, float]:
        """What an interval must reach below and above, and how wide it must be, less what a solver rounds."""
        return _nearly(self.lower), _nearly(self.upper), _nearly(self.sliding)


@dataclass(frozen=True, eq=False)
class Question:
    """How far can `cell` move while the cells `limited` move no further than so much?

    limited      : shape (l,), in rising order
    lower, upper : shape (l,), deviations, 0 or less and 0 or more; both 0 for a cell that is known
    shy          : prefer answers that no contributor can refute
    """

    cell: int
    need: Need
    limited: Indices
    lower: Floats
    upper: Floats
    shy: bool = False

    def limits(self, members: Indices, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """The bounds of the deviations of some cells, in rising order, with these limits."""
        if not len(self.limited):
            return lower, upper
        at = np.searchsorted(members, self.limited)
        there = at < len(members)
        there[there] = members[at[there]] == self.limited[there]
        at, lower, upper = at[there], lower.copy(), upper.copy()
        lower[at] = np.maximum(lower[at], self.lower[there])
        upper[at] = np.minimum(upper[at], self.upper[there])
        return lower, upper


@dataclass(frozen=True, eq=False)
class ProvenInterval:
    """What was found: at least so far below and above, by moving the cells of `support`.

    drop     : shape (s,), how far below its value each of these goes on the way, 0 or more
    complete : whether the search ended: an interval that is too narrow is then the whole of it
    stretch  : how many times as far the same deviations may go
    """

    below: float
    above: float
    support: Indices
    drop: Floats
    complete: bool = True
    stretch: float = 1.0

    @classmethod
    def by_turning(cls, at: int, support: Indices, change: Floats, stretch: float = 1.0) -> "ProvenInterval":
        """By a deviation that may be turned round; `at` is where the cell stands in the support."""
        far = np.abs(change)
        return cls(float(far[at]), float(far[at]), support, far, stretch=stretch)

    @classmethod
    def by_both(
        cls,
        cell: int,
        members: Indices,
        ways: list[Floats],
        complete: bool = True,
        stretch: float = 1.0,
    ) -> "ProvenInterval":
        """By one deviation, or one up and one down.

        members : shape (n,), in rising order, the cell among them
        ways    : each of shape (n,)
        """
        lowest = np.min([np.zeros(len(members)), *ways], axis=0)
        highest = np.max([np.zeros(len(members)), *ways], axis=0)
        moved = np.flatnonzero((lowest < 0) | (highest > 0))
        at = int(np.searchsorted(members, cell))
        below, above = 0.0 - float(lowest[at]), float(highest[at])
        return cls(below, above, members[moved], 0.0 - lowest[moved], complete, stretch)


NOTHING_NEEDED = ProvenInterval(0.0, 0.0, np.zeros(0, dtype=np.intp), np.zeros(0))


def _nearly(amount: float) -> float:
    return amount - max(1e-3, 1e-6 * amount)
