"""Random orthogonal matrix masking (ROMM): turn the records by a random rotation that keeps means and covariances.

Sources: Ting, Fienberg and Trottini (2008): X' = T X with T orthogonal and T 1 = 1, fully random or near the identity
by orthonormalising I + c M, M of normal deviates. That the n x n matrix itself is not needed is in Langsrud (2019).
Differs from them: the columns of I + c M are orthonormalised in a basis that begins with the data's own directions, and
these together (by the polar decomposition, not one after the other), so that no direction and no record comes first;
and c is given as `strength` = c^2 (n - 1), which means the same in a file of any size.
"""

from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import Clip, Round, numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linear_change import LinearChange


class RandomOrthogonalMatrix(MaskingStep):
    """Multiply continuous and integer columns by a random orthogonal matrix; means and covariances stay exactly."""

    method: Literal["random_orthogonal_matrix"] = "random_orthogonal_matrix"
    strength: float | None = Field(
        default=None,
        description="variance of the random part as a share of the data's, greater than 0; a released value has "
        "correlation 1 / sqrt(1 + strength) with its original. Absent: fully random",
    )
    missing: Literal["refuse", "mean"] = Field(
        default="refuse",
        description="mean: a missing value takes part as the mean, and the released column has no missing value",
    )
    round: Round = False
    clip: Clip = False

    example: ClassVar[str] = "{method: random_orthogonal_matrix, columns: [income, rent, hours], strength: 0.5}"
    use_when: ClassVar[str] = (
        "Analysts fit linear models or need exact means and covariances, and the variables are roughly normal."
    )
    preserves: ClassVar[str] = (
        "All means, variances, covariances of the columns, and so regressions among them, exactly; with "
        "`round` or `clip` nearly. Skewness, bounds and whole numbers are lost the more, the greater "
        "`strength`."
    )
    known_attack: ClassVar[str] = (
        "With a small `strength` records are linked to their nearest released one, as after additive noise (Lasko and "
        "Vinterbo 2010, section IV-E). Exact totals allow whoever knows all records but one to compute the last one."
    )
    missing_values: ClassVar[str] = (
        "Refused, because every released record mixes all the original ones; with `missing: mean` they take part as "
        "the mean and are filled, and the moments kept are those of the filled file."
    )
    in_an_analysis: ClassVar[str] = (
        "Means, variances, covariances and linear regressions among these variables need no correction. Nothing else is"
        " of the data: no distribution, no quantile, no subgroup, and no relation to other variables."
    )
    attack_measured: ClassVar[str] = (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On 12 "
        "variables of Census (strength: 0.5): 16 % found; 8 % surely found."
    )

    @model_validator(mode="after")
    def _strength_is_positive(self) -> Self:
        if self.strength is not None and not 0 < self.strength < np.inf:
            raise ValueError(
                f"strength of random_orthogonal_matrix on {', '.join(map(repr, self.columns))} must be a number "
                f"greater than 0; got {self.strength:g}. It is a share of the variance: 0.1 is a tenth."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds are dropped unless `clip`."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        changed = {
            name: perturbed(variables[name], whole=self.round, bounded=self.clip).model_copy(update={"nullable": False})
            for name in self.columns
        }
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError on fewer than 3 records, and on missing values unless `missing: mean`."""
        released = self.released(variables)
        if len(frame) < 3:
            raise PlanError(f"random_orthogonal_matrix needs at least 3 records to turn; there are {len(frame)}.")
        original = numbers(frame, self.columns)
        gaps = np.isnan(original)
        for position in np.flatnonzero(gaps.any(axis=0)):
            name, missing = self.columns[position], gaps[:, position]
            if self.missing == "refuse":
                raise PlanError(
                    f"random_orthogonal_matrix on '{name}' takes no missing values; there are {missing.sum()}. "
                    "Use missing: mean, or impute them first (multiple_imputation, what: missing)."
                )
            if missing.all():
                raise PlanError(f"random_orthogonal_matrix on '{name}' needs a value; all are missing.")
            original[missing, position] = original[~missing, position].mean()
        masked = random_orthogonal_mask(original, self.strength, rng)
        columns = {
            name: stored(values, released[name]).set_axis(frame.index)
            for name, values in zip(self.columns, masked.T, strict=True)
        }
        return with_columns(frame, columns)

    def attacks(self) -> tuple[Attack, ...]:
        turned = "fully" if self.strength is None else f"with a strength of {self.strength:g}"
        return (LinearChange(self.columns, f"that the records were turned {turned}"),)

    def describe(self) -> str:
        said = (
            f"The records' values of {', '.join(self.columns)} were mixed by a random rotation: a released record "
            "belongs to no one person, and means, variances and covariances "
        )
        if self.round or self.clip:
            said += "are kept but for moving values to " + " and ".join(
                ["whole numbers"] * self.round + ["the allowed range"] * self.clip
            )
        else:
            said += "are exactly those of the original"
        return said + ("; missing values were filled." if self.missing == "mean" else ".")


def random_orthogonal_mask(original: FloatArray, strength: float | None, rng: Generator) -> FloatArray:
    """T (original - means) + means, with T a random orthogonal n x n matrix that keeps the vector of ones.

    original : shape (n, d), finite
    strength : None for T uniform among all such matrices; else T is near the identity: (I + c M) orthonormalised, with
               c^2 (n - 1) = strength. The released values are then those of correlated noise of this amount, corrected
               so that the whole covariance matrix is the original's
    returns  : shape (n, d), with the means and covariances of `original` to rounding; a constant column stays
    raises   : PlanError when values are too large for their squares
    cost     : O(n d^2) time, four n x d matrices
    source   : Ting, Fienberg and Trottini 2008. With Q an orthonormal basis of the centred columns and R their
               coordinates, T Q R needs only T Q, the orthonormalised Q + c N, N of n x rank normal deviates: M turned
               into a basis that begins with Q is of normal deviates again
    """
    n = len(original)
    columns = np.ascontiguousarray(
        original.T
    )  # one row a variable: NumPy adds up pairwise along what lies side by side
    with np.errstate(over="ignore", invalid="ignore"):
        means = columns.mean(axis=1, keepdims=True)
        constant = columns.min(axis=1) == columns.max(axis=1)
        means[constant, 0] = columns[constant, 0]  # else a rounding error of the mean would pass for variation
        centred = columns - means
        centred -= centred.mean(axis=1, keepdims=True)  # of a large mean, rounding leaves more than of the deviations
        lengths = np.sqrt(np.einsum("ji,ji->j", centred, centred))
    if not np.isfinite(lengths).all():
        raise PlanError("random_orthogonal_matrix: the values are too large for their variances to be computed.")
    lengths[lengths == 0] = 1.0
    centred /= lengths[:, None]
    eigenvalues, axes = np.linalg.eigh(centred @ centred.T)
    # Collinear columns (a total and its parts) span fewer directions than they are; the rest is rounding.
    spanned = eigenvalues > 1e-13
    spreads, axes = np.sqrt(eigenvalues[spanned]), axes[:, spanned]
    turned = rng.standard_normal((len(spreads), n))
    if strength is not None:
        turned *= np.sqrt(strength / (n - 1))
        turned += (axes / spreads).T @ centred
    turned -= turned.mean(axis=1, keepdims=True)
    masked = (lengths[:, None] * axes * spreads) @ _orthonormalised(turned) + means
    return np.asarray(masked.T)


def _orthonormalised(rows: FloatArray) -> FloatArray:
    """The orthonormal rows nearest to these (the polar factor), which treats all rows alike."""
    for _ in range(2):  # once leaves rounding errors that grow with the square of the condition number
        eigenvalues, axes = np.linalg.eigh(rows @ rows.T)
        rows = (axes / np.sqrt(eigenvalues)) @ axes.T @ rows
    return rows
