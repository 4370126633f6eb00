"""Attribute divergence: how far the distribution of the masked values is from that of the original ones.

Source: Yamazoe and Omote (2021), section 5.2, "Basic analysis"; Lin (1991) for the Jensen-Shannon divergence.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from policies.rules.attack_rule import Figure
from policies.rules.attribute_rule import AttributeRule, refuse_excess
from sluice.ground import divergence as distributions
from sluice.ground.sentence import Sentence, word
from sluice.ground.verdict import Finding
from sluice.risk.attacks.released_column import released_column
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison

_DIVERGE = Sentence(
    "attribute_divergence.divergence",
    "The masked values of {name:word} are distributed {how} the original ones: {divergence:word} divergence "
    "{value:.3g}, from 0 for the same. The nearer they are, the easier masked values are matched to original ones.",
)


class AttributeDivergence(AttributeRule):
    """The masked values are distributed differently enough from the original ones.

    As a risk, small is worse: by two equal distributions the masked values can be matched to the original ones, rank
    by rank (Yamazoe and Omote 2021, section 5.2). As a loss, large is worse: that is for the limits on utility.
    """

    rule: Literal["attribute_divergence"] = "attribute_divergence"
    example: ClassVar[str] = "{rule: attribute_divergence, limit: 0.001}"
    advice: ClassVar[str] = (
        "The marginal distribution is all but unchanged, so masked values match original ones rank by rank: use a "
        "method that changes the marginal (noise, PRAM, synthesis) rather than one that permutes values."
    )
    limit: Figure = Field(gt=0, description="least allowed, in the unit of the divergence; less is a risk")
    excess: None = Field(default=None, description="none: the figure is itself a difference between two files")
    divergence: distributions.Divergence = Field(
        default="jensen_shannon", description="all but kullback_leibler are from 0 to 1"
    )
    bins: int = Field(default=20, ge=2, le=1000, description="intervals of numbers and dates, of equal shares")
    pseudo_count: float = Field(
        default=0.5, gt=0, le=10, description="for kullback_leibler: added to every bin, so that none is empty"
    )

    @field_validator("excess", mode="before")
    @classmethod
    def _no_excess(cls, value: Any) -> None:
        refuse_excess("attribute_divergence", value)

    def examine(self, files: Comparison, name: str) -> Finding:
        masked = released_column(files.masked, name)
        before, after = distributions.counts_of(files.recoded[name], masked, self.bins)
        pseudo_count = self.pseudo_count if self.divergence == "kullback_leibler" else 0.0
        value = distributions.divergence(self.divergence, before, after, pseudo_count)
        n = len(files.original)
        says = _DIVERGE(
            name=name, how="as" if value == 0 else "differently from", divergence=self.divergence, value=value
        )
        return self.judge(Measurement(value, n, n, worse="lower"), says, name)

    def figure(self, value: float) -> float | str:
        return f"{value:.4g}"

    def describe(self) -> str:
        return (
            f"The distribution of the masked values of {self.of_what} lies at least {self.limit:.3g} from the original "
            f"one by {word(self.divergence)} divergence."
        )
