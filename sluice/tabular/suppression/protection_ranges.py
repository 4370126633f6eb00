"""How far a reader believes that each unknown may lie from its value, and for a moment less: to whoever knows more."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Floats
from sluice.tabular.suppression.unknown_cells import UnknownCells

_ROUNDING = 1e-6  # units


@dataclass(frozen=True, eq=False)
class ProtectionRanges:
    """Shapes (u,), in whole units of the last decimal or infinite.

    down, up : how far below and above its value each may lie
    both     : the smaller of the two
    """

    down: Floats
    up: Floats
    both: Floats

    @classmethod
    def of(cls, unknowns: UnknownCells, down: Floats, up: Floats) -> "ProtectionRanges":
        """Of cells that may lie so far below and above their values, shapes (c,): equal cells change together."""
        down, up = (np.floor(unknowns.min(room) + _ROUNDING) for room in (down, up))
        return cls(down, up, np.minimum(down, up))

    def within(self, side: int) -> tuple[Floats, Floats]:
        """How far a change upwards (1) may go down and up, one downwards (-1) seen in a mirror, and one of both (0)."""
        return {0: (self.both, self.both), 1: (self.down, self.up), -1: (self.up, self.down)}[side]

    @contextmanager
    def narrowed(self, unknowns: NDArray[np.intp], down: Floats) -> Iterator[None]:
        """Leave these, each once, at most so much room downwards meanwhile."""
        before = self.down[unknowns], self.both[unknowns]
        self.down[unknowns] = np.minimum(before[0], down)
        self.both[unknowns] = np.minimum(before[1], down)
        try:
            yield
        finally:
            self.down[unknowns], self.both[unknowns] = before
