"""Data invasion: guessing the original value of a variable from its masked values alone.

Source: Yamazoe and Omote (2021), section 4.2, Algorithms 1 and 2.
"""

from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.attack_rule import Figure
from policies.rules.attribute_rule import (
    TOO_FEW,
    UNREAD_SHARE,
    UNREADABLE,
    AttributeRule,
    allowed,
    at_least_baseline,
    percentage,
)
from sluice.ground.sentence import Sentences
from sluice.ground.verdict import Finding
from sluice.risk.attacks.data_invasion import data_invasion
from sluice.risk.attacks.released_column import released_column
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "data_invasion",
    unpaired="Which masked record of {name:word} is whose is unknown, so that no guess can be marked.",
    guessed="From the masked values of {name:word} alone, the original one is guessed for {share:.1%} of the {unit}; "
    "always guessing the most frequent value, for {baseline:.1%}.",
    better_of_two=" An intruder takes the better of the two.",
)


class DataInvasion(AttributeRule):
    """The original value of a variable cannot be guessed from its masked values."""

    rule: Literal["data_invasion"] = "data_invasion"
    example: ClassVar[str] = "{rule: data_invasion, excess: 0.05}"
    advice: ClassVar[str] = (
        "The masked values give the original value away without any other variable: move more records to other values "
        "(PRAM with a lower retention, wider swapping), or merge the values that are told apart."
    )
    limit: Figure | None = Field(default=None, ge=0, le=1, description="share of the people whose value is guessed")
    excess: Figure | None = Field(
        default=None, ge=0, le=1, description="how much more than by guessing the most frequent value, share of people"
    )
    level: Literal[1, 2] = Field(
        default=2,
        description="1: the intruder knows which values there are; 2: also how frequent each is, playing both attacks",
    )
    when_misled: Literal["unknown", "guess"] = Field(
        default="unknown",
        description="when the masked values mislead below the most frequent value: unknown, or taken as that guess",
    )

    def examine(self, files: Comparison, name: str) -> Finding:
        n = len(files.original)
        if not files.paired:
            why = _SAYS.unpaired(name=name)
            return self.not_applicable(why, n, name)
        masked = released_column(files.masked, name)
        # Weighed by how frequent the values are, even a verbatim file can do no better than its most frequent value;
        # who knows more may play as if he knew less.
        levels = range(1, self.level + 1)
        played = [data_invasion(files.original[name], files.recoded[name], masked, level) for level in levels]
        found = max(played, key=lambda each: each.value)
        if found.completed < files.minimum_cell:
            return self.unknown(TOO_FEW(unit=files.unit, name=name), n, name)
        if found.attempted - found.completed > UNREAD_SHARE * found.attempted:
            return self.unknown(UNREADABLE(), n, name)
        says = _SAYS.guessed(
            name=name,
            share=percentage(found.value, found, files),
            unit=files.unit,
            baseline=percentage(found.baseline or 0.0, found, files),
        )
        if self.when_misled == "guess":
            found, says = at_least_baseline(found), says + _SAYS.better_of_two()
        return self.judge(found, says, name, files.minimum_cell)

    def describe(self) -> str:
        knows = "and how frequent each original value is" if self.level == 2 else "and which original values there are"
        return (
            f"An intruder who knows the masked values of {self.of_what} {knows} guesses the original value for "
            f"{allowed(self.limit, self.excess, 'by guessing the most frequent value')} (data invasion)."
        )
