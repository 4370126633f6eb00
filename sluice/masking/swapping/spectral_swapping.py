"""Spectral swapping: permute the records' coordinates on the data's own axes, each axis by itself.

Source: Lasko and Vinterbo (2010), section III. Variables are coded as numbers, the singular value decomposition gives
axes on which they are uncorrelated, so that a permutation along each keeps (nearly) all covariances; no released record
has one original any more. Differs from it: integer variables and ordinal positions are standardised like continuous
ones, logarithms are taken only where asked, and a category that no record has is given no probability. The axes are
those of the records that are masked: a holdout that is set aside to judge the release takes no part in them.
"""

from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import (
    Clip,
    category_probabilities,
    dummy_code,
    most_probable,
    numbers,
    perturbed,
    sampled,
    stored,
)
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linkage import LearnedCloseness


class SpectralSwapping(MaskingStep):
    """Swap on the spectral basis of the columns together; they may be of any kind but date and text."""

    method: Literal["spectral_swapping"] = "spectral_swapping"
    log: tuple[str, ...] = Field(default=(), description="strictly positive columns to treat on the logarithmic scale")
    categories: Literal["most_probable", "sampled", "probabilities"] = Field(
        default="most_probable",
        description="'probabilities' releases one column for each category of a nominal variable",
    )
    missing: Literal["refuse", "mean"] = Field(
        default="refuse",
        description="mean: a missing value takes part as the mean, and the released column has no missing value",
    )
    clip: Clip = False

    example: ClassVar[str] = "{method: spectral_swapping, columns: [income, rent, age], log: [income]}"
    use_when: ClassVar[str] = "Many columns are released for models, and no record may descend from one person."
    preserves: ClassVar[str] = (
        "Means exactly; variances, covariances and correlations apart from chance; distributions and "
        "non-linear relations only roughly."
    )
    known_attack: ClassVar[str] = (
        "A released record has no original to be linked to (Lasko and Vinterbo 2010, section III-B1). An "
        "outlier's place on an axis turns up in some record, so whoever knows of such a person sees that "
        "the file holds one; and what the data say of everybody the release says too."
    )
    missing_values: ClassVar[str] = (
        "Refused; with `missing: mean` they take part as the mean (of a category's column: its share) and are filled."
    )
    in_an_analysis: ClassVar[str] = (
        "Means, variances and correlations among these variables are right but for chance. Single distributions, "
        "subgroups, and relations to other variables are not."
    )
    attack_measured: ClassVar[str] = (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 12 "
        "variables of Census: 0 % found; 0 % surely found."
    )

    @model_validator(mode="after")
    def _log_is_of_columns(self) -> Self:
        for name in self.log:
            if name not in self.columns:
                raise ValueError(
                    f"log of spectral_swapping names '{name}', which is not among its columns."
                    f"{did_you_mean(name, self.columns)}"
                )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Kinds stay; bounds are dropped unless `clip`; with `probabilities` a nominal variable 'area' gives way to
        continuous variables 'area=north', 'area=south', ..."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY)
        released: dict[str, Variable] = {}
        for name, variable in variables.items():
            if name not in self.columns:
                new = [variable]
            elif variable.kind.is_numeric:
                new = [perturbed(variable, whole=True, bounded=self.clip).model_copy(update={"nullable": False})]
            elif name in self.log:
                raise PlanError(f"log of spectral_swapping on '{name}' is for numbers; it is {variable.kind}.")
            elif self._becomes_probabilities(variable):
                new = self._probability_variables(variable)
            else:
                new = [variable.model_copy(update={"nullable": False})]
            for one in new:
                if one.name in released or (one.name != name and one.name in variables):
                    raise PlanError(f"spectral_swapping on '{name}' needs a new column '{one.name}', which exists.")
                released[one.name] = one
        return released

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError on fewer than 2 records, missing values (unless `missing: mean`), logs of 0 and less."""
        released = self.released(variables)
        if len(frame) < 2:
            raise PlanError(f"spectral_swapping needs at least 2 records to swap between; there are {len(frame)}.")
        blocks = [self._coded(frame, variables[name]) for name in self.columns]
        swapped = spectral_swap(_mean_where_missing(np.hstack(blocks)), rng)
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        columns = {name: frame[name] for name in variables}
        for name, block in zip(self.columns, np.split(swapped, ends, axis=1), strict=True):
            columns |= self._decoded(block, frame, variables[name], released, rng)
        return pd.DataFrame({name: columns[name] for name in released}, index=frame.index)

    def attacks(self) -> tuple[Attack, ...]:
        return (LearnedCloseness(self.columns),)  # of which a released record has none, if all went well

    def describe(self) -> str:
        said = (
            f"The records' values of {', '.join(self.columns)} were recombined along the main directions of the data: "
            "a released record belongs to no one person, means are kept, variances and correlations nearly so"
        )
        if self.categories == "probabilities":
            said += "; categories are given as probabilities"
        return said + ("; missing values were filled." if self.missing == "mean" else ".")

    def _becomes_probabilities(self, variable: Variable) -> bool:
        return variable.kind is Kind.NOMINAL and self.categories == "probabilities"

    def _probability_variables(self, variable: Variable) -> list[Variable]:
        if not variable.categories:
            raise PlanError(
                f"probabilities of spectral_swapping needs the categories of '{variable.name}'; "
                "the contract does not list them.",
                field="categories",
            )
        return [
            Variable(
                name=f"{variable.name}={category}",
                kind=Kind.CONTINUOUS,
                role=variable.role,
                description=f"probability that {variable.name} is {variable.labels.get(category, category)}",
                minimum=0.0,
                maximum=1.0,
            )
            for category in variable.categories
        ]

    def _coded(self, frame: pd.DataFrame, variable: Variable) -> FloatArray:
        """The columns that stand for one variable in the decomposition, NaN where missing."""
        values = self._scaled(frame, variable)
        missing = int(np.isnan(values).sum())
        if missing and self.missing == "refuse":
            raise PlanError(
                f"spectral_swapping on '{variable.name}' takes no missing values; there are {missing}. "
                "Use missing: mean, or impute them first (multiple_imputation, what: missing)."
            )
        if missing == len(values):
            raise PlanError(f"spectral_swapping on '{variable.name}' needs a value; all are missing.")
        if variable.kind is Kind.NOMINAL:
            present = np.unique(values[~np.isnan(values)])
            codes = np.where(np.isnan(values), -1, np.searchsorted(present, values))
            return dummy_code(codes, len(present))
        if variable.kind is Kind.BINARY:
            return 2.0 * values[:, None] - 1.0
        centre, spread = _centre_and_spread(values)
        if not np.isfinite(spread):
            raise PlanError(f"spectral_swapping on '{variable.name}': values are too large for their variance.")
        if spread == 0:  # they differ, but their squares are no numbers
            raise PlanError(f"spectral_swapping on '{variable.name}': values are too small for their variance.")
        return (values[:, None] - centre) / spread

    def _decoded(
        self, block: FloatArray, frame: pd.DataFrame, variable: Variable, released: Variables, rng: Generator
    ) -> dict[str, pd.Series]:
        """The released column(s) of one variable."""
        column, values = frame[variable.name], self._scaled(frame, variable)
        if variable.kind is Kind.NOMINAL:
            probabilities = category_probabilities(block)
            present = np.unique(values[~np.isnan(values)]).astype(np.int64)
            if self._becomes_probabilities(variable):
                known = dict(zip(column.cat.categories[present], probabilities.T, strict=True))
                return {
                    f"{variable.name}={category}": pd.Series(
                        known.get(category, np.zeros(len(frame))), index=frame.index, dtype=np.float64
                    )
                    for category in variable.categories or ()
                }
            draw = most_probable(probabilities) if self.categories == "most_probable" else sampled(probabilities, rng)
            return {variable.name: _categorical(present[draw], column)}
        if variable.kind is Kind.BINARY:  # the inverse logit is at least 0.5 from 0 on
            return {variable.name: _categorical((block[:, 0] >= 0).astype(np.int64), column)}
        centre, spread = _centre_and_spread(values)
        scaled = block[:, 0] * spread + centre
        if variable.kind is Kind.ORDINAL:
            highest = len(column.cat.categories) - 1
            return {variable.name: _categorical(np.clip(np.rint(scaled), 0, highest).astype(np.int64), column)}
        numeric = np.exp(scaled) if variable.name in self.log else scaled
        return {variable.name: stored(numeric, released[variable.name]).set_axis(frame.index)}

    def _scaled(self, frame: pd.DataFrame, variable: Variable) -> FloatArray:
        """A number, its logarithm, or a category's position; NaN where missing."""
        values = numbers(frame, [variable.name])[:, 0]
        if variable.name not in self.log:
            return values
        below = int((values <= 0).sum())
        if below:
            raise PlanError(
                f"log of spectral_swapping on '{variable.name}' takes values greater than 0; {below} records have none."
            )
        return np.log(values)


def spectral_swap(coded: FloatArray, rng: Generator) -> FloatArray:
    """Permute each spectral coordinate independently: A = U D V' becomes A~ = U~ D V'.

    coded   : shape (n, m), finite; its columns on comparable scales
    returns : shape (n, m); column means exactly those of `coded` (to rounding), covariances nearly so
    cost    : O(n m^2 + m^3) time, two more n x m matrices
    source  : Lasko and Vinterbo (2010), section III-B1. V is the eigenvectors of the centred cross products, and a
              permutation of a column of U is one of U D = A V, so that U itself is not needed
    """
    means = coded.mean(axis=0)
    centred = coded - means
    _, basis = np.linalg.eigh(centred.T @ centred)
    coordinates = basis.T @ centred.T  # one row an axis: what is permuted lies side by side
    swapped: FloatArray = rng.permuted(coordinates, axis=1).T @ basis.T + means
    return swapped


def _mean_where_missing(coded: FloatArray) -> FloatArray:
    return np.where(np.isnan(coded), np.nanmean(coded, axis=0), coded)


def _centre_and_spread(values: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation of the values; a constant is left on its own scale."""
    values = values[~np.isnan(values)]
    if values.min() == values.max():
        return float(values[0]), 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        return float(values.mean()), float(values.std(ddof=1))


def _categorical(codes: IntArray, like: pd.Series) -> pd.Series:
    return pd.Series(
        pd.Categorical.from_codes(codes, categories=like.cat.categories, ordered=like.cat.ordered), index=like.index
    )
