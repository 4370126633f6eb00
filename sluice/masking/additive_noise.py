"""Additive noise: add a random normal deviate to each value.

Sources: 004_1eece6b9d3791e64.txt, "Additive Noise" (uncorrelated and correlated); 000_bbb18fa80793c128.txt, section
IV-B (correction for mean and variance). The correction centres the noise, because Table I of 000 reports means that are
preserved to rounding; variances are restored in expectation only.
"""

from typing import Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.errors import PlanError
from sluice.masking.perturbed_number import FloatArray, numbers, perturbed, stored
from sluice.masking.step import MaskingStep
from sluice.variables import Kind, Variable, Variables


class AdditiveNoise(MaskingStep):
    """Normal noise on continuous and integer variables; a missing value stays missing, a constant stays constant."""

    method: Literal["additive_noise"] = "additive_noise"
    kind: Literal["uncorrelated", "correlated"] = Field(
        default="uncorrelated", description="correlated: the noise has the data's correlations, which are so preserved"
    )
    amount: float = Field(description="variance of the noise as a share of the variable's variance, greater than 0")
    corrected: bool = Field(default=False, description="keep the means, and in expectation the variances")
    round: bool = Field(
        default=False, description="round integer variables to whole numbers; else they become continuous"
    )
    clip: bool = Field(default=False, description="move values to the contract's bounds; else the bounds are dropped")

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
        """Raises PlanError when a column has one value only, or correlated noise has fewer than 2 complete records."""
        released = self.released(variables)
        original = numbers(frame, self.columns)
        for name, values in zip(self.columns, original.T, strict=True):
            if np.isfinite(values).sum() == 1:
                raise PlanError(f"additive_noise on '{name}' needs at least 2 values for their variance; it has 1.")
        if self.kind == "uncorrelated":
            noise = uncorrelated_noise(original, self.amount, rng)
        else:
            complete = int(np.isfinite(original).all(axis=1).sum())
            if complete < 2:
                raise PlanError(
                    "additive_noise: correlated noise needs at least 2 records without a missing value in "
                    f"{', '.join(map(repr, self.columns))}; there are {complete}. Use kind: uncorrelated."
                )
            noise = correlated_noise(original, self.amount, rng)
        masked = corrected(original, noise, self.amount) if self.corrected else original + noise
        columns = {
            name: stored(values, released[name]).set_axis(frame.index)
            for name, values in zip(self.columns, masked.T, strict=True)
        }
        return frame.assign(**columns)

    def describe(self) -> str:
        kept = ["the means, and apart from chance the variances, are those of the original"] if self.corrected else []
        if self.kind == "correlated":
            kept.append("the noise follows the correlations between the variables")
        if self.clip:
            kept.append("values beyond the allowed range were moved to its end")
        return f"Random noise was added to {', '.join(self.columns)}" + "".join(f"; {said}" for said in kept) + "."


def uncorrelated_noise(original: FloatArray, amount: float, rng: Generator) -> FloatArray:
    """Independent normal noise, of variance `amount` times each column's.

    original : shape (n, d), NaN where missing
    amount   : variance of the noise as a share of the column's (0: no noise)
    returns  : shape (n, d), NaN where `original` is missing; 0 in a column with fewer than 2 values
    cost     : O(n d)
    source   : 004, "Additive Noise: Uncorrelated noise"
    """
    noise = rng.standard_normal(original.shape) * np.sqrt(amount) * _deviations(original)
    return np.where(np.isnan(original), np.nan, noise)


def correlated_noise(original: FloatArray, amount: float, rng: Generator) -> FloatArray:
    """Normal noise with covariance `amount` times that of the columns.

    original : shape (n, d), NaN where missing. Correlations are those of the complete records (at least 2), standard
               deviations those of all values of a column, so that each column gets its share with missing values too
    returns  : shape (n, d), NaN where `original` is missing
    cost     : O(n d^2 + d^3)
    source   : 004, "Additive Noise: Correlated noise": N(0, amount Sigma)
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
    noise = (rng.standard_normal(original.shape) @ root.T) * np.sqrt(amount) * _deviations(original)
    return np.where(np.isnan(original), np.nan, noise)


def corrected(original: FloatArray, noise: FloatArray, amount: float) -> FloatArray:
    """mean + (original + noise - mean) / sqrt(1 + amount), by column, with the noise centred.

    Means are those of the original exactly (to rounding), variances and covariances in expectation: for correlated
    noise the whole covariance matrix, for uncorrelated noise the variances only (covariances shrink by 1 + amount).
    """
    means = _means(original)
    masked = means + ((original - means) + (noise - _means(noise))) / np.sqrt(1.0 + amount)
    return np.where(_deviations(original) > 0, masked, original)


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
