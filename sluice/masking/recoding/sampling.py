"""Sampling: only a random part of the records is released.

Source: Torra (2013), slide "Sampling" (V' is V restricted to a sample S of the records); Desfontaines (2020), section
2.1.1 (what a sample does and does not protect). Differs from them: a weight variable is scaled up, so that its sum
stays that of the whole file.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Role, Variable, Variables, with_role
from sluice.masking.column_numbers import numbers, perturbed
from sluice.masking.masking_step import MaskingStep, RecordDraws
from sluice.risk.transparency.attack import NoAttack


class Sampling(MaskingStep):
    """Release a simple random sample of the records, drawn without replacement; by 'strata', one from each stratum."""

    method: Literal["sampling"] = "sampling"
    columns: SkipJsonSchema[tuple[str, ...]] = Field(
        default=(), max_length=0, exclude=True, description="none: a sample is of all variables"
    )
    fraction: float | None = Field(
        default=None,
        description="share of the units (of each stratum) in (0, 1), rounded",
    )
    size: int | None = Field(default=None, ge=1, description="number of units to draw (from each stratum)")
    unit: Literal["record", "household"] = Field(
        default="record",
        description="household: whole households are drawn, and fraction and size count households. A record without "
        "one is one by itself",
    )
    weight: str | None = Field(
        default=None,
        description="variable of role weight; multiplied by a factor (in each stratum) so that its sum stays that of "
        "all records",
    )

    takes_households: ClassVar[bool] = False
    keeps_households: ClassVar[bool] = True

    example: ClassVar[str] = "{method: sampling, fraction: 0.8, unit: household, weight: weight}"
    treatment: ClassVar[str] = "sampled"
    use_when: ClassVar[str] = (
        "Everybody knows who is in the file, as in a census; before other methods, and for a few categorical variables."
    )
    preserves: ClassVar[str] = (
        "Every released record, the weighted total, and all statistics but for the sampling error."
    )
    known_attack: ClassVar[str] = (
        "People who are drawn are as exposed as before (Desfontaines 2020, section 2.1.1), but a match is "
        "uncertain. It works against people who are known to be in the sample, or unique in the population "
        "by what is known of them, above all by continuous values (Torra 2013, slide 'Sampling'). So all "
        "attacks are played on people who are known to be in it, and the sample earns nothing."
    )
    missing_values: ClassVar[str] = (
        "Records are drawn whatever they miss. A missing weight stays missing and does not count in the total."
    )
    in_an_analysis: ClassVar[str] = (
        "The file is a random sample of the records. Multiply totals by the inverse of the sampling fraction, unless a "
        "weight does so; means and shares need none. Of a fraction f, standard errors are those of a simple random "
        "sample times the square root of 1 - f, where they are of the records that it was drawn from."
    )
    attack_measured: ClassVar[str] = (
        "No attack of its own: every attack is played on people known to be in the sample, so that it hides nobody."
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.fraction is None) == (self.size is None):
            raise ValueError("sampling: give exactly one of fraction, size")
        if self.fraction is not None and not 0 < self.fraction < 1:
            hint = (
                f"Is it a percentage? Use {self.fraction / 100:g}."
                if 1 < self.fraction < 100
                else "It is a share; all records need no sampling."
            )
            raise ValueError(f"fraction of sampling must be above 0 and below 1; got {self.fraction:g}. {hint}")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables; the weight becomes continuous and loses its bounds."""
        self.refuse_unless(variables)
        if self.weight is None:
            return dict(variables)
        if self.weight not in variables:
            raise PlanError(
                f"weight of sampling: no variable '{self.weight}' at this point.", came=self.weight, allowed=variables
            )
        weight = variables[self.weight]
        if weight.role is not Role.WEIGHT or not weight.kind.is_numeric:
            raise PlanError(
                f"weight of sampling must be a number of role weight; '{self.weight}' is {weight.kind}, role "
                f"{weight.role}."
            )
        return {**variables, self.weight: perturbed(weight, whole=False, bounded=False)}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Some of the records, in their order and with their labels. Raises PlanError when there are not enough."""
        return self._masked(frame, variables, lambda units: rng.permutation(units.max(initial=-1) + 1))

    @property
    def is_sampling(self) -> bool:
        return True

    @property
    def draws_by_record(self) -> bool:
        return True

    def mask_by_record(self, frame: pd.DataFrame, variables: Variables, draws: RecordDraws) -> pd.DataFrame:
        """Who is drawn stays so, but for few: the units whose first record has the smallest draws."""
        uniform = draws.uniform("sample")
        return self._masked(frame, variables, lambda units: np.argsort(uniform[np.unique(units, return_index=True)[1]]))

    def _masked(self, frame: pd.DataFrame, variables: Variables, order: Callable[[IntArray], IntArray]) -> pd.DataFrame:
        released = self.released(variables)
        units = np.arange(len(frame))
        if self.unit == "household":
            units = household_numbers(frame[self._household(variables)])
        count = int(units.max(initial=-1)) + 1
        drawn = sample(units, self._drawn(count), order(units))
        sampled = frame.iloc[drawn].copy()
        if self.weight is not None:
            weights = numbers(frame, [self.weight])[:, 0]
            try:
                sampled[self.weight] = scaled_weights(weights, drawn)
            except PlanError as error:
                raise PlanError(f"sampling: weight '{self.weight}' {error}") from None
        return sampled[list(released)]

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("every attack is played on people known to be in the sample, so that it hides nobody"),)

    def correction(self) -> str:
        if self.weight:
            total = f"Weigh each record by {self.weight}, whose total is that of all records"
        elif self.fraction is not None:
            total = f"Multiply totals by {1 / self.fraction:.5g}; means and shares need no correction"
        else:
            total = f"The sampling fraction is {self.size} of the number of {self.unit}s" + (
                ", another in each stratum" if self.strata else ""
            )
        of = f" ({self.fraction:g})" if self.fraction is not None else ""
        unit = " of households as clusters" if self.unit == "household" else ""
        return (
            f"The file is a random sample. {total}. With the sampling fraction f{of}, standard errors are those of a "
            f"simple random sample{unit} times the square root of 1 - f, where they are of the records that it was "
            "drawn from."
        )

    def describe(self) -> str:
        how_many = f"{self.size}" if self.fraction is None else f"{100 * self.fraction:g} % of the"
        each = f" of each combination of {', '.join(self.strata)}" if self.strata else ""
        weighted = f"; {self.weight} was scaled so that its total stays the same" if self.weight else ""
        return f"The file holds a random sample: {how_many} {self.unit}s{each}{weighted}."

    def _drawn(self, count: int) -> int:
        if self.size is None:
            assert self.fraction is not None
            return min(count, max(1, int(np.floor(self.fraction * count + 0.5))))
        if self.size > count:
            where = " in a stratum" if self.strata else ""
            raise PlanError(
                f"size of sampling must be at most the number of {self.unit}s{where}, {count}; got {self.size}."
            )
        return self.size

    @staticmethod
    def _household(variables: Variables) -> str:
        return with_role(variables, Role.HOUSEHOLD)[0]


def sample(units: IntArray, size: int, order: IntArray) -> IntArray:
    """Positions of the records of `size` units, drawn at random without replacement; in rising order.

    units   : shape (n,), the unit of each record, 0 .. u - 1
    size    : at most u
    order   : shape (u,), the units in random order
    cost    : O(n)
    """
    count = int(units.max(initial=-1)) + 1
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[order[:size]] = True
    return np.flatnonzero(chosen[units])


def household_numbers(households: pd.Series) -> IntArray:
    """A number for each record's household, 0, 1, ...; a record without one gets a number of its own."""
    numbered, names = pd.factorize(households)
    alone = numbered < 0
    numbered = numbered.astype(np.int64)
    numbered[alone] = len(names) + np.arange(alone.sum())
    return numbered


def scaled_weights(weights: FloatArray, drawn: IntArray) -> FloatArray:
    """The weights of the drawn records times one factor, so that they add up to all weights (to rounding).

    weights : shape (n,), at least 0, NaN where missing
    drawn   : positions, shape (m,)
    raises  : PlanError for a negative weight, or when the drawn weights add up to 0 and all weights do not
    """
    if (weights < 0).any():
        raise PlanError("must not be negative.")
    total, reached = np.nansum(weights), np.nansum(weights[drawn])
    if total == 0:
        return weights[drawn]
    if reached == 0:
        raise PlanError("adds up to 0 among the records drawn, so that its total cannot be kept. Draw more records.")
    return weights[drawn] * (total / reached)
