"""Multiple imputation: replace values by draws from a regression on other variables.

Source: Torra (2013), "Multiple imputation" (simulated continuous microdata; variable by variable, by a
randomised regression with normal errors, which imputes missing values). Proper imputation after Rubin (1987, p. 167):
the regression's parameters are drawn from their posterior, so that the draws carry the uncertainty about them. Differs
from Torra (2013): a step gives one file, m = 1; for m files release the plan m times. Several columns are drawn one
after the other, each also on those before it, which keeps the relations among them; where only missing values are
filled, each is then drawn again on all the others, some times over.

Predictors: numbers as they are, ordinal, nominal and binary variables as one dummy a category. A missing predictor
takes part as a category of its own (numbers: as the mean, with a dummy that says so), so that no record is left out.
Collinear predictors do no harm: what they tell together is counted once.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.sentence import percent
from sluice.ground.variables import NAMES, Kind, Variable, Variables
from sluice.masking.column_numbers import Clip, Round, numbers, perturbed, stored
from sluice.masking.masking_step import DRAWN_FROM_A_MODEL, MaskingStep
from sluice.risk.transparency.attack import Attack, NoAttack
from sluice.risk.transparency.linkage import LearnedCloseness
from sluice.risk.transparency.synthetic_values import KeptValues

_NO_DATA = (Kind.DATE, Kind.TEXT, Kind.ITEMS)
_COLLINEAR = 1e-10  # share of the largest eigenvalue below which a direction of the predictors is none
_DETERMINED = 1e-12  # share of the variance left by a regression that gives the values themselves


class MultipleImputation(MaskingStep):
    """Replace continuous and integer values, or fill missing ones, by draws from a regression with normal errors."""

    method: Literal["multiple_imputation"] = "multiple_imputation"
    given: tuple[str, ...] | None = Field(
        default=None,
        description="the predictors; by default all other variables but dates, texts, person and household numbers. [] "
        "draws from a normal distribution",
    )
    what: Literal["all", "missing"] = Field(
        default="all",
        description="all: every value is replaced and missing ones are filled; missing: only missing ones are filled, "
        "which protects nobody",
    )
    share: float = Field(default=1.0, description="share of the values, in (0, 1], replaced with what: all, at random")
    sweeps: int = Field(
        default=5,
        ge=0,
        description="with what: missing and several columns: how often each is redrawn given the others",
    )
    round: Round = False
    clip: Clip = False

    example: ClassVar[str] = "{method: multiple_imputation, columns: [income], given: [age, sex, education]}"
    use_when: ClassVar[str] = (
        "Numbers must keep their regressions on other variables; with what: missing, before a method that "
        "takes no missing values."
    )
    preserves: ClassVar[str] = (
        "Means, variances and linear relations to the predictors, in expectation. Not the shape of the distribution: "
        "draws are normal around the regression, may leave the range, and curved relations are straightened."
    )
    known_attack: ClassVar[str] = (
        "Predictors that nearly determine a variable reveal it: if they explain 99 % of its variance, a "
        "draw is typically 0.14 standard deviations off. Values that a share below 1 leaves are original, "
        "and a few of them together find the record."
    )
    missing_values: ClassVar[str] = "Missing values of the columns are filled; a missing predictor is a category."
    in_an_analysis: ClassVar[str] = DRAWN_FROM_A_MODEL
    attack_measured: ClassVar[str] = (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 5 "
        "variables of Census (share: 0.5): 46 % found; 35 % surely found; 50 % of the values computed, 0 % without."
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        on = f"of multiple_imputation on {', '.join(map(repr, self.columns))}"
        if not 0 < self.share <= 1:
            hint = (
                f"Is it a percentage? Use {self.share / 100:g}." if 1 < self.share <= 100 else "Use 1 for all values."
            )
            raise ValueError(f"share {on} must be in (0, 1]; got {self.share:g}. {hint}")
        if self.share < 1 and self.what == "missing":
            raise ValueError(f"share {on} goes with what: all; all missing values are filled")
        both = [name for name in self.given or () if name in self.columns]
        if both:
            raise ValueError(f"given {on} names '{both[0]}', which is one of columns; a variable cannot predict itself")
        if len(set(self.given or ())) != len(self.given or ()):
            raise ValueError(f"given {on} names a variable twice")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """No column has missing values any more; integers become continuous unless `round`, bounds go unless `clip`."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        self._predictors(variables)
        changed = {}
        for name in self.columns:
            variable = perturbed(variables[name], whole=self.round, bounded=self.clip)
            changed[name] = variable.model_copy(update={"nullable": False, "max_missing_share": None})
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError: too few records for the predictors; what: all where these determine a column."""
        released = self.released(variables)
        original = numbers(frame, self.columns)
        given = predictors(frame, self._predictors(variables))
        draw = self._simulated if self.what == "all" else self._filled
        masked = draw(original, given, rng)
        return frame.assign(
            **{
                name: stored(values, released[name]).set_axis(frame.index)
                for name, values in zip(self.columns, masked.T, strict=True)
            }
        )

    @property
    def draws_apart(self) -> bool:
        """Of a share, which records keep their values is drawn for all of them together."""
        return self.what == "missing" or self.share == 1

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple["MultipleImputation", ...]:
        """The same step with its predictors named."""
        return (self.model_copy(update={"given": self._predictors(variables)}),)

    def parameters(self) -> dict[str, Any]:
        """What a user needs to weigh the draws: which values they stand for, and what they were drawn on."""
        return {"what": self.what, "share": self.share, "given": list(self.given or ()), "imputations": 1}

    def attacks(self) -> tuple[Attack | NoAttack, ...]:
        if self.what == "missing":
            return (NoAttack("only blanks are filled; what else is known of a person is compared as it is"),)
        drawn = LearnedCloseness(self.columns)
        return (drawn,) if self.share == 1 else (drawn, KeptValues(self.columns, self.share))

    def describe(self) -> str:
        names = ", ".join(self.columns)
        on = f" on {', '.join(self.given)}" if self.given else ""
        drawn = f"random draws from a linear regression{on}, with normal errors"
        if self.what == "missing":
            return f"Missing values of {names} were filled by {drawn} (one imputation)."
        part = "The values" if self.share == 1 else f"About {percent(self.share)} of the values"
        return f"{part} of {names} were replaced by {drawn} (one imputation); missing values were filled."

    def _predictors(self, variables: Variables) -> tuple[str, ...]:
        """The names of the predictors. Raises PlanError for one that is not there or is no number or category."""
        if self.given is None:
            return tuple(
                name
                for name, variable in variables.items()
                if name not in self.columns and variable.kind not in _NO_DATA and variable.role not in NAMES
            )
        for name in self.given:
            if name not in variables:
                hint = did_you_mean(name, variables) or " Did an earlier step take it out?"
                raise PlanError(
                    f"given of multiple_imputation: no variable '{name}' at this point.",
                    came=name,
                    allowed=variables,
                    hint=hint,
                )
            if variables[name].kind in _NO_DATA:
                raise PlanError(
                    f"given of multiple_imputation takes numbers and categories; '{name}' is {variables[name].kind}."
                )
        return self.given

    def _simulated(self, original: FloatArray, given: FloatArray, rng: Generator) -> FloatArray:
        """Each column drawn on the predictors and the columns before it: learnt from originals, drawn on draws."""
        masked = original.copy()
        for place in range(len(self.columns)):
            replaced = np.isnan(original[:, place])
            values = np.flatnonzero(~replaced)
            replaced[rng.permutation(values)[: int(np.rint(self.share * len(values)))]] = True
            complete = np.isfinite(original[:, : place + 1]).all(axis=1)
            masked[replaced, place] = self._draws(
                np.hstack([given[complete], original[complete, :place]]),
                original[complete, place],
                np.hstack([given[replaced], masked[replaced, :place]]),
                place,
                rng,
            )
        return masked

    def _filled(self, original: FloatArray, given: FloatArray, rng: Generator) -> FloatArray:
        """Missing values drawn on the predictors and the columns before, then `sweeps` times on all other columns."""
        masked = original.copy()
        for sweep in range(1 + (self.sweeps if len(self.columns) > 1 else 0)):
            for place in range(len(self.columns)):
                missing = np.isnan(original[:, place])
                if missing.any():
                    others = masked[:, :place] if sweep == 0 else np.delete(masked, place, axis=1)
                    on = np.hstack([given, others])
                    observed = ~missing
                    masked[missing, place] = self._draws(
                        on[observed], original[observed, place], on[missing], place, rng
                    )
        return masked

    def _draws(
        self, known: FloatArray, response: FloatArray, wanted: FloatArray, place: int, rng: Generator
    ) -> FloatArray:
        if len(wanted) == 0:
            return np.empty(0)
        try:
            return regression_draws(known, response, wanted, rng, exact=self.what == "missing")
        except PlanError as error:
            raise PlanError(f"multiple_imputation on '{self.columns[place]}' {error}") from None


def regression_draws(
    known: FloatArray, response: FloatArray, wanted: FloatArray, rng: Generator, exact: bool = True
) -> FloatArray:
    """Draws of the response at new predictors, from the posterior predictive law of a normal linear regression.

    With s^2 the residual sum of squares over a chi-square draw on n - 1 - rank degrees of freedom, and coefficients
    drawn from N(least squares, s^2 (X'X)^-1), each draw is N(its predictors times the coefficients, s^2); the prior is
    the usual one that says nothing. The intercept is part of it.

    known    : shape (n, p), predictors of the records with a response; p may be 0
    response : shape (n,)
    wanted   : shape (m, p)
    exact    : accept a response that the predictors determine; its draws are then the regression's values
    returns  : shape (m,)
    raises   : PlanError if n is less than the rank of the predictors plus 2, or values overflow; or unless `exact`
    cost     : O(n p^2 + p^3) time, O((n + m) p) memory
    source   : Rubin (1987), p. 167
    """
    n = len(response)
    if n < 2:
        raise PlanError(f"needs at least 2 records with a value to learn from; there are {n}.")
    with np.errstate(over="ignore", invalid="ignore"):
        known, centre, spread = _standardised(known)
        response, level, scale = _standardised(response)
    if not all(np.isfinite(moment).all() for moment in (centre, spread, level, scale)):
        raise PlanError("meets values too large for a regression. Rescale them.")
    eigenvalues, directions = np.linalg.eigh(known.T @ known)
    kept = eigenvalues > _COLLINEAR * eigenvalues.max(initial=0.0)
    basis = directions[:, kept] / np.sqrt(eigenvalues[kept])  # predictors @ basis has orthonormal columns
    freedom = n - 1 - int(kept.sum())
    if freedom < 1:
        raise PlanError(
            f"needs more records with a value than predictors: there are {n}, and the predictors count for "
            f"{kept.sum()} (each category is one). Name fewer in 'given'."
        )
    coefficients = basis.T @ (known.T @ response)
    residual = response - known @ (basis @ coefficients)
    left, total = float(residual @ residual), float(response @ response)
    if not exact and total > 0 and left <= _DETERMINED * total:
        raise PlanError(
            "would give the original values: the predictors determine it. Leave the predictor that does out of 'given'."
        )
    deviation = np.sqrt(left / rng.chisquare(freedom))
    coefficients = coefficients + deviation * rng.standard_normal(len(coefficients))
    intercept = deviation / np.sqrt(n) * rng.standard_normal()
    with np.errstate(over="ignore", invalid="ignore"):
        drawn = intercept + (wanted - centre) @ (basis @ coefficients / spread)
        drawn = level + scale * (drawn + deviation * rng.standard_normal(len(wanted)))
    if not np.isfinite(drawn).all():
        raise PlanError("meets values too large for a regression. Rescale them.")
    return np.asarray(drawn, dtype=np.float64)


def predictors(frame: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    """The named variables as columns of a regression: numbers, and a dummy for each category but the first.

    returns : shape (n, p), finite; a missing number is the mean, and a dummy says so; a missing category is a category
    """
    columns: list[FloatArray] = []
    for name in names:
        values = numbers(frame, [name])[:, 0]
        missing = np.isnan(values)
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            present = np.unique(np.where(missing, -1.0, values))
            columns.append((np.where(missing, -1.0, values)[:, None] == present[1:]).astype(np.float64))
            continue
        with np.errstate(over="ignore"):  # a mean that overflows is refused by the regression
            mean = values[~missing].mean() if not missing.all() else 0.0
        columns.append(np.where(missing, mean, values)[:, None])
        if missing.any():
            columns.append(missing[:, None].astype(np.float64))
    return np.hstack(columns) if columns else np.empty((len(frame), 0))


def _standardised(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The values with mean 0 and standard deviation 1 by column, the means and the deviations (1 for a constant)."""
    constant = values.max(axis=0) == values.min(axis=0)
    centre = np.where(constant, values[0], values.mean(axis=0))
    scaled = values - centre
    spread = np.sqrt(np.einsum("i...,i...->...", scaled, scaled) / len(values))
    spread = np.where(spread > 0, spread, 1.0)
    scaled /= spread
    return scaled, centre, spread
