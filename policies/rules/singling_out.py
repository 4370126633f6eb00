"""Singling out: descriptions that fit exactly one person.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023); Cohen and Nissim (2020).
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.control_rule import ControlRule, comparable_columns
from sluice.ground.sentence import Sentence
from sluice.ground.verdict import Finding
from sluice.risk.attacks.attack_success import ControlledAttack
from sluice.risk.attacks.singling_out import Mode, singling_out
from sluice.risk.classes.microdata_rule import Columns
from sluice.utility.comparison import Comparison

_DESCRIBES = Sentence(
    "singling_out.describes",
    "An intruder who describes a released record by {columns} describes exactly one of the {unit}",
)


class SinglingOut(ControlRule):
    """Descriptions that fit one released record fit one person of the original hardly more often than one of others."""

    rule: Literal["singling_out"] = "singling_out"
    example: ClassVar[str] = "{rule: singling_out, limit: 0.1}"
    advice: ClassVar[str] = (
        "Rare combinations or extreme values of the released file describe real people: top- and bottom-code the "
        "numbers, merge rare categories, or synthesise with larger leaves or smoothing."
    )
    mode: Mode = Field(default="multivariate", description="descriptions by one column, or by several")
    attributes: int = Field(
        default=3, ge=2, description="columns in a multivariate description; all, if there are fewer"
    )
    columns: Columns | None = Field(default=None, description="all released columns, when not given")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "singling_out.nothing_to_play", "The file has no column that the original has, too."
    )

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        attack = self.attack(files, control)
        if attack is None:
            return
        attributes = self.columns_described(files, control)
        says = _DESCRIBES(columns="one column" if attributes == 1 else f"{attributes} columns", unit=files.unit)
        yield self.found(attack, says, files.unit, self.mode)

    def attack(self, files: Comparison, control: pd.DataFrame) -> ControlledAttack | None:
        """The attack and how it fared; None where there is no column to describe anybody by."""
        attributes = self.columns_described(files, control)
        if not attributes:
            return None
        return singling_out(
            files.recoded, files.masked, control, files.released, self._columns(files, control), self.mode, attributes,
            self.attacks, files.rng,
        )  # fmt: skip

    def columns_described(self, files: Comparison, control: pd.DataFrame) -> int:
        """How many columns a description speaks of; 0 where there are none."""
        return min(1 if self.mode == "univariate" else self.attributes, len(self._columns(files, control)))

    def _columns(self, files: Comparison, control: pd.DataFrame) -> list[str]:
        return list(self.columns or comparable_columns(files, control))

    def describe(self) -> str:
        return (
            "A description read off the file fits exactly one person of the original hardly more often than one of "
            f"people who are not in it (singling out, {self.mode}: risk at most {self.limit:.4g})."
        )
