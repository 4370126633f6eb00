"""The request rule: a cell is sensitive when a contributor who asked for protection holds more than k percent of it.

Source: Hundepool and others (2012), section 4.2 (foreign trade statistics, which are protected on request alone);
tau-ARGUS looks at the largest contributor only, here each who asked is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from sluice.tabular.model.cells import Booleans, Cells, Contributions, Integers
from sluice.tabular.rules.contributions import percentage, shortfall, sum_of_largest
from sluice.tabular.rules.sensitivity import SensitivityRule


@dataclass(frozen=True, eq=False)
class RequestedContributions(Contributions):
    """Contributions of which it is known who asked.

    requests : shape (c, t), as `largest`: whether the one whose contribution it is requests protection
    """

    requests: Booleans

    @classmethod
    def of(cls, cells: Cells, asking: Sequence[int] | Integers) -> "RequestedContributions":
        """The cells' contributions with the requests of some owners, by their numbers in `Cells.owners`."""
        requests = np.isin(cells.owners, np.asarray(asking, dtype=np.int64))
        return cls(cells.contributions.total, cells.contributors, cells.largest, requests)


@dataclass(frozen=True)
class RequestRule(SensitivityRule):
    """No contributor who asked for protection holds more than k percent of a cell.

    Where it is not known who asked (plain `Contributions`, of a union of cells for instance), everybody counts as
    having asked, which is the safe side.
    """

    rule: ClassVar[str] = "request_rule"
    k: float

    def __post_init__(self) -> None:
        percentage(self.k, "k", self.rule)

    @property
    def largest_needed(self) -> int:
        return max(1, ceil(1 / percentage(self.k, "k", self.rule)) - 1)  # no more can have more than k percent each

    def sensitive(self, contributions: Contributions) -> Booleans:
        return self.protection(contributions) > 0

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        sum_of_largest(contributions, self.largest_needed)  # refuses cells of which too few are known
        largest = contributions.largest
        if isinstance(contributions, RequestedContributions):
            largest = np.where(contributions.requests, largest, 0)
        return shortfall(1 / percentage(self.k, "k", self.rule), largest.max(axis=1), contributions.total)
