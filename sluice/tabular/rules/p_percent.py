"""The p% rule and the prior-posterior rule (p, q): how nearly a contributor can compute another's contribution.

Source: Torra (2013), "Detection of sensitive cells (II)"; Hundepool and others (2012), sections 4.2 and 4.3.

Differs from Torra's example, which compares with half the cell's total (181.5) where the p% rule's own words ask for
half the largest contribution (175). Its protection level is p / 100 x1 - (X - x1 - x2). The worst coalition against the
largest contributor are the next largest, x2 to x(coalition + 1).

By (p, q) a cell is sensitive when q / 100 (X - x1 - x2) < p / 100 x1, and its protection level is
p / q x1 - (X - x1 - x2). With q = 100, when an attacker knows only that contributions are not negative, it is the p%
rule.
"""

from fractions import Fraction
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from sluice.ground.document_parts import Percent
from sluice.tabular.model.cells import Contributions, Integers
from sluice.tabular.rules.contributions import Values, one_cell, percentage, shortfall, sum_of_largest
from sluice.tabular.rules.sensitivity import SensitivityRule


class PPercent(SensitivityRule):
    """No contributor can compute another's contribution to within p percent."""

    rule: Literal["p_percent"] = "p_percent"
    example: ClassVar[str] = "{rule: p_percent, p: 10}"
    about: ClassVar[str] = "The p% rule: how nearly a contributor can compute another's contribution."
    source: ClassVar[str] = (
        'Source: Torra (2013), "Detection of sensitive cells (II)"; Hundepool and others (2012), sections 4.2 and 4.3.'
    )
    advice: ClassVar[str] = (
        "A contributor could compute a competitor's contribution too nearly: give the cell more small contributors by "
        "merging categories, or suppress it and enough others that its feasibility interval is wide."
    )
    p: Percent = Field(description="percent")
    coalition: int = Field(default=1, ge=1, description="how many contributors pool what they know")

    @property
    def largest_needed(self) -> int:
        return 1 + self.coalition

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        share = percentage(self.p, "p", self.rule)
        return protection_of_largest(share, contributions, self.coalition - outsider)

    def describe(self) -> str:
        return (
            f"A cell is not published when {attackers(self.coalition)} could compute the largest contribution to "
            f"within {self.p:g} %."
        )


def protection_of_largest(share: Fraction, contributions: Contributions, pooled: int) -> Integers:
    """How much the contributions other than the largest and the `pooled` next ones lack of `share` of the largest.

    returns : shape (c,), in units of the last decimal, rounded up; 0 where they lack nothing
    """
    rest = contributions.total - sum_of_largest(contributions, 1 + pooled)
    return shortfall(share, sum_of_largest(contributions, 1), rest)


def p_percent(contributions: Values, p: float) -> bool:
    """True when the cell is sensitive: total - x1 - x2 < p / 100 * x1, x1 and x2 being the two largest contributions.

    contributions : shape (c,), 0 or more, in any order
    p             : percent, from 1 to 100
    raises        : DataError if p is out of bounds or a contribution is negative or not finite

    Exactly on the boundary is safe. One or two contributors are always sensitive, unless all contribute 0: of a cell
    of zeros the rule says nothing, although its total tells every contribution.
    """
    return bool(PPercent.model_construct(p=p).sensitive(one_cell(contributions, "p_percent"))[0])


def attackers(coalition: int) -> str:
    """For sentences: who computes the largest contribution."""
    if coalition == 1:
        return "its second largest contributor"
    return f"{coalition} contributors together, the next largest,"


class PriorPosterior(SensitivityRule):
    """An intruder who knows each contribution to within q percent beforehand cannot compute one to within p percent."""

    rule: Literal["prior_posterior"] = "prior_posterior"
    example: ClassVar[str] = "{rule: prior_posterior, p: 10, q: 50}"
    about: ClassVar[str] = "The prior-posterior (p,q) rule: what a contributor learns beyond what everybody knew."
    source: ClassVar[str] = "Source: Hundepool and others (2012), sections 4.2 and 4.3."
    advice: ClassVar[str] = (
        "Together with what everybody knows beforehand, the cell gives its largest contribution away: merge categories "
        "until the other contributors vary enough, or suppress the cell; check that q is what competitors can know."
    )
    p: Percent = Field(description="percent, afterwards")
    q: Percent = Field(description="percent, beforehand; above p")
    coalition: int = Field(default=1, ge=1, description="how many contributors pool what they know")

    @model_validator(mode="after")
    def _learns(self) -> Self:
        if self.p >= self.q:
            raise ValueError(f"p must be below q, the prior knowledge; got p {self.p:g} and q {self.q:g}")
        return self

    @property
    def largest_needed(self) -> int:
        return 1 + self.coalition

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        share = percentage(self.p, "p", self.rule) / percentage(self.q, "q", self.rule)
        return protection_of_largest(share, contributions, self.coalition - outsider)

    def describe(self) -> str:
        return (
            f"A cell is not published when {attackers(self.coalition)}, knowing every other contribution to within "
            f"{self.q:g} % beforehand, could compute the largest to within {self.p:g} %."
        )
