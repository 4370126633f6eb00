"""Random rounding: replace each value by one of the two nearest multiples of a base, so that means stay right.

Source: the unbiased variant of rounding that statistical offices use for counts; Torra (2013) has the deterministic
one only. Numbers are compared as the decimals that they are written as.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, FiniteFloat, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep, RecordDraws
from sluice.masking.recoding.rounding import bounded, ends, multiples_around, refuse_base
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.bounds import RandomMultiple


class RandomRounding(MaskingStep):
    """Round continuous and integer variables to one of the two nearest multiples of a base at random, without bias."""

    method: Literal["random_rounding"] = "random_rounding"
    base: FiniteFloat = Field(description="distance between the multiples, in the variable's unit, greater than 0")

    example: ClassVar[str] = "{method: random_rounding, columns: [rent], base: 50}"
    treatment: ClassVar[str] = "rounded"
    use_when: ClassVar[str] = (
        "Counts or amounts must be rounded without bias in means and totals, in an uncertain direction."
    )
    preserves: ClassVar[str] = "Means and totals in expectation; multiples of the base exactly."
    known_attack: ClassVar[str] = (
        "A value is less than one base from the released one, usually the nearer multiple: over several "
        "variables hardly another record fits. Several releases of the same value average out to it. Totals"
        " that are published exactly narrow single values."
    )
    missing_values: ClassVar[str] = "A missing value stays missing."
    in_an_analysis: ClassVar[str] = (
        "Means and totals are right but for chance. Rounding to multiples of b adds to the variance, on average b^2/6 "
        "where values are spread evenly between the multiples: take that off."
    )
    attack_measured: ClassVar[str] = (
        "Weigh each released multiple by the probability that the known value was rounded to it. On 12 variables of "
        "Census (base: 10000): 23 % found; 14 % surely found."
    )

    @model_validator(mode="after")
    def _base_is_positive(self) -> Self:
        refuse_base(self.base, f"of random_rounding on {', '.join(map(repr, self.columns))}")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables stay so with a whole base; bounds move outward to a multiple."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        changed = {}
        for name in self.columns:
            below, above = multiples_around(ends(variables[name]), self.base)
            variable = perturbed(variables[name], whole=self.base.is_integer(), bounded=False)
            changed[name] = bounded(variable, below[0], above[1])
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError for whole numbers beyond 2^53."""
        return self._masked(frame, variables, lambda name: rng.random(len(frame)))

    @property
    def draws_apart(self) -> bool:
        return True

    @property
    def draws_by_record(self) -> bool:
        return True

    def mask_by_record(self, frame: pd.DataFrame, variables: Variables, draws: RecordDraws) -> pd.DataFrame:
        return self._masked(frame, variables, lambda name: draws.uniform(name, frame[name]))

    def _masked(self, frame: pd.DataFrame, variables: Variables, uniform: Callable[[str], FloatArray]) -> pd.DataFrame:
        released = self.released(variables)
        masked = {}
        for name in self.columns:
            values = numbers(frame, [name])[:, 0]
            masked[name] = stored(random_round(values, self.base, uniform(name)), released[name]).set_axis(frame.index)
        return with_columns(frame, masked)

    def attacks(self) -> tuple[Attack, ...]:
        return (RandomMultiple(self.columns, self.base),)

    def describe(self) -> str:
        return (
            f"{', '.join(self.columns)}: values were rounded at random to one of the two nearest multiples of "
            f"{self.base:g}, so that means are right apart from chance."
        )


def random_round(values: FloatArray, base: float, uniform: FloatArray) -> FloatArray:
    """One of the two multiples of `base` around each value, so that the expectation is the value.

    values  : shape (n,), NaN where missing
    uniform : shape (n,), random numbers from 0 to below 1
    returns : shape (n,), NaN where missing
    cost    : O(n)
    """
    below, above = multiples_around(values, base)
    return np.where(uniform < (values - below) / base, above, below)
