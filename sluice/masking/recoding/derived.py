"""Derived: a variable computed again from another one that was masked before it.

Source: Nowok, Raab and Dibben (2016), whose synthpop computes such variables after the others ("passive" synthesis).
"""

from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, FiniteFloat, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import numbers, perturbed, stored
from sluice.masking.masking_step import NONE_OF_A_RECODING, MaskingStep
from sluice.risk.transparency.attack import NoAttack

By = Literal["log", "exp", "square", "square_root", "linear"]


class Derived(MaskingStep):
    """Compute a number again from another variable, as it is after the steps before."""

    method: Literal["derived"] = "derived"
    of: str = Field(description="the variable that it is computed from, continuous or integer")
    by: By = Field(description="log is natural; linear: factor times the variable, plus constant")
    factor: FiniteFloat = Field(default=1.0, description="of linear, not 0")
    constant: FiniteFloat = Field(default=0.0, description="of linear, in the computed variable's unit")
    decimals: int | None = Field(default=None, ge=-6, le=12, description="to which the result is rounded")

    is_recoding: ClassVar[bool] = True
    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    example: ClassVar[str] = "{method: derived, columns: [rent], of: income, by: linear, factor: 0.25}"
    use_when: ClassVar[str] = (
        "A variable is a function of another one, such as the logarithm of a wage, which it must not contradict."
    )
    preserves: ClassVar[str] = "The function exactly, to its rounding; all else as far as the source keeps it."
    known_attack: ClassVar[str] = (
        "As of its source. Together they tell no more than the one alone, but for digits that a rounded source lacks."
    )
    missing_values: ClassVar[str] = "It is missing where its source is, or where the function has no value (log of 0)."
    in_an_analysis: ClassVar[str] = (
        "It has what error its source has, bent by the function: noise of variance v on x moves the mean of log x by "
        "about -v / (2 x^2). Correct at the source, then compute it."
    )
    attack_measured: ClassVar[str] = NONE_OF_A_RECODING

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        on = f"of derived on {', '.join(map(repr, self.columns))}"
        if self.of in self.columns:
            raise ValueError(f"of {on} must be another variable")
        if self.by != "linear" and (self.factor, self.constant) != (1.0, 0.0):
            raise ValueError(f"factor and constant {on} go with by: linear")
        if self.factor == 0:
            raise ValueError(f"factor {on} must not be 0")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """A number without bounds, whole where it was; it may be missing. Raises PlanError for other kinds."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        source = variables.get(self.of)
        if source is None:
            hint = did_you_mean(self.of, variables) or " Did an earlier step take it out?"
            raise PlanError(f"of {self.method}: no variable '{self.of}'.", came=self.of, allowed=variables, hint=hint)
        if not source.kind.is_numeric:
            raise PlanError(f"of {self.method}: '{self.of}' must be continuous or integer; it is {source.kind}.")
        computed = {name: perturbed(variables[name], whole=True, bounded=False) for name in self.columns}
        return {**variables, **{name: each.model_copy(update={"nullable": True}) for name, each in computed.items()}}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """Draws nothing. Raises PlanError for results too large, and whole numbers beyond 2^53."""
        released = self.released(variables)
        values = self.computed(numbers(frame, [self.of])[:, 0])
        return with_columns(
            frame, {name: stored(values, released[name]).set_axis(frame.index) for name in self.columns}
        )

    def computed(self, source: FloatArray) -> FloatArray:
        """The function of each value, NaN where it has none. Shape (n,) as `source`. Cost O(n)."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self.by == "linear":
                values = self.factor * source + self.constant
            elif self.by == "log":
                values = np.where(source > 0, np.log(source), np.nan)
            elif self.by == "square_root":
                values = np.sqrt(source)
            else:
                values = np.exp(source) if self.by == "exp" else source * source
            return np.asarray(values if self.decimals is None else np.round(values, self.decimals))

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("every attack repeats the rule, and compares original and release after it"),)

    def describe(self) -> str:
        how = f"{self.factor:g} times it plus {self.constant:g}" if self.by == "linear" else self.by.replace("_", " ")
        return f"{', '.join(self.columns)} was computed again from the masked {self.of} ({how})."
