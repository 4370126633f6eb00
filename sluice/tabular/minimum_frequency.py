"""Minimum frequency: a cell with fewer than n contributors is sensitive.

Source: 004_1eece6b9d3791e64.txt, "Disclosure problems": the single person of a cell is disclosed to everybody, each of
two persons to the other.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.errors import DataError
from sluice.tabular import cells
from sluice.tabular.contributions import Contributions, largest_first
from sluice.tabular.sensitivity import SensitivityRule


@dataclass(frozen=True)
class MinimumFrequency(SensitivityRule):
    """A cell has at least n contributors; `protection_percent` of the largest contribution must stay open."""

    rule: ClassVar[str] = "minimum_frequency"
    n: int
    protection_percent: float = 10

    @property
    def largest_needed(self) -> int:
        return self.n

    def sensitive(self, contributions: cells.Contributions) -> cells.Booleans:
        return (contributions.contributors > 0) & (contributions.contributors < self.n)

    def protection(self, contributions: cells.Contributions, outsider: bool = False) -> cells.Integers:
        level = np.ceil(contributions.largest[:, 0] * self.protection_percent / 100).astype(np.int64)
        return np.where(self.sensitive(contributions), np.maximum(level, 1), 0)


def minimum_frequency(contributions: Contributions, n: int) -> bool:
    """True when the cell is sensitive: it has contributors, but fewer than n.

    contributions : shape (c,), one entry a contributor, 0 or more; a contributor of 0 counts. No entry at all is an
                    empty cell, which speaks of nobody and is safe
    raises        : DataError if n < 1 or a contribution is negative or not finite
    """
    if n < 1:
        raise DataError(f"n of minimum_frequency must be 1 or more; got {n}.")
    return 0 < len(largest_first(contributions, "minimum_frequency")) < n
