"""Probabilistic information loss: how sure one can be that a statistic of the masked file is not the original's.

Source: Mateo-Sanz, Domingo-Ferrer and Sebe (2005), sections 3 and 4. A masked statistic is taken as that of a sample
of the original: PIL = 2 P(0 <= Z <= |t' - t| / sqrt(Var t)), with Z standard normal and Var t the variance that the
statistic has in samples of as many records from the original. It is a probability, so it can be held against a risk.
What the source leaves open is taken so that the aPIL of Torra (2013), "Specific Information Loss Measure: Some
results", come out: moments of the original in the variances, and the density at a quantile from the distance of the
quantiles 2.5 % below and above.
"""

from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.continuous.moments import NEGLIGIBLE, PairwiseMoments, centred_blocks, pairwise_moments
from sluice.utility.continuous.released_numbers import Numbers
from sluice.utility.record_weights import UNWEIGHTED, Weights, effective_records, relative_weight

_LEVELS = np.arange(5, 96, 5) / 100  # of the quantiles that are compared
_HALF = 0.025  # of the probability on either side of a quantile, for the density there


class ProbabilisticInformationLoss(NamedTuple):
    """Mean probabilities, 0 for no change and 1 for certain ones, higher is worse; NaN where there is no statistic.

    That of one statistic is 0.68 when it moved by one standard error of a sample, 0.95 by about two.
    """

    means: float
    variances: float
    covariances: float  # of pairs of columns
    correlations: float  # of pairs of columns
    quantiles: float  # 5 %, 10 %, ..., 95 % of each column

    @property
    def average(self) -> float:
        """aPIL: the mean of the parts that there are; of a single column these are three. The source prints percent."""
        known = [part for part in self if not np.isnan(part)]
        return float(np.mean(known)) if known else float("nan")


def probabilistic_information_loss(
    original: Numbers,
    masked: Numbers,
    *,
    weights: Weights = UNWEIGHTED,
    moments: tuple[PairwiseMoments, PairwiseMoments] | None = None,
) -> ProbabilisticInformationLoss:
    """The five parts, each the mean over the columns, pairs of columns, or quantiles of the original.

    original, masked : shape (n, d) and (m, d); NaN for a missing value. Any records in any order: nothing is matched
    weights          : of the records of both; a statistic is as sure as one of the effective number of records (Kish)
    moments          : of both files, where they are known already
    raises           : DataError if the numbers of columns differ
    cost             : O(n d^2 + n d log n)

    A statistic of the original that the masked file does not give, such as those of a removed variable, is lost: 1.
    One whose variance is 0, or cannot be estimated, is lost if it moved at all, by more than a rounding error, and
    otherwise kept. Missing values are passed over; a statistic has as many records as the masked file has for it, and
    the moments in the variance of a covariance or correlation are those of the records that have both values. Columns
    with fewer than 2 values, and correlations with a constant column, are no statistics of the original.
    """
    if original.shape[1] != masked.shape[1]:
        raise DataError(f"both files need the same columns; got {original.shape[1]} and {masked.shape[1]}.")
    before, after = moments or (pairwise_moments(original, weights[0]), pairwise_moments(masked, weights[1]))
    d = original.shape[1]
    known = np.diagonal(before.records) >= 2
    variance = np.maximum(np.nan_to_num(np.diagonal(before.covariance)), 0)
    scale = np.where(variance > 0, np.sqrt(variance), 1.0)  # so that fourth powers stay in range
    unit = np.outer(scale, scale)
    higher = _HigherMoments.of(original, np.nan_to_num(before.mean), scale, weights[0])
    size = np.maximum(after.effective, 1)
    covariance, masked_covariance = before.covariance / unit, after.covariance / unit
    of_covariance = (higher.m22 - covariance**2) / size
    pairs = np.triu_indices(d, 1)
    varying = ~np.isnan(before.correlation[pairs])
    return ProbabilisticInformationLoss(
        means=_mean(
            _probabilities(before.mean / scale, after.mean / scale, variance / scale**2 / np.diagonal(size))[known]
        ),
        variances=_mean(
            _probabilities(
                np.diagonal(covariance), np.diagonal(masked_covariance), np.diagonal(of_covariance), unit=1.0
            )[known]
        ),
        covariances=_mean(
            _probabilities(covariance[pairs], masked_covariance[pairs], of_covariance[pairs], unit=1.0)[
                ~np.isnan(covariance[pairs])
            ]
        ),
        correlations=_mean(
            _probabilities(
                before.correlation[pairs],
                after.correlation[pairs],
                (higher.variance_of_correlation(covariance, before.correlation) / size)[pairs],
                unit=1.0,
            )[varying]
        ),
        quantiles=_mean(
            np.concatenate(
                [
                    _of_quantiles(original[:, column] / scale[column], masked[:, column] / scale[column], weights)
                    for column in np.flatnonzero(known)
                ]
                or [np.zeros(0)]
            )
        ),
    )


class _HigherMoments(NamedTuple):
    """Moments about the columns' means, shape (d, d), over the records that have both: m31[i, j] is of x_i^3 x_j."""

    m22: FloatArray
    m31: FloatArray
    m40: FloatArray  # of x_i^4
    m20: FloatArray

    @classmethod
    def of(cls, values: Numbers, mean: FloatArray, scale: FloatArray, weight: FloatArray | None) -> "_HigherMoments":
        d, weight = values.shape[1], relative_weight(weight, len(values))
        m22, m31, m40, m20, total = (np.zeros((d, d)) for _ in range(5))
        for block, present, w in centred_blocks(values, mean, scale, weight):
            squares = block**2
            weighted = squares if w is None else squares * w
            m22 += weighted.T @ squares
            m31 += (weighted * block).T @ block
            if present.all():
                m40 += (weighted * squares).sum(axis=0)[:, np.newaxis]
                m20 += weighted.sum(axis=0)[:, np.newaxis]
                total += len(block) if w is None else w.sum()
                continue
            held = present.astype(np.float64)
            m40 += (weighted * squares).T @ held
            m20 += weighted.T @ held
            total += held.T @ (held if w is None else held * w)
        total = np.where(total > 0, total, np.nan)
        return cls(m22 / total, m31 / total, m40 / total, m20 / total)

    def variance_of_correlation(self, covariance: FloatArray, correlation: FloatArray) -> FloatArray:
        """Times the number of records: Kendall and Stuart, written without a division by the covariance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            product = self.m20 * self.m20.T
            fourth = self.m40 / self.m20**2
            mixed = self.m31 / (self.m20 * np.sqrt(product))
            return np.asarray(
                self.m22 / product
                + correlation**2 / 4 * (fourth + fourth.T + 2 * self.m22 / product)
                - correlation * (mixed + mixed.T)
            )


def _probabilities(
    before: FloatArray, after: FloatArray, variance: FloatArray, unit: float | None = None
) -> FloatArray:
    """2 Phi(|t' - t| / sd) - 1, and 1 for a statistic that is not there any more. Shapes (s,)."""
    from scipy.special import ndtr  # loaded where it is needed

    moved = np.abs(after - before)
    rounding = NEGLIGIBLE * np.maximum(np.abs(before), unit if unit is not None else 0.0)
    moved = np.where(moved <= rounding, 0.0, moved)
    spread = np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(moved == 0, 0.0, moved / spread)
    return np.where(np.isnan(after), 1.0, 2 * ndtr(errors) - 1)


def _of_quantiles(before: FloatArray, after: FloatArray, weights: Weights) -> FloatArray:
    original, masked = _Rising.of(before, weights[0]), _Rising.of(after, weights[1])
    if not len(masked.values):
        return np.ones(len(_LEVELS))
    at, below, above = (original.quantiles(_LEVELS + shift) for shift in (0, -_HALF, _HALF))
    # p (1 - p) / (n f^2), with 1 / f = (Q(p + h) - Q(p - h)) / 2 h; 0 where many have one value
    records = effective_records(masked.weight, len(masked.values))
    variance = _LEVELS * (1 - _LEVELS) / records * ((above - below) / (2 * _HALF)) ** 2
    return _probabilities(at, masked.quantiles(_LEVELS), variance)


class _Rising(NamedTuple):
    """Values in rising order without missing ones: far faster than to ask for many quantiles of unsorted ones."""

    values: FloatArray
    weight: FloatArray | None

    @classmethod
    def of(cls, values: FloatArray, weight: FloatArray | None) -> "_Rising":
        if weight is None:
            ordered = np.sort(values)  # NaN last
            return cls(ordered[: len(ordered) - int(np.isnan(values).sum())], None)
        kept = ~np.isnan(values) & (weight > 0)
        values, weight = values[kept], weight[kept]
        order = np.argsort(values, kind="stable")
        return cls(values[order], weight[order])

    def quantiles(self, levels: FloatArray) -> FloatArray:
        """By linear interpolation between order statistics, as numpy's; each lies in the middle of its weight."""
        last = len(self.values) - 1
        if self.weight is None or last < 1:
            place = levels * last
            lower = np.floor(place).astype(np.int64)
            upper = np.minimum(lower + 1, last)
            return np.asarray(self.values[lower] + (place - lower) * (self.values[upper] - self.values[lower]))
        middle = np.cumsum(self.weight) - self.weight / 2
        return np.interp(levels, (middle - middle[0]) / (middle[-1] - middle[0]), self.values)


def _mean(probabilities: FloatArray) -> float:
    return float(probabilities.mean()) if len(probabilities) else float("nan")
