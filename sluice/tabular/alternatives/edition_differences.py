"""What the figures of two editions of cell-key counts tell of those who came or left in between.

A cell of the same records has the same figure in both, so a figure that changed says that somebody came or left there.
Who knows of one person that it did, and looks for it among the innermost cells that changed, finds it where most of
the changes are. The noise hides few of them: a cell that lost a record is looked up anew, and seldom ends at the same
figure.

Source: this project's own; on differencing, Fraser and Wooton (2005).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from sluice.tabular.model.cells import Booleans, Floats, Integers


@dataclass(frozen=True)
class EditionDifferences:
    """Of two editions of the same innermost cells.

    changes : by how many records the cells differ, all together
    cells   : how many of those that differ have another figure
    guess   : the chance that the best guess of the cell of somebody who came or left is right; 0 where nobody did
    """

    changes: int
    cells: int
    guess: float

    @classmethod
    def of(
        cls, before: Integers, now: Integers, published_before: Integers, published_now: Integers, inner: Booleans
    ) -> Self:
        """Counts and figures of both editions, each of shape (c,), 0 where a cell is empty or not listed.

        inner : shape (c,), the cells that are no sums
        """
        change = np.where(inner, np.abs(now - before), 0)
        seen = (change > 0) & (published_before != published_now)
        total = int(change.sum())
        most = int(change[seen].max(initial=0))
        return cls(total, int(seen.sum()), most / total if total else 0.0)


def chance_of_another_figure(noise: Floats) -> float:
    """The chance that two cells that differ by one record have different figures.

    noise : shape (v,), the probabilities of the noise of a large count, in rising order of the noise
    """
    return float(1 - noise[:-1] @ noise[1:])
