"""What the readers of a protected table are assumed to know before they see it."""

from collections.abc import Iterable
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.document_parts import Percent
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.measure import Measure
from sluice.tabular.rules.sensitivity import SensitivityRule


class FurtherKnowledge(BaseModel):
    """What readers know of one measure beside what a policy says; it takes nothing of that away."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    known_within: Percent | None = Field(
        default=None, description="each cell to within so many percent, from elsewhere"
    )
    coalition: int = Field(default=0, ge=0, le=3, description="contributors who pool what they contributed")


class TableAttackers(BaseModel):
    """Every reader knows all published cells, and that parts add up to their sums; these know more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    known_within: Percent | None = Field(
        default=None, description="each cell to within so many percent, from elsewhere; nothing when not given"
    )
    coalition: int = Field(
        default=1, ge=0, le=3, description="contributors who pool what they contributed; 0: nobody uses it"
    )
    zeros_known: bool = Field(
        default=True, description="everybody knows which cells are zero, but of cells that a rule protects"
    )
    weights_known: bool = Field(
        default=True, description="contributors know their own sampling weights, and so their part of a weighted total"
    )

    def pooled(self, rules: Iterable[SensitivityRule]) -> tuple[SensitivityRule, ...]:
        """The rules, those on what contributors can estimate with as many who pool as there are: what two learn of a
        suppressed cell together they learn of a published one."""
        return tuple(
            rule.model_copy(update={"coalition": self.coalition})
            if getattr(rule, "coalition", self.coalition) < self.coalition
            else rule
            for rule in rules
        )

    def joined(self, further: "FurtherKnowledge") -> "TableAttackers":
        """The same readers, who know what is told of further ones, too."""
        known = [each.known_within for each in (self, further) if each.known_within is not None]
        coalition = max(self.coalition, further.coalition)
        return self.model_copy(update={"known_within": min(known, default=None), "coalition": coalition})

    def known_weights(self, cells: Cells) -> Cells:
        """The cells, without what their contributors know by their weights where these are not known."""
        return cells if self.weights_known else replace(cells, weighted=None)

    def assumptions(self, measure: Measure) -> Assumptions:
        """As the protection and the audit of a table of this measure take them."""
        return Assumptions(
            nonnegative=measure.negative == "refuse",
            known_within=self.known_within,
            coalition=self.coalition,
            zeros_known=self.zeros_known,
            counts=measure.counts,
        )

    def describe(self) -> str:
        """In one plain sentence."""
        known = "nothing else" if self.known_within is None else f"each to within {self.known_within:g} %"
        own = {0: "no contribution", 1: "its own contributions"}.get(
            self.coalition, f"the contributions of {self.coalition} contributors who pool them"
        )
        return (
            f"A reader is assumed to know all published cells, these rules and the method, and {own}; of the "
            f"suppressed cells {known} beforehand."
        )
