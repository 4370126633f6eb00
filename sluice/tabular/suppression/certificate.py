"""A certificate: a proof, checked by plain arithmetic, that published sums leave a suppressed cell open.

A change y of the suppressed cells, in whole units, that keeps every sum (A y = 0) and stays within what attackers know
of each cell makes of the true table one that they cannot tell from it; y at the sensitive cell is how far they must be
in doubt.

Source: the attacker's problem of Fischetti and Salazar-González (2001), section 2; a certificate is a feasible point of
it.
"""

from dataclasses import dataclass

import numpy as np

from sluice.tabular.model.cells import Booleans, Cells, Codes, Floats


@dataclass(frozen=True, eq=False)
class Certificate:
    """A change that published sums cannot tell.

    of     : the cells whose sum it moves: one sensitive cell, or a union that is sensitive
    cells  : shape (s,), which cells change, in rising order
    change : shape (s,), by how much, in whole units of the last decimal
    both   : whether the opposite change is within the bounds, too
    reader : for whom, by number
    """

    of: tuple[int, ...]
    cells: Codes
    change: Floats
    both: bool
    reader: int = 0

    @property
    def moves(self) -> float:
        """How far the sum of the cells `of` moves."""
        return float(self.change[np.isin(self.cells, self.of)].sum())

    def holds(self, cells: Cells, suppressed: Booleans, lower: Floats, upper: Floats) -> bool:
        """True when it changes suppressed cells alone, by whole units, keeps every sum and stays within the bounds.

        suppressed : shape (c,), the cells that are not published
        lower      : shape (c,), what its reader believes possible of each cell, as `upper`
        cost       : O(entries of the equations that its cells stand in)
        """
        if not suppressed[self.cells].all():
            return False
        if (self.change != np.rint(self.change)).any() or (self.change @ cells.by_cell[self.cells]).any():
            return False
        total = cells.total[self.cells]
        slack = 1e-9 * np.maximum(np.abs(total), 1)
        down, up = lower[self.cells] - total - slack, upper[self.cells] - total + slack
        inside = (self.change >= down) & (self.change <= up)
        if self.both:
            inside &= (-self.change >= down) & (-self.change <= up)
        return bool(inside.all())
