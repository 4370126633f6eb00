"""Membership inference: who was in the original data.

Source: Hanley and McNeil (1982); Yeom, Giacomelli, Fredrikson and Jha (2018); Shokri, Stronati, Song and Shmatikov
(2017); Platzer and Reutterer (2021).
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.control_rule import ControlRule, comparable_columns, percent
from policies.rules.control_rules import SinglingOut
from policies.rules.microdata_rule import Columns
from sluice.ground.document_parts import Share
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.verdict import Finding
from sluice.risk.attacks.membership import FEWEST, Membership, learned_membership, membership, nearer_to_original
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "membership",
    needs_two="The attack needs 2 {unit} in the file and 2 set aside.",
    needs_examples="To learn from examples takes {inside} {unit} in the file and {outside} set aside.",
    nearer="{value:percent} of the released records are nearer to one of the {unit} behind the file than to one who "
    "was set aside; without a trace of them it would be half.",
    told_apart="By {by}, {unit} who are in it can be told from others with an advantage of {advantage:.3g} (0 is "
    "guessing, 1 certainty); of one who is and one who is not, the one more like it is in it in {area:percent} of the "
    "cases.",
)


class MembershipInference(ControlRule):
    """Neither nearness to a released record nor what examples teach tells who was in the original data."""

    rule: Literal["membership"] = "membership"
    example: ClassVar[str] = "{rule: membership, limit: 0.1}"
    advice: ClassVar[str] = (
        "Released records cluster around the people who took part: the masking or synthesis reproduces single records, "
        "so perturb more or smooth more, and release a sample so that taking part is itself uncertain."
    )
    columns: Columns | None = Field(default=None, description="all released columns, when not given")
    nearer: Share | None = Field(
        default=None,
        ge=0.5,
        description="share of released records that may be nearer to a person of the original than to one set aside; "
        "0.5 is chance. Not judged, when not given",
    )

    nothing_to_play: ClassVar[Sentence] = SinglingOut.nothing_to_play

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        if not columns:
            return
        if min(len(files.recoded), len(control)) < 2:
            yield self.unknown(_SAYS.needs_two(unit=files.unit), 2 * self.attacks)
            return
        inputs = (files.recoded, files.masked, control, files.released, columns, self.attacks, files.rng)
        yield self._called(membership(*inputs), files, "their nearness to the file", "nearness to the file")
        if min(len(files.recoded), len(control) // 2) < FEWEST:
            yield self.unknown(
                _SAYS.needs_examples(inside=FEWEST, unit=files.unit, outside=2 * FEWEST),
                2 * self.attacks, "learned from examples",
            )  # fmt: skip
        else:
            by = "how near, how frequent and how rare their values are in the file, learned from others' examples"
            yield self._called(learned_membership(*inputs), files, by, "learned from examples")
        if self.nearer is not None:
            measured = nearer_to_original(*inputs)
            says = _SAYS.nearer(value=measured.value, unit=files.unit)
            yield self.model_copy(update={"limit": self.nearer}).judge(measured, says, "nearer records")

    def _called(self, found: Membership, files: Comparison, by: str, scope: str) -> Finding:
        says = _SAYS.told_apart(by=by, unit=files.unit, advantage=found.advantage.value, area=found.area.value)
        return self.judge(found.advantage, says, scope)

    def describe(self) -> str:
        nearer = f", and at most {percent(self.nearer)} of the released records nearer to them" if self.nearer else ""
        return (
            "Neither nearness to a released record nor what can be learned from examples tells who was in the original "
            f"data (membership: advantage at most {self.limit:.4g}{nearer})."
        )
