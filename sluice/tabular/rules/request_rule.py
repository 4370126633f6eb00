"""The request rule: contributors who asked for protection.

Source: Hundepool and others (2012), section 4.2.

Foreign trade statistics are protected on request alone. A cell that was unsafe before may stay so until who asked holds
less: a second, lower threshold. tau-ARGUS looks at the largest contributor only, here each who asked is looked at.
Where it is not known who asked (plain `Contributions`, of what is left without a contributor for instance), everybody
counts as having asked, of unsafe cells before, too, which is the safe side.
"""

from collections.abc import Mapping
from math import ceil
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.ground.document_parts import Percent
from sluice.tabular.model.cells import Contributions, Integers, RequestedContributions
from sluice.tabular.rules.contributions import percentage, shortfall, sum_of_largest
from sluice.tabular.rules.sensitivity import SensitivityRule


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
    k_before: Percent | None = Field(
        default=None, description="percent, at most k: of those who ask and whose cells were unsafe before"
    )

    @model_validator(mode="after")
    def _stays_unsafe_for_longer(self) -> Self:
        if self.k_before is not None and self.k_before > self.k:
            raise ValueError(f"k_before must be at most k: what was unsafe stays so for longer; got {self.k_before:g}")
        return self

    @property
    def _lowest(self) -> float:
        return self.k if self.k_before is None else self.k_before

    @property
    def largest_needed(self) -> int:
        share = percentage(self._lowest, "k", self.rule)
        return max(1, ceil(1 / share) - 1)  # no more can have more than k percent each

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        sum_of_largest(contributions, self.largest_needed)  # refuses cells of which too few are known
        requests = before = np.ones(contributions.largest.shape, dtype=bool)
        if isinstance(contributions, RequestedContributions):
            requests, before = contributions.requests, contributions.before
        found: list[Integers] = []
        for percent, asking in ((self.k, requests), (self._lowest, before)):
            largest = np.where(asking, contributions.largest, 0).max(axis=1)
            found.append(shortfall(1 / percentage(percent, "k", self.rule), largest, contributions.total))
        return np.maximum(*found)

    def describe(self) -> str:
        says = f"A cell is not published when a contributor who asked for it holds more than {self.k:g} % of it"
        return f"{says}." if self.k_before is None else f"{says}, or {self.k_before:g} % where it was unsafe before."
