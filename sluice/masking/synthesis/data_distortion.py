"""Data distortion by probability distribution: replace a variable by draws from a distribution fitted to it.

Source: Torra (2013), "Data Distortion by Probability Distribution" (nine families, chosen by the
Kolmogorov-Smirnov statistic; mapping by rank), after Liew, Choi and Liew (1985). Differs from it: a categorical
variable, which Torra's table allows without saying how, is drawn from the shares of its categories; the statistic is a
distance, not a test, because in a large file every test rejects.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import Clip, Round, numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep
from sluice.masking.synthesis.distribution_families import Family, fitted_distribution, nearest_family
from sluice.masking.synthesis.resampling import ranking
from sluice.risk.transparency.attack import Attack, NoAttack
from sluice.risk.transparency.bounds import SameRank


class DataDistortion(MaskingStep):
    """Replace each variable by values drawn from a distribution fitted to it, each variable by itself."""

    method: Literal["data_distortion"] = "data_distortion"
    distributions: Mapping[str, Family] = Field(
        default={},
        description=(
            "column: family; a column that is not named gets the nearest by the Kolmogorov-Smirnov statistic. "
            "poisson needs whole numbers from 0, exponential values from 0, gamma, weibull, log_normal and "
            "chi_square values above 0"
        ),
    )
    map_by_rank: bool = Field(
        default=True,
        description=(
            "give the i-th smallest draw to the record with the i-th smallest value, which keeps relations to "
            "other variables; else in random order. A nominal or binary variable has no ranks: its draws are "
            "always in random order"
        ),
    )
    round: Round = False
    clip: Clip = False

    example: ClassVar[str] = "{method: data_distortion, columns: [income], distributions: {income: gamma}}"
    use_when: ClassVar[str] = (
        "No original value may be released, a common family of distributions fits, and the rank is not confidential."
    )
    preserves: ClassVar[str] = (
        "The distribution as far as the family fits; mapped by rank, also rank correlations. In random "
        "order, and for nominal variables, relations to other variables are lost."
    )
    known_attack: ClassVar[str] = (
        "Mapped by rank, the order is unchanged, and values in the middle move little: records are found by"
        " either. In random order no record is tied to anyone."
    )
    missing_values: ClassVar[str] = "A missing value stays missing; the distribution is that of the others."
    in_an_analysis: ClassVar[str] = (
        "Quantiles and moments are those of the family that was fitted, not of the data. Unless values were given out "
        "by rank, associations with other variables are lost: do not cross the variable with another."
    )
    attack_measured: ClassVar[str] = (
        "Take the records that can have the person's rank in every variable; equal values share their ranks. On 12 "
        "variables of Census: 100 % found; 100 % surely found."
    )

    @model_validator(mode="after")
    def _distributions_are_of_columns(self) -> Self:
        for name in self.distributions:
            if name not in self.columns:
                raise ValueError(
                    f"distributions of data_distortion names '{name}', which is not among its columns."
                    f"{did_you_mean(name, self.columns)}"
                )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds are dropped unless `clip`; categories stay."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY)
        released = dict(variables)
        for name in self.columns:
            if variables[name].kind.is_numeric:
                released[name] = perturbed(variables[name], whole=self.round, bounded=self.clip)
            elif name in self.distributions:
                raise PlanError(
                    f"distributions of data_distortion on '{name}' is for numbers; it is {variables[name].kind}, "
                    "and is drawn from the shares of its categories."
                )
        return released

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when a column has one value only, or values that the family asked for cannot have."""
        released = self.released(variables)
        masked = {}
        for name in self.columns:
            values = numbers(frame, [name])[:, 0]
            if np.isfinite(values).sum() == 1:
                raise PlanError(f"data_distortion on '{name}' needs at least 2 values to fit; it has 1.")
            if variables[name].kind.is_numeric:
                masked[name] = stored(self._distorted(values, name, rng), released[name])
            else:
                by_rank = self.map_by_rank and variables[name].kind is Kind.ORDINAL
                codes = redrawn(np.nan_to_num(values, nan=-1.0).astype(np.int64), by_rank, rng)
                before = frame[name].cat
                masked[name] = pd.Series(
                    pd.Categorical.from_codes(codes, categories=before.categories, ordered=before.ordered)
                )
        return with_columns(frame, {name: column.set_axis(frame.index) for name, column in masked.items()})

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple["DataDistortion", ...]:
        """The same step with the family of every numeric column named; its parameters are not published."""
        self.released(variables)
        chosen: dict[str, Family] = dict(self.distributions)
        for name in self.columns:
            if variables[name].kind.is_numeric and name not in chosen:
                values = numbers(frame, [name])[:, 0]
                if _varies(values):
                    chosen[name] = nearest_family(values)
        return (self.model_copy(update={"distributions": chosen}),)

    def parameters(self) -> dict[str, Any]:
        """The families. Not their parameters: these are exact figures of the original file."""
        return {"distributions": dict(self.distributions)} if self.distributions else {}

    def attacks(self) -> tuple[Attack | NoAttack, ...]:
        if self.map_by_rank:
            return (SameRank(self.columns),)
        return (NoAttack("the draws are in random order, so that no value is tied to a person"),)

    def describe(self) -> str:
        order = (
            "in the order of the original values"
            if self.map_by_rank
            else "in random order, so that relations to other variables are lost"
        )
        return (
            f"The values of {', '.join(self.columns)} were replaced by random draws from a distribution fitted to each "
            f"variable, {order} (categories without an order: in random order)."
        )

    def _distorted(self, values: FloatArray, name: str, rng: Generator) -> FloatArray:
        if not _varies(values):
            return values
        family = self.distributions.get(name) or nearest_family(values)
        try:
            return distorted(values, family, self.map_by_rank, rng)
        except PlanError as error:
            raise PlanError(f"data_distortion on '{name}': {error}") from None


def distorted(values: FloatArray, family: Family, by_rank: bool, rng: Generator) -> FloatArray:
    """Draws from the fitted family, as many as there are values.

    values  : shape (n,), NaN where missing, at least two different ones
    by_rank : the i-th smallest draw at the i-th smallest value; else in random order
    returns : shape (n,), NaN where missing
    raises  : PlanError if the values cannot come from the family, or its parameters are no finite numbers
    cost    : O(n log n)
    """
    present = np.flatnonzero(np.isfinite(values))
    draws = np.array([np.nan])
    with np.errstate(all="ignore"):
        distribution = fitted_distribution(values[present], family)
        if np.isfinite(distribution.cdf(values[present[0]])):  # else scipy refuses its parameters
            draws = distribution.rvs(size=len(present), random_state=rng).astype(np.float64)
    if not np.isfinite(draws).all():
        raise PlanError(f"the values are too large, or too much alike, for distribution {family}.")
    masked = values.copy()
    if by_rank:
        masked[present[ranking(values[present], rng)]] = np.sort(draws)
    else:
        masked[present] = draws
    return masked


def redrawn(codes: IntArray, by_rank: bool, rng: Generator) -> IntArray:
    """Categories drawn with the shares that they have.

    codes   : shape (n,), category numbers, -1 where missing
    by_rank : the i-th lowest draw at the i-th lowest category, ties at random; else in random order
    returns : shape (n,), -1 where missing
    cost    : O(n log n)
    """
    present = np.flatnonzero(codes >= 0)
    drawn = codes.copy()
    if len(present) == 0:
        return drawn
    counts = np.bincount(codes[present])
    draws = np.repeat(np.arange(len(counts)), rng.multinomial(len(present), counts / len(present)))
    order = ranking(codes[present].astype(np.float64), rng) if by_rank else rng.permutation(len(present))
    drawn[present[order]] = draws
    return drawn


def _varies(values: FloatArray) -> bool:
    present = values[np.isfinite(values)]
    return len(present) > 0 and bool(present.min() < present.max())
