"""MaskingStep: what every masking method is, seen from the plan that calls it."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, field_validator

from sluice.errors import PlanError, did_you_mean
from sluice.variables import Kind, Variable, Variables


class MaskingStep(BaseModel, ABC):
    """A frozen specification of one step of a masking plan.

    A method is three answers: which variables come out (`released`, which also refuses what the method cannot treat),
    what happens to the values (`mask`), and how that is said to a data user (`describe`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    columns: tuple[str, ...] = Field(min_length=1, description="names of the variables to mask")

    # A recoding sends equal values to equal values and draws nothing: the same step can be applied to any file of
    # the same variables, which is how original and masked records are compared on the masked file's own categories.
    is_recoding: ClassVar[bool] = False

    @field_validator("columns")
    @classmethod
    def _once_each(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(columns)) != len(columns):
            raise ValueError("columns names a variable twice")
        return columns

    @abstractmethod
    def released(self, variables: Variables) -> dict[str, Variable]:
        """The variables after this step, in column order. Raises PlanError when the step cannot treat these."""

    @abstractmethod
    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """A new frame, typed by `released(variables)`, same rows in the same order; `frame` stays as it was.

        frame     : typed by `variables` (see sluice.variables)
        rng       : this step's own generator; a recoding does not draw from it
        """

    def settled(self, frame: pd.DataFrame, variables: Variables) -> "tuple[MaskingStep, ...]":
        """This step as it is carried out on `frame`: a threshold that is read off the data becomes a number."""
        return (self,)

    @abstractmethod
    def describe(self) -> str:
        """One plain sentence for the data user. Says nothing that helps to undo the masking (no seed)."""

    def refuse_unless(self, variables: Variables, *kinds: Kind) -> None:
        """Raise PlanError unless every column exists and has one of these kinds."""
        for name in self.columns:
            if name not in variables:
                hint = did_you_mean(name, variables) or " Is it an identifier, or did an earlier step take it out?"
                raise PlanError(f"{self.method}: no variable '{name}' at this point.{hint}")
            if variables[name].kind not in kinds:
                allowed = ", ".join(kinds)
                raise PlanError(f"{self.method} on '{name}' takes {allowed}; it is {variables[name].kind}.")
