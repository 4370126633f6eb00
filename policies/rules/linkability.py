"""Linkability: whether the file tells that two sets of facts are about one person.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023).
"""

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from policies.rules.control_rule import ControlRule, known_columns
from policies.rules.microdata_rule import Columns
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.verdict import Finding
from sluice.risk.attacks.linkability import linkability
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "linkability",
    links="An intruder who knows two sets of facts links them by the file",
    fewer_than_k="The file holds fewer than {k:,} {unit}.",
)


class Linkability(ControlRule):
    """The file helps little to find out that two sets of facts are about one person."""

    rule: Literal["linkability"] = "linkability"
    example: ClassVar[str] = "{rule: linkability, limit: 0.1}"
    advice: ClassVar[str] = (
        "The file joins facts from two places about one person: mask one of the two sets of columns independently of "
        "the other, so that their nearest released records differ."
    )
    known: tuple[Columns, Columns] | None = Field(
        default=None,
        description="what is known from one place, and from another; when not given, the quasi-identifiers by turns",
    )
    k: int = Field(default=1, ge=1, description="nearest released records that are looked at")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "linkability.nothing_to_play",
        "The file has fewer than 2 quasi-identifiers, one to be known from each place.",
    )

    @model_validator(mode="after")
    def _disjoint(self) -> Self:
        both = sorted(set(self.known[0]) & set(self.known[1])) if self.known else []
        if both:
            raise ValueError(
                f"the two lists of linkability's known must share no column; got {', '.join(both)} in both"
            )
        return self

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.known else (*super().requires, (Need.QUASI_IDENTIFIERS,))

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        keys = known_columns(files, control)
        first, second = self.known or (keys[::2], keys[1::2])
        if not second:
            return
        if len(files.masked) < self.k:
            yield self.unknown(_SAYS.fewer_than_k(k=self.k, unit=files.unit), self.attacks)
            return
        attack = linkability(
            files.recoded, files.masked, control, files.released, first, second, self.k, self.attacks,
            files.rng,
        )  # fmt: skip
        scope = f"{', '.join(first)} to {', '.join(second)}"
        yield self.found(attack, _SAYS.links(), files.unit, scope)

    def describe(self) -> str:
        return (
            "The file hardly tells that two sets of facts from two places are about one person "
            f"(linkability: risk at most {self.limit:.4g})."
        )
