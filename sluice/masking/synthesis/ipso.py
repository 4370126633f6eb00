"""IPSO: quasi-identifiers are replaced by draws from their regression on the confidential variables.

Source: Torra (2013), "Synthetic Data Generators: The IPSO family" (Y, the quasi-identifiers, by multiple regression on
X, the confidential attributes; variants A, B and C). Differs from it: its experiment releases IPSO-A's fitted values
as they are (`errors: none`), while its text has them follow a normal distribution around these (`errors: normal`, the
default); X may hold categories, by dummy coding.
"""

from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.sentence import count_of
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import Clip, Round, numbers, perturbed, stored
from sluice.masking.masking_step import DRAWN_FROM_A_MODEL, MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linkage import LearnedCloseness

_RANK = 1e-10  # relative singular value below which a direction of the regressors is one of the others
_EXPLAINED = 1e-6  # residual deviation, as a share of the deviation, below which the fitted values are the originals
_ALONE = 1 - 1e-3  # leverage above which the fitted value of a record is its own


class Ipso(MaskingStep):
    """Draw continuous and integer quasi-identifiers anew, from their linear regression on variables that stay."""

    method: Literal["ipso"] = "ipso"
    given: tuple[str, ...] = Field(
        min_length=1,
        description="confidential variables that stay and are the regressors: numbers, and categories (dummy-coded)",
    )
    variant: Literal["A", "B", "C"] = Field(
        default="C",
        description=(
            "a regression on 'given' finds the original coefficients and residual covariance: A: but for "
            "chance; B: exactly the coefficients; C: exactly both"
        ),
    )
    errors: Literal["normal", "none"] = Field(
        default="normal",
        description="none, for variant A only: release the fitted values, without residual variance",
    )
    round: Round = False
    clip: Clip = False

    example: ClassVar[str] = "{method: ipso, columns: [age, hours], given: [income, education], round: true}"
    use_when: ClassVar[str] = (
        "Regressions of the quasi-identifiers on the confidential variables must give the original estimates."
    )
    preserves: ClassVar[str] = (
        "The confidential variables, and the means of the columns (A: but for chance); B also the "
        "regression coefficients, C all means and covariances. Not the shape of the distributions, nor what"
        " is not linear; rounding and clipping undo the exactness."
    )
    known_attack: ClassVar[str] = (
        "Linkage of people whom the regression fits well: with fitted values 63 to 3,206 of EIA's 4,092 "
        "records were linked (Torra 2013, IPSO experiments). The confidential variables are original and "
        "identify whoever is known by them."
    )
    missing_values: ClassVar[str] = (
        "A missing value of the columns stays missing; the regression, and what is kept exactly, are of the records "
        "without one. A missing value of 'given' is a regressor of its own."
    )
    in_an_analysis: ClassVar[str] = (
        "Linear regressions on the variables that were not masked give the original coefficients (method B and C), and "
        "C the residual variance, too. Distributions, quantiles and what is not linear are those of the model: "
        + DRAWN_FROM_A_MODEL
    )
    attack_measured: ClassVar[str] = (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 3 "
        "variables of Census: 0 % found; 0 % surely found."
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if len(set(self.given)) != len(self.given):
            raise ValueError("given names a variable twice")
        both = [name for name in self.given if name in self.columns]
        if both:
            raise ValueError(f"'{both[0]}' is among columns and given; what is replaced cannot stay")
        if self.errors == "none" and self.variant != "A":
            raise ValueError(f"errors: none goes with variant A; got variant {self.variant}, which corrects the errors")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds are dropped unless `clip`; `given` stays."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        for name in self.given:
            if name not in variables:
                raise PlanError(f"given of ipso: no variable '{name}' at this point.", came=name, allowed=variables)
            if variables[name].kind in (Kind.DATE, Kind.TEXT, Kind.ITEMS):
                raise PlanError(f"given of ipso takes numbers and categories; '{name}' is {variables[name].kind}.")
        changed = {name: perturbed(variables[name], whole=self.round, bounded=self.clip) for name in self.columns}
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when there are too few records, or 'given' determines a column."""
        released = self.released(variables)
        original = numbers(frame, self.columns)
        determined = regressors(frame, variables, self.given)
        drawn = ipso(original, determined, self.variant, rng, errors=self.errors == "normal", names=self.columns)
        columns = {
            name: stored(values, released[name]).set_axis(frame.index)
            for name, values in zip(self.columns, drawn.T, strict=True)
        }
        return with_columns(frame, columns)

    def attacks(self) -> tuple[Attack, ...]:
        return (LearnedCloseness(self.columns),)

    def describe(self) -> str:
        chance = " but for chance" if self.errors == "normal" else ""
        kept = {
            "A": f"the coefficients of that regression are kept{chance}",
            "B": "the coefficients of that regression are kept exactly",
            "C": "the coefficients and the residual covariance of that regression are kept exactly",
        }[self.variant]
        if self.round or self.clip:
            kept += ", apart from rounding" if not self.clip else ", apart from moving values into the allowed range"
        if self.errors == "none":
            kept += ", the values show none of the scatter around it"
        return (
            f"The values of {', '.join(self.columns)} are synthetic, from their linear regression on "
            f"{', '.join(self.given)}; {kept}."
        )


def regressors(frame: pd.DataFrame, variables: Variables, given: tuple[str, ...]) -> FloatArray:
    """The variables as columns of numbers, without intercept: shape (n, q), finite.

    A category is 1 or 0 in a column of its own, and so is 'missing'; a missing number counts as the mean besides.
    """
    columns: list[npt.NDArray[np.float64]] = []
    for name in given:
        missing = frame[name].isna().to_numpy()
        if variables[name].kind.is_categorical:
            codes = codes_of(frame[name])
            columns += [(codes == code).astype(np.float64) for code in np.unique(codes)]
            continue
        values = numbers(frame, [name])[:, 0]
        centre = values[~missing].mean() if not missing.all() else 0.0
        columns += [np.where(missing, centre, values), *([missing.astype(np.float64)] if missing.any() else [])]
    return np.column_stack(columns)


def ipso(
    y: FloatArray,
    x: FloatArray,
    variant: Literal["A", "B", "C"],
    rng: Generator,
    *,
    errors: bool = True,
    names: tuple[str, ...] = (),
) -> FloatArray:
    """New values for y, given x, that follow the regression of y on x with an intercept.

    y       : shape (n, d), NaN where missing; may be collinear
    x       : shape (n, q), finite; may be collinear or constant
    variant : A: fitted values and normal errors; B: the coefficients are exactly y's; C: and so are the maximum
              likelihood estimates of the residuals' covariances (both over the m records without NaN in y)
    errors  : without, the fitted values alone
    names   : the columns of y, for the texts of errors
    returns : shape (n, d), NaN where y has it; without a value in y, y
    raises  : PlanError if m is at most the number of regressors with intercept + d, x determines a column that is
              not constant, or (but for A with errors) a record alone determines its own fitted values
    cost    : O(n (q + d)^2)
    """
    complete = np.asarray(np.isfinite(y).all(axis=1))
    if np.isnan(y).all():
        return y.copy()
    size = np.nanmax(np.abs(y), axis=0, initial=0.0)
    size[size == 0] = 1.0  # values up to 1e308 are squared below
    target = y[complete] / size
    basis, coordinates = _orthonormal(x, complete)
    records, taken = basis.shape
    if records <= taken + y.shape[1]:
        raise PlanError(
            f"ipso needs more records without a missing value than regressors and columns together, "
            f"{taken} + {y.shape[1]}; there are {records}. Name fewer variables, or recode those of many categories."
        )
    coefficients = basis.T @ target
    residuals = target - basis @ coefficients
    _refuse_determined(target, residuals, names)
    alone = int(((basis**2).sum(axis=1) > _ALONE).sum())
    if alone and not (variant == "A" and errors):  # an error that is free of x is 0 for them
        raise PlanError(
            f"ipso: the new values of {count_of(alone, 'record')} would be the original ones, as nobody else has the "
            "same in 'given', such as the only one of a category. Recode it before, or take variant A with errors."
        )
    fitted = coordinates @ coefficients
    if errors:
        root = _root(residuals.T @ residuals / records)
        normal = rng.standard_normal((len(y), root.shape[1]))
        if variant != "A":
            own = normal[complete]
            for _ in range(2):  # once leaves a remainder of rounding
                own -= basis @ (basis.T @ own)
            normal[complete] = _whitened(own) if variant == "C" else own
        fitted += normal @ root.T
    return np.where(np.isnan(y), np.nan, fitted * size)


def _orthonormal(x: FloatArray, complete: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """An orthonormal basis of the intercept and x over the complete records, and all records in its coordinates."""
    size = np.abs(x).max(axis=0, initial=0.0)
    columns = x / np.where(size > 0, size, 1.0)
    within = columns[complete]
    columns -= within.mean(axis=0) if len(within) else 0.0
    lengths = np.sqrt((columns[complete] ** 2).sum(axis=0))
    columns = np.where(lengths > 1e-12, columns / np.where(lengths > 0, lengths, 1.0), 0.0)
    _, singular, directions = np.linalg.svd(np.linalg.qr(columns[complete], mode="r"), full_matrices=False)
    kept = singular > _RANK * max(1.0, singular.max(initial=0.0))
    scores = columns @ directions[kept].T / singular[kept]
    coordinates = np.column_stack([np.full(len(x), 1 / np.sqrt(max(complete.sum(), 1))), scores])
    return coordinates[complete], coordinates


def _whitened(draws: FloatArray) -> FloatArray:
    """The draws, of more records than columns, times the matrix that makes their mean square the unit matrix."""
    for _ in range(2):  # once leaves the square of their condition times the rounding
        root = np.linalg.cholesky(draws.T @ draws / len(draws))
        draws = draws @ np.linalg.inv(root).T
    return draws


def _root(covariance: FloatArray) -> FloatArray:
    """R of shape (d, rank) with R R' = covariance; by eigenvalues of the correlations, as it may be singular."""
    deviations = np.sqrt(np.diag(covariance))
    unit = np.where(deviations > 0, deviations, 1.0)
    eigenvalues, eigenvectors = np.linalg.eigh(covariance / np.outer(unit, unit))
    kept = eigenvalues > _RANK * max(eigenvalues.max(), 1e-300)
    root: FloatArray = unit[:, None] * eigenvectors[:, kept] * np.sqrt(eigenvalues[kept])
    return root


def _refuse_determined(target: FloatArray, residuals: FloatArray, names: tuple[str, ...]) -> None:
    """Raise PlanError when the fitted values of a column are its original values; a constant may be so."""
    deviations = target.std(axis=0)
    for place in np.flatnonzero((deviations > 1e-12) & (residuals.std(axis=0) < _EXPLAINED * deviations)):
        named = f" '{names[place]}'" if names else f" column {place} of y"
        raise PlanError(
            f"ipso:{named} is determined by the variables in 'given', so that its new values would be the original "
            "ones. Is it a sum of these? Leave a part of the sum out of 'given'."
        )
