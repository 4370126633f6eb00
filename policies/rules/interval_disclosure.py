"""Interval disclosure: original values that lie near their masked value.

Source: Torra (2013), "Average of 1-7 variables"; Mateo-Sanz, Sebe and Domingo-Ferrer (2004) for intervals in standard
deviations.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policies.rules.paired_rule import RankedRule, Window, ranks_or_numbers, told_share
from sluice.ground.sentence import Sentences
from sluice.ground.verdict import Finding
from sluice.risk.linkage import interval_disclosure as intervals
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "interval_disclosure",
    inside="{share:Percent} of the original values of {names:commas} lie in a narrow interval around their masked "
    "value ({interval}).",
    no_values="No value is present both before and after masking.",
)


class IntervalDisclosure(RankedRule):
    """Few original values lie in a narrow interval around their masked value."""

    rule: Literal["interval_disclosure"] = "interval_disclosure"
    example: ClassVar[str] = "{rule: interval_disclosure, limit: 0.6}"
    advice: ClassVar[str] = (
        "Masked values stay within a narrow interval of the original ones: mask these variables with a larger amount "
        "of noise, window or base. It matters most for sensitive amounts, where nearly right is right."
    )
    by: Literal["rank", "spread"] = Field(
        default="rank", description="what the widths are shares of: the records in order, or a (robust) spread"
    )
    widths: Annotated[tuple[Window, ...], Field(min_length=1)] = Field(
        default=intervals.WIDTHS, description="half widths of the intervals over which the share is averaged, in (0, 1]"
    )

    def attack(self, files: Comparison, names: list[str]) -> Finding:
        original, masked = (ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        measured = intervals.interval_disclosure(original, masked, self.by, self.widths)
        if not measured.completed:
            return self.unknown(_SAYS.no_values(), measured.attempted, ", ".join(names))
        share = told_share(measured.value, measured.completed, files.minimum_cell)
        says = _SAYS.inside(share=share, names=names, interval=self._interval)
        return self.judge(measured, says, ", ".join(names), files.minimum_cell)

    @property
    def _interval(self) -> str:
        of = "the records in order" if self.by == "rank" else "the variable's spread"
        low, high = 100 * min(self.widths), 100 * max(self.widths)
        return f"{low:g} % of {of} to either side" if low == high else f"{low:g} to {high:g} % of {of} to either side"

    def describe(self) -> str:
        what = "quasi-identifiers and sensitive variables" if self.columns is None else ", ".join(self.columns)
        return f"Few original values of {what} lie near their masked value ({self._interval}; interval disclosure)."
