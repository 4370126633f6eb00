"""Additive noise: add a random normal deviate to each value.

Sources: Torra (2013), "Additive Noise" (uncorrelated and correlated); Lasko and Vinterbo (2010), section
IV-B (correction for mean and variance) and section V (noise along the spectral basis). The correction centres the
noise, because Table I of Lasko and Vinterbo (2010) reports means that are preserved to rounding. Variances are restored
in expectation, by their factor; differs from them: `corrected: exact` restores each column's variance itself. Along the
spectral basis each coordinate gets its share of noise. Before the correction this is correlated noise in another
notation: independent normal deviates on the principal axes, each with `amount` times the axis' variance, have
covariance `amount` times the data's. The correction differs: it is made on the coordinates, so that the total variance
is kept and a column's nearly; `corrected: exact` is made on the columns there, too.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.sentence import percent
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import Clip, Round, numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep, RecordDraws
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linear_change import Filtering, LinearChange

_STEP = float(np.log(1.02))  # of the logarithm of a standard deviation


class AdditiveNoise(MaskingStep):
    """Normal noise on continuous and integer variables; missing values and constants stay as they are."""

    method: Literal["additive_noise"] = "additive_noise"
    kind: Literal["uncorrelated", "correlated", "spectral"] = Field(
        default="uncorrelated",
        description="correlated: the noise has the data's correlations, which it preserves; spectral: the same, along "
        "the principal axes of the standardised columns",
    )
    amount: float = Field(description="variance of the noise as a share of the variable's variance, greater than 0")
    corrected: bool | Literal["exact"] = Field(
        default=False,
        description="true: keep means, and variances in expectation; exact: keep both exactly",
    )
    round: Round = False
    clip: Clip = False

    example: ClassVar[str] = (
        "{method: additive_noise, columns: [income, rent], kind: correlated, amount: 0.1, corrected: true}"
    )
    use_when: ClassVar[str] = (
        "Exact numbers would identify, and analysts can correct for known noise; correlated for columns "
        "that are analysed together."
    )
    preserves: ClassVar[str] = (
        "Means (exactly if `corrected`), and covariances up to a known factor. Uncorrelated noise raises "
        "the variances only; correlated and spectral noise keep correlations. With `corrected` variances "
        "return, with `exact` to the last digit; extremes, bounds and whole numbers are lost."
    )
    known_attack: ClassVar[str] = (
        "Linkage to the nearest released record: Lasko and Vinterbo (2010, section IV-E) find 99 % of "
        "2,000 people by 28 columns at an amount of 0.1. Along the noise's own directions and in its "
        "units, many records of a dozen correlated columns are found at amounts of a quarter. Uncorrelated "
        "noise on correlated columns is also stripped by projecting on the principal axes (Lasko and "
        "Vinterbo 2010, section V)."
    )
    missing_values: ClassVar[str] = (
        "A missing value stays missing; correlations are those of the complete records. With `kind: spectral` missing "
        "values are refused, because an incomplete record has no place on the axes."
    )
    in_an_analysis: ClassVar[str] = (
        "Means are right but for chance. The noise adds to the variance; its share of the original variance is "
        "published. A slope on a noisy predictor is too flat; divide by the share of the variance that is not noise."
    )
    attack_measured: ClassVar[str] = (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On 12 "
        "variables of Census (amount: 0.1): 39 % found; 30 % surely found; 34 % of the values computed, 23 % without."
    )

    @model_validator(mode="after")
    def _amount_is_positive(self) -> Self:
        if not 0 < self.amount < np.inf:
            raise ValueError(
                f"amount of additive_noise on {', '.join(map(repr, self.columns))} must be a number greater than 0; "
                f"got {self.amount:g}. It is a share of the variance: 0.1 is a tenth."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds are dropped unless `clip`."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        changed = {name: perturbed(variables[name], whole=self.round, bounded=self.clip) for name in self.columns}
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when a column has too few values for a variance to be kept, correlated noise has fewer than
        2 complete records, or spectral noise an incomplete one."""
        draw = correlated_noise if self.kind == "correlated" else uncorrelated_noise
        return self._masked(frame, variables, lambda original: draw(original, self.amount, rng))

    @property
    def draws_apart(self) -> bool:
        """Corrected noise is scaled so that means and variances stay those of all records."""
        return not self.corrected

    @property
    def draws_by_record(self) -> bool:
        """Correlated noise follows the correlations, which are others in each edition."""
        return self.kind == "uncorrelated"

    def mask_by_record(self, frame: pd.DataFrame, variables: Variables, draws: RecordDraws) -> pd.DataFrame:
        """The standard deviation of the noise is taken to the nearest step of 2 %, and the draws are of that step.

        Else the noise of two editions whose deviations differ by a hair would differ by that hair times each draw, and
        so tell every draw.
        """

        def noise(original: FloatArray) -> FloatArray:
            scales = _in_steps(np.sqrt(self.amount) * _deviations(original))
            each = [
                scale * draws.normal(f"{name} {scale!r}", frame[name])
                for name, scale in zip(self.columns, scales.tolist(), strict=True)
            ]
            return np.where(np.isnan(original), np.nan, np.column_stack(each))

        return self._masked(frame, variables, noise)

    def _masked(
        self, frame: pd.DataFrame, variables: Variables, noise: Callable[[FloatArray], FloatArray]
    ) -> pd.DataFrame:
        released = self.released(variables)
        original = np.asfortranarray(numbers(frame, self.columns))  # column by column, as everything below goes
        self._refuse_too_few(original)
        with np.errstate(over="ignore"):
            deviations = _deviations(original)
            squares = len(original) * deviations**2
        if not np.isfinite(squares).all():
            raise PlanError("additive_noise: values are too large for their variances to be computed.")
        if self.kind == "spectral":
            centres, scales, axes = spectral_axes(original)
            coordinates = (axes.T @ ((original - centres) / scales).T).T
            if self.corrected == "exact":
                along = (axes @ noise(coordinates).T).T * scales
                masked = corrected(original, along, self.amount, exact=True)
            else:
                masked = (axes @ self._with_noise(coordinates, noise(coordinates)).T).T * scales + centres
            masked = np.where(deviations > 0, masked, original)
        else:
            masked = self._with_noise(original, noise(original))
        columns = {
            name: stored(values, released[name]).set_axis(frame.index)
            for name, values in zip(self.columns, masked.T, strict=True)
        }
        return with_columns(frame, columns)

    def attacks(self) -> tuple[Attack, ...]:
        amount = f"that noise of {percent(np.sqrt(self.amount))} of each standard deviation was added"
        linkage = LinearChange(self.columns, amount)
        alone = self.kind != "uncorrelated" or len(self.columns) == 1  # follows the data, and cannot be told from them
        return (linkage,) if alone else (linkage, Filtering(self.columns, amount))

    def parameters(self) -> dict[str, Any]:
        """What the noise was, as a share: no figure of the data. Every attack on the file is played with it known."""
        how = {"kind": self.kind, "share_of_variance": self.amount, "corrected": self.corrected}
        return {"noise": {"columns": list(self.columns), **how}}

    def correction(self) -> str:
        factor, root = f"{1 + self.amount:.5g}", f"{np.sqrt(1 + self.amount):.5g}"
        apart = f"Within each combination of {', '.join(self.strata)}: " if self.strata else ""
        among = "two of these variables" if len(self.columns) > 1 else "it and another with such noise"
        if self.kind == "uncorrelated":
            if self.corrected:
                said = (
                    f"Means and variances need no correction. Multiply a covariance, a correlation or a slope between "
                    f"{among} by {factor}, and between one of them and any other variable by {root}."
                )
            else:
                said = (
                    f"Means need no correction. Divide a variance by {factor}; covariances need none. Multiply a "
                    f"correlation between {among} by {factor}, and with any other variable by {root}; multiply a slope "
                    f"on one such predictor by {factor}."
                )
        elif self.corrected:
            said = (
                "Means, variances, and correlations and regressions among these variables need no correction. Multiply "
                f"a covariance, a correlation or a slope between one of them and any other variable by {root}."
            )
        else:
            said = (
                f"Means need no correction. Divide variances and covariances among these variables by {factor}; their "
                "correlations and regressions on each other need none. With any other variable, multiply a "
                f"correlation by {root}, and its slope on one of them by {factor}."
            )
        nearly = ["that values were moved to the ends of the range"] if self.clip else []
        nearly += ["that values were rounded to whole numbers, which adds 1/12 to a variance"] if self.round else []
        nearly += ["that the correction was made along the axes"] if self.kind == "spectral" and self.corrected else []
        return apart + said + (f" All this holds but for chance, and but for {' and '.join(nearly)}." if nearly else "")

    def describe(self) -> str:
        variances = " and variances" if self.corrected == "exact" else ", and apart from chance the variances,"
        kept = [f"the means{variances} are those of the original"] if self.corrected else []
        if self.kind != "uncorrelated":
            kept.append("the noise follows the correlations between the variables")
        if self.clip:
            kept.append("values beyond the allowed range were moved to its end")
        return f"Random noise was added to {', '.join(self.columns)}" + "".join(f"; {said}" for said in kept) + "."

    def _with_noise(self, original: FloatArray, noise: FloatArray) -> FloatArray:
        """Columns, or spectral coordinates, with noise; corrected where asked."""
        if not self.corrected:
            return original + noise
        return corrected(original, noise, self.amount, exact=self.corrected == "exact")

    def _refuse_too_few(self, original: FloatArray) -> None:
        present = np.isfinite(original)
        # Of two values with their mean and variance kept, the released ones are the same or have changed places.
        needed = 3 if self.corrected == "exact" else 2
        for name, count in zip(self.columns, present.sum(axis=0), strict=True):
            if 0 < count < needed:
                raise PlanError(
                    f"additive_noise on '{name}' needs at least {needed} values for their variance; it has {count}."
                )
            if self.kind == "spectral" and count < len(original):
                raise PlanError(
                    f"additive_noise on '{name}': noise along the spectral basis takes no missing values; there are "
                    f"{len(original) - count}. Use kind: correlated, whose noise has the same covariances."
                )
        complete = int(present.all(axis=1).sum())
        if self.kind == "correlated" and complete < 2:
            raise PlanError(
                "additive_noise: correlated noise needs at least 2 records without a missing value in "
                f"{', '.join(map(repr, self.columns))}; there are {complete}. Use kind: uncorrelated."
            )


def _in_steps(scales: FloatArray) -> FloatArray:
    """Each to the nearest power of 1.02; 0 stays 0."""
    present = scales > 0
    logarithms = np.rint(np.log(np.where(present, scales, 1.0)) / _STEP) * _STEP
    return np.where(present, np.exp(logarithms), 0.0)


def uncorrelated_noise(original: FloatArray, amount: float, rng: Generator) -> FloatArray:
    """Independent normal noise, of variance `amount` times each column's.

    original : shape (n, d), NaN where missing
    amount   : variance of the noise as a share of the column's (0: no noise)
    returns  : shape (n, d), NaN where `original` is missing; 0 in a column with fewer than 2 values
    cost     : O(n d)
    source   : Torra (2013), "Additive Noise: Uncorrelated noise"
    """
    scale = np.sqrt(amount) * _deviations(original)
    noise = (rng.standard_normal(original.shape[::-1]) * scale[:, None]).T
    return np.where(np.isnan(original), np.nan, noise)


def correlated_noise(original: FloatArray, amount: float, rng: Generator) -> FloatArray:
    """Normal noise with covariance `amount` times that of the columns.

    original : shape (n, d), NaN where missing. Correlations are those of the complete records (at least 2), standard
               deviations those of all values of a column, so that each column gets its share with missing values too
    returns  : shape (n, d), NaN where `original` is missing
    cost     : O(n d^2 + d^3)
    source   : Torra (2013), "Additive Noise: Correlated noise": N(0, amount Sigma)
    """
    complete = original[np.isfinite(original).all(axis=1)]
    centred = complete - complete.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    directions = centred / np.where(lengths > 0, lengths, 1.0)
    correlations = directions.T @ directions
    # A variable that varies only among incomplete records has no correlation to follow: its noise is its own.
    np.fill_diagonal(correlations, 1.0)
    # A root by eigenvalues, because collinear variables (a total and its parts) have no Cholesky factor.
    eigenvalues, eigenvectors = np.linalg.eigh(correlations)
    root = eigenvectors * np.sqrt(np.clip(eigenvalues, 0.0, None))
    root *= np.sqrt(amount) * _deviations(original)[:, None]
    noise = (root @ rng.standard_normal(original.shape[::-1])).T
    return np.where(np.isnan(original), np.nan, noise)


def spectral_axes(original: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means, standard deviations (1 for a constant) and the principal axes of the standardised columns.

    original : shape (n, d), finite
    returns  : shapes (d,), (d,) and (d, d); `(original - means) / deviations @ axes` are the spectral coordinates
    cost     : O(n d^2 + d^3)
    source   : Lasko and Vinterbo (2010), section III-A: the axes are V of the singular value decomposition U D V'
    """
    means, deviations = _means(original), _deviations(original)
    deviations[deviations == 0] = 1.0
    standardised = (original - means) / deviations
    return means, deviations, np.linalg.eigh(standardised.T @ standardised)[1]


def corrected(original: FloatArray, noise: FloatArray, amount: float, exact: bool = False) -> FloatArray:
    """mean + (original + noise - mean) / sqrt(1 + amount), by column, with the noise centred.

    Means are those of the original exactly (to rounding), variances and covariances in expectation: for correlated
    noise the whole covariance matrix, for uncorrelated noise the variances only (covariances shrink by 1 + amount).

    exact : divide by the ratio of the standard deviations that the draw gave, instead of the expected sqrt(1 + amount):
            variances too are those of the original exactly, and correlations as they were before
    """
    means, deviations = _means(original), _deviations(original)
    moved = (original - means) + (noise - _means(noise))
    if exact:
        now = _deviations(moved)
        factors = deviations / np.where(now > 0, now, 1.0)
    else:
        factors = np.full(len(means), 1.0 / np.sqrt(1.0 + amount))
    return np.where(deviations > 0, means + moved * factors, original)


def _means(original: FloatArray) -> FloatArray:
    """Mean of each column's values; 0 without any. Column by column, because NumPy then adds up pairwise."""
    return np.array([values[np.isfinite(values)].mean() if np.isfinite(values).any() else 0.0 for values in original.T])


def _deviations(original: FloatArray) -> FloatArray:
    """Standard deviation (n - 1) of each column's values; 0 with fewer than 2, and exactly 0 in a constant column."""
    deviations = np.zeros(original.shape[1])
    for column, values in enumerate(original.T):
        values = values[np.isfinite(values)]
        if len(values) > 1 and values.min() < values.max():
            deviations[column] = values.std(ddof=1)
    return deviations
