"""Matrix comparisons: values, covariances, correlations and principal components of two files, by three divergences.

Source: Torra (2013), "Information Loss Measures: Continuous Data", the table of X, V, R, RF, C and F by mean square
error, mean absolute error and mean variation. Where it is silent or cannot be computed:

- the weight w_j of component j in RF and F is the original's j-th eigenvalue. These add up to p, so that the division
  by p^2 makes a mean;
- components are paired and turned as in `principal_components`;
- a zero original, and what the masked file does not give, have the relative change of `relative_changes`;
- a correlation with a variable that does not vary is 0.
"""

from math import isnan

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.continuous.mean_variations import MeanVariations, relative_changes
from sluice.utility.continuous.moments import NEGLIGIBLE, PairwiseMoments, centred_blocks, pairwise_moments
from sluice.utility.continuous.principal_components import paired, principal_components
from sluice.utility.continuous.probabilistic_information_loss import ProbabilisticInformationLoss
from sluice.utility.continuous.released_numbers import Numbers
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight

_NAN = float("nan")


class MatrixDivergence(BaseModel):
    """How far one matrix lies from another, 0 for not at all, higher is worse; None where nothing could be compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mean_square_error: float | None
    mean_absolute_error: float | None
    mean_variation: float | None  # mean relative change, 1 for 100 %
    cells: int  # of the matrix: what the means are over


class MatrixComparisons(BaseModel):
    """One divergence for each matrix that characterises a file of numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    values: MatrixDivergence  # X; its errors over the cells that have a value in both files
    covariances: MatrixDivergence  # V
    correlations: MatrixDivergence  # R
    loadings: MatrixDivergence  # RF
    communalities: MatrixDivergence  # C
    coefficients: MatrixDivergence  # F


def matrix_comparisons(
    original: Numbers,
    masked: Numbers,
    *,
    paired_records: bool = True,
    in_deviations: bool = False,
    weights: Weights = UNWEIGHTED,
    moments: tuple[PairwiseMoments, PairwiseMoments] | None = None,
) -> MatrixComparisons:
    """The six comparisons of two files of the same columns.

    original, masked : shape (n, d) and (m, d); NaN for a missing value
    paired_records   : row i of both is the same record; otherwise X is not compared
    in_deviations    : divide each column of both files by the original's standard deviation first (a constant one by
                       1), so that X and V say the same in any unit; mean variations, R, RF, C and F stay as they are
    weights          : of the records of both; what happened to a value weighs what its original record does
    moments          : of both files, where they are known already
    raises           : DataError if the columns differ, or the records of paired files
    cost             : O(n d^2)

    Missing values: X uses the cells present in the original; of those missing in the masked file the errors are not
    known and left out, the relative change is 1. V and R use, for each pair, the records that have both. A masked
    covariance that is not to be had counts as 0 in the errors, and as a change of 1. A column that does not vary in the
    original has no correlations to compare.
    """
    if original.shape[1] != masked.shape[1]:
        raise DataError(f"both files need the same columns; got {original.shape[1]} and {masked.shape[1]}.")
    if paired_records and len(original) != len(masked):
        raise DataError(f"values compare record by record; got {len(original):,} and {len(masked):,} records.")
    before, after = moments or (pairwise_moments(original, weights[0]), pairwise_moments(masked, weights[1]))
    scale = np.ones(original.shape[1])
    if in_deviations:
        variance = np.diagonal(before.covariance)
        scale = np.where(variance > 0, np.sqrt(np.maximum(np.nan_to_num(variance), 0)), 1.0)
    components = _components(before, after)
    return MatrixComparisons(
        values=_values(original, masked, scale, weights[0]) if paired_records else _NOTHING,
        covariances=_covariances(before, after, scale),
        correlations=_correlations(before, after),
        loadings=components[0],
        communalities=components[1],
        coefficients=components[2],
    )


_NOTHING = MatrixDivergence(mean_square_error=None, mean_absolute_error=None, mean_variation=None, cells=0)


def _values(original: Numbers, masked: Numbers, scale: FloatArray, weight: FloatArray | None) -> MatrixDivergence:
    zero, weight = np.zeros(len(scale)), relative_weight(weight, len(original))
    squares = moved = relative = compared = weighed = 0.0
    cells = 0
    for (before, present, w), (after, still, _) in zip(
        centred_blocks(original, zero, scale, weight), centred_blocks(masked, zero, scale), strict=True
    ):
        both = present & still
        difference = np.where(both, before - after, 0.0)
        change = np.where(present, relative_changes(before, np.where(still, after, np.nan)), 0.0)
        weight_of = np.float64(1.0) if w is None else w
        squares += float((weight_of * difference**2).sum())
        moved += float((weight_of * np.abs(difference)).sum())
        relative += float((weight_of * change).sum())
        compared += float((weight_of * both).sum())
        weighed += float((weight_of * present).sum())
        cells += int(both.sum())
    if not weighed:
        return _NOTHING
    return MatrixDivergence(
        mean_square_error=squares / compared if compared else None,
        mean_absolute_error=moved / compared if compared else None,
        mean_variation=relative / weighed,
        cells=cells,
    )


def _divergence(
    before: FloatArray, after: FloatArray, negligible: float | FloatArray, weight: float | FloatArray = 1.0
) -> MatrixDivergence:
    """Over the cells that the original has; `weight` with a mean of 1 where there is one."""
    known = ~np.isnan(before)
    if not known.any():
        return _NOTHING
    weights = np.broadcast_to(weight, before.shape)[known]
    difference = np.abs(before - np.nan_to_num(after, nan=0.0))[known]
    relative = relative_changes(before, after, negligible)[known]
    return MatrixDivergence(
        mean_square_error=float((weights * difference**2).mean()),
        mean_absolute_error=float((weights * difference).mean()),
        mean_variation=float((weights * relative).mean()),
        cells=int(known.sum()),
    )


def _covariances(before: PairwiseMoments, after: PairwiseMoments, scale: FloatArray) -> MatrixDivergence:
    half = np.triu_indices(len(scale))
    unit = np.outer(scale, scale)[half]
    deviation = np.sqrt(np.maximum(np.nan_to_num(np.diagonal(before.covariance)), 0))
    negligible = NEGLIGIBLE * np.outer(deviation, deviation)[half] / unit
    return _divergence(before.covariance[half] / unit, after.covariance[half] / unit, negligible)


def _correlations(before: PairwiseMoments, after: PairwiseMoments) -> MatrixDivergence:
    half = np.triu_indices(len(before.mean), 1)
    known = ~np.isnan(before.correlation[half])
    r, s = before.correlation[half], after.correlation[half]
    return _divergence(r[known], s[known], NEGLIGIBLE)


def _components(
    before: PairwiseMoments, after: PairwiseMoments
) -> tuple[MatrixDivergence, MatrixDivergence, MatrixDivergence]:
    varying = ~np.isnan(np.diagonal(before.correlation))
    if not varying.any():
        return _NOTHING, _NOTHING, _NOTHING
    kept = np.ix_(varying, varying)
    one, other = paired(principal_components(before.correlation[kept]), principal_components(after.correlation[kept]))
    weight = one.eigenvalues[np.newaxis, :]
    # Loadings and coefficients of components that carry nothing are rounding errors: their weight is 0.
    weight = np.where(weight > NEGLIGIBLE * len(one.eigenvalues), weight, 0.0)
    return (
        _divergence(one.loadings, other.loadings, NEGLIGIBLE, weight),
        _divergence(one.communalities, other.communalities, NEGLIGIBLE),
        _divergence(one.coefficients, other.coefficients, NEGLIGIBLE, weight),
    )


class ProbabilityParts(BaseModel):
    """PIL: how sure one can be that a statistic changed, 0 to 1; None where there is no such statistic."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    means: float | None
    variances: float | None
    covariances: float | None
    correlations: float | None
    quantiles: float | None

    @classmethod
    def of(cls, loss: ProbabilisticInformationLoss) -> "ProbabilityParts":
        return cls.model_validate({name: _known(value) for name, value in loss._asdict().items()})


class VariationParts(BaseModel):
    """IL1 to IL5: mean relative changes, 1 for 100 %, those of correlations absolute; None where there are none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    values: float | None
    means: float | None
    variances: float | None
    covariances: float | None
    correlations: float | None

    @classmethod
    def of(cls, variations: MeanVariations) -> "VariationParts":
        return cls.model_validate({name: _known(value) for name, value in variations._asdict().items()})


class ContinuousView(BaseModel):
    """Means over all numbers of the original, removed ones included; higher is worse."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: tuple[str, ...] = Field(description="the numbers of the original, ordered categories by their position")
    removed: tuple[str, ...] = Field(description="those that were not released")
    comparisons: MatrixComparisons = Field(description="values and covariances in standard deviations of the original")
    eigenvalues: float | None = Field(description="share of the variance no longer on the component that held it")
    probabilities: ProbabilityParts
    variations: VariationParts


def _known(value: float) -> float | None:
    return None if isnan(value) else value
