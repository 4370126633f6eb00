"""Rules on one cell of a table, given the contributions that it adds up.

Shown a file of records they answer `UNKNOWN`, so a policy written for tables lets no file of records out.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from policies.rules.rule import Percent, Rule
from policies.waivers import Waiver, apply_waivers
from sluice.tabular.rules import dominance, minimum_frequency, p_percent, prior_posterior, request_rule, zero_cells
from sluice.tabular.rules.contributions import Values, one_cell
from sluice.tabular.rules.sensitivity import SensitivityRule
from sluice.variables import Variables
from sluice.verdict import Finding, Verdict


class TableRule(Rule):
    """A rule on one cell of a table: is its value sensitive, given the contributions that it adds up?"""

    @abstractmethod
    def sensitivity(self) -> SensitivityRule:
        """The rule with its thresholds, ready to judge all cells of a table at once."""

    def is_sensitive(self, contributions: Values) -> bool:
        """True when the cell may not be published. Raises DataError unless all contributions are finite and >= 0."""
        return bool(self.sensitivity().sensitive(one_cell(contributions, self.rule))[0])

    def find(self, frame: pd.DataFrame, variables: Variables, stage: str, unit: str = "records") -> list[Finding]:
        return [self.unknown(stage, f"The rule {self.rule} is for the cells of a table, not for {unit}.", len(frame))]


class MinimumFrequency(TableRule):
    """A cell has at least n contributors."""

    rule: Literal["minimum_frequency"] = "minimum_frequency"
    n: int = Field(ge=2, description="smallest number of contributors that is published")
    protection_percent: Percent = Field(
        default=10, description="percent of the largest contribution by which a suppressed total must stay uncertain"
    )
    zeros_safe: bool = Field(default=False, description="a cell is safe when all who contribute report 0")

    def sensitivity(self) -> SensitivityRule:
        return minimum_frequency.MinimumFrequency(self.n, self.protection_percent, self.zeros_safe)

    def describe(self) -> str:
        but = ", unless all of them report 0" if self.zeros_safe else ""
        return f"A cell to which fewer than {self.n} contribute is not published{but}."


class ZeroCells(TableRule):
    """A cell of zeros is not published, because its total tells every contribution."""

    rule: Literal["zero_cells"] = "zero_cells"
    protection_units: int = Field(
        default=1, ge=1, description="how large an attacker must believe it, in units of the measure's last decimal"
    )

    def sensitivity(self) -> SensitivityRule:
        return zero_cells.ZeroCells(self.protection_units)

    def describe(self) -> str:
        return "A cell is not published when all who contribute to it report 0."


class Dominance(TableRule):
    """The n largest contributors hold at most k percent of a cell."""

    rule: Literal["dominance"] = "dominance"
    n: int = Field(ge=1)
    k: Percent = Field(description="percent")

    def sensitivity(self) -> SensitivityRule:
        return dominance.Dominance(self.n, self.k)

    def describe(self) -> str:
        who = "largest contributor holds" if self.n == 1 else f"{self.n} largest contributors hold"
        return f"A cell is not published when its {who} more than {self.k:g} % of it."


class PPercent(TableRule):
    """No contributor can compute another's contribution to within p percent."""

    rule: Literal["p_percent"] = "p_percent"
    p: Percent = Field(description="percent")
    coalition: int = Field(default=1, ge=1, description="how many contributors pool what they know")

    def sensitivity(self) -> SensitivityRule:
        return p_percent.PPercent(self.p, self.coalition)

    def describe(self) -> str:
        return (
            f"A cell is not published when {_attackers(self.coalition)} could compute the largest contribution to "
            f"within {self.p:g} %."
        )


class PriorPosterior(TableRule):
    """Who knows each contribution to within q percent beforehand cannot tell one to within p percent afterwards."""

    rule: Literal["prior_posterior"] = "prior_posterior"
    p: Percent = Field(description="percent, afterwards")
    q: Percent = Field(description="percent, beforehand; above p")
    coalition: int = Field(default=1, ge=1, description="how many contributors pool what they know")

    @model_validator(mode="after")
    def _learns(self) -> Self:
        if self.p >= self.q:
            raise ValueError(f"p must be below q, the prior knowledge; got p {self.p:g} and q {self.q:g}")
        return self

    def sensitivity(self) -> SensitivityRule:
        return prior_posterior.PriorPosterior(self.p, self.q, self.coalition)

    def describe(self) -> str:
        return (
            f"A cell is not published when {_attackers(self.coalition)}, knowing every other contribution to within "
            f"{self.q:g} % beforehand, could compute the largest to within {self.p:g} %."
        )


class RequestRule(TableRule):
    """No contributor who asked for protection holds more than k percent of a cell."""

    rule: Literal["request_rule"] = "request_rule"
    k: Percent = Field(description="percent")

    def sensitivity(self) -> SensitivityRule:
        return request_rule.RequestRule(self.k)

    def describe(self) -> str:
        return f"A cell is not published when a contributor who asked for it holds more than {self.k:g} % of it."


def _attackers(coalition: int) -> str:
    if coalition == 1:
        return "its second largest contributor"
    return f"{coalition} contributors together, the next largest,"


def waived_cells(
    needed: Iterable[tuple[str, str]], waivers: Sequence[Waiver], release_name: str, today: date, submitter: str = ""
) -> tuple[list[Finding], set[tuple[str, str]]]:
    """Which sensitive cells may be published all the same, and the findings that the report goes on showing.

    needed  : (rule, cell), as `sluice.tabular.suppression.manual_status.waivers_needed` gives them
    waivers : of the policy; `rule` is the rule that calls the cell sensitive and `scope` the cell by its codes, such as
              "nace KA1, region Total"
    returns : one finding for each that is needed, FAIL and marked with its waiver if there is a live one, and remarks;
              the (rule, cell) that are waived, for `apply_manual`
    """
    findings = [
        Finding(
            rule=rule,
            verdict=Verdict.FAIL,
            stage="original",
            scope=cell,
            says=f"The manual file asks to publish the cell {cell}, which is sensitive.",
        )
        for rule, cell in needed
    ]
    named = {finding.rule for finding in findings}
    scopes = {finding.scope for finding in findings}
    for_cells = [waiver for waiver in waivers if waiver.rule in named and waiver.scope in {*scopes, release_name}]
    judged = apply_waivers(findings, for_cells, release_name, today, submitter)
    return judged, {(finding.rule, finding.scope) for finding in judged[: len(findings)] if finding.waiver}
