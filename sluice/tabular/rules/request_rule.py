"""The request rule: contributors who asked for protection.

Source: Hundepool and others (2012), section 4.2.

Foreign trade statistics are protected on request alone. tau-ARGUS looks at the largest contributor only, here each who
asked is looked at. Where it is not known who asked (plain `Contributions`, of a union of cells for instance), everybody
counts as having asked, which is the safe side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.document_parts import Percent
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


class RequestRule(SensitivityRule):
    """No contributor who asked for protection holds more than k percent of a cell."""

    rule: Literal["request_rule"] = "request_rule"
    example: ClassVar[str] = "{rule: request_rule, k: 70}"
    largest: ClassVar[Mapping[str, float]] = {"k": 100.0}  # percent of the cell
    advice: ClassVar[str] = (
        "A contributor who asked for protection holds too much of the cell: suppress it with complements, or merge it "
        "with a category in which the contributor weighs less. Only the contributor can lift the request."
    )
    k: Percent = Field(description="percent")

    @property
    def largest_needed(self) -> int:
        return max(1, ceil(1 / percentage(self.k, "k", self.rule)) - 1)  # no more can have more than k percent each

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        sum_of_largest(contributions, self.largest_needed)  # refuses cells of which too few are known
        largest = contributions.largest
        if isinstance(contributions, RequestedContributions):
            largest = np.where(contributions.requests, largest, 0)
        return shortfall(1 / percentage(self.k, "k", self.rule), largest.max(axis=1), contributions.total)

    def describe(self) -> str:
        return f"A cell is not published when a contributor who asked for it holds more than {self.k:g} % of it."
