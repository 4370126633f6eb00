"""A certificate: a proof, checked by plain arithmetic, that published sums leave a suppressed cell open.

A change y of the suppressed cells, in whole units, that keeps every sum (A y = 0) and stays within what attackers know
of each cell makes of the true table one that they cannot tell from it; y at the sensitive cell is how far they must be
in doubt.

Source: the attacker's problem of Fischetti and Salazar-González (2001), section 2; a certificate is a feasible point of
it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

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
        """Whether it proves anything; see `holding`."""
        return bool(holding([self], cells, suppressed, lower, upper)[0])


def holding(
    certificates: Sequence[Certificate], cells: Cells, suppressed: Booleans, lower: Floats, upper: Floats
) -> Booleans:
    """Which change suppressed cells alone, by whole units, keep every sum and stay within the bounds; shape (k,).

    suppressed : shape (c,), the cells that are not published
    lower      : shape (c,), what their reader believes possible of each cell, as `upper`
    cost       : O(entries of the equations that their cells stand in)
    """
    lengths = np.array([len(certificate.cells) for certificate in certificates], dtype=np.int64)
    at = np.concatenate([np.zeros(0, dtype=np.int64), *(certificate.cells for certificate in certificates)])
    change = np.concatenate([np.zeros(0), *(certificate.change for certificate in certificates)])
    both = np.repeat(np.array([certificate.both for certificate in certificates], dtype=bool), lengths)
    total = cells.total[at]
    slack = 1e-9 * np.maximum(np.abs(total), 1)
    down, up = lower[at] - total - slack, upper[at] - total + slack
    good = suppressed[at] & (change == np.rint(change)) & (change >= down) & (change <= up)
    good &= ~both | ((-change >= down) & (-change <= up))
    starts = np.cumsum([0, *lengths])
    changes = csr_array((change, at, starts), shape=(len(certificates), len(cells)))
    broken = abs(changes @ cells.by_cell).sum(axis=1) != 0
    holds: Booleans = ~np.asarray(broken).ravel()
    holds[np.repeat(np.arange(len(certificates)), lengths)[~good]] = False
    return holds
