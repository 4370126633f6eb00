"""Floors: each number becomes the multiple of a base below it."""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.masking_step import NONE_OF_A_RECODING, MaskingStep
from sluice.risk.transparency.attack import NoAttack


class AcmeFloor(MaskingStep):
    """Each number becomes the multiple of `base` below it."""

    method: Literal["acme_floor"] = "acme_floor"
    base: float = Field(gt=0, description="distance between the multiples, in the variable's unit")

    is_recoding: ClassVar[bool] = True
    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    example: ClassVar[str] = "{method: acme_floor, columns: [income], base: 1000}"
    use_when: ClassVar[str] = "Numbers are known too exactly, and must never be overstated."
    preserves: ClassVar[str] = "The order of the values, up to ties."
    known_attack: ClassVar[str] = "Linkage on the floors, as with any recoding."
    missing_values: ClassVar[str] = "They stay missing."
    in_an_analysis: ClassVar[str] = "Means are too small by about half of the base: add it."
    attack_measured: ClassVar[str] = NONE_OF_A_RECODING

    def released(self, variables: Variables) -> dict[str, Variable]:
        self.refuse_unless(variables, Kind.CONTINUOUS)
        return dict(variables)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        return frame.assign(**{name: np.floor(frame[name] / self.base) * self.base for name in self.columns})

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("the original is put on the same floors"),)

    def describe(self) -> str:
        return f"{', '.join(self.columns)}: each value is the multiple of {self.base:g} below it."
