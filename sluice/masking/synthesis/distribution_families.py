"""Distribution families: nine of them, fitted to values, and the one that fits best.

Fits: maximum likelihood for Poisson, exponential, normal, gamma, Weibull and log-normal, moments for uniform,
triangular and chi-square. No fit takes up the smallest or largest value, as maximum likelihood of the uniform would:
these are single people's.

Source: Torra (2013), "Data Distortion by Probability Distribution" (the families and the Kolmogorov-Smirnov statistic).
"""

from typing import Any, Literal, get_args

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError

Family = Literal[
    "poisson", "exponential", "normal", "gamma", "weibull", "log_normal", "uniform", "triangular", "chi_square"
]

_POINTS = 10_000  # values at which a fit is compared with the data; the distance is then right to 1 / _POINTS
_LARGEST_MEAN = 2.0**53  # of a Poisson: whole numbers beyond it have no exact float64
_STEEPEST_TRIANGLE = 0.4 * np.sqrt(2.0)  # skewness of a right-angled triangular distribution


def nearest_family(values: FloatArray) -> Family:
    """The family, among those that the values can come from, with the smallest Kolmogorov-Smirnov statistic.

    values  : shape (n,), NaN where missing, at least two different ones
    cost    : O(n log n)
    """
    ranked = np.sort(values[np.isfinite(values)])
    with np.errstate(all="ignore"):
        distances = {family: _distance(ranked, family) for family in get_args(Family) if not _unsuited(ranked, family)}
    return min(distances, key=lambda family: distances[family])


def kolmogorov_smirnov(ranked: FloatArray, distribution: Any) -> float:
    """Largest distance between the distribution function of the values and a fitted one, in [0, 1]; high is worse.

    ranked       : shape (n,), in rising order
    distribution : with a `cdf`; if it has a `pmf` too it is one of whole numbers
    returns      : exact up to 10,000 values, beyond that right to 1 / 10,000
    cost         : O(n)
    """
    n = len(ranked)
    points = ranked if n <= _POINTS else ranked[np.linspace(0, n - 1, _POINTS + 1).astype(np.int64)]
    above = np.searchsorted(ranked, points, side="right") / n - distribution.cdf(points)
    # The other distance is the one just before a value; a distribution of whole numbers rises one before it.
    before = points - 1 if hasattr(distribution.dist, "pmf") else points
    below = distribution.cdf(before) - np.searchsorted(ranked, points, side="left") / n
    return float(max(above.max(), below.max()))


def fitted_distribution(values: FloatArray, family: Family) -> Any:
    """The fitted distribution, as one of scipy.stats.

    values : shape (n,), finite, at least two different ones
    raises : PlanError if the values cannot come from the family
    cost   : O(n), the Weibull's about eight times that of the others
    """
    from scipy import stats

    if needed := _unsuited(values, family):
        raise PlanError(f"distribution {family} takes {needed} only. Leave it out, and the nearest one is taken.")
    mean, deviation = values.mean(), values.std()
    match family:
        case "poisson":
            return stats.poisson(mean)
        case "exponential":
            return stats.expon(scale=mean)
        case "normal":
            return stats.norm(mean, deviation)
        case "gamma":
            shape = _gamma_shape(values)
            return stats.gamma(shape, scale=mean / shape)
        case "weibull":
            shape, scale = _weibull(values)
            return stats.weibull_min(shape, scale=scale)
        case "log_normal":
            logarithms = np.log(values)
            return stats.lognorm(logarithms.std(), scale=np.exp(logarithms.mean()))
        case "uniform":
            return stats.uniform(mean - np.sqrt(3.0) * deviation, 2.0 * np.sqrt(3.0) * deviation)
        case "triangular":
            low, mode, high = mean + deviation * _triangle(float((((values - mean) / deviation) ** 3).mean()))
            return stats.triang((mode - low) / (high - low), low, high - low)
        case "chi_square":
            return stats.chi2(mean)


def _unsuited(values: FloatArray, family: Family) -> str | None:
    """What the family needs of values, when these do not have it."""
    lowest = values.min()
    if family == "poisson" and not (
        lowest >= 0 and values.mean() <= _LARGEST_MEAN and np.array_equal(values, np.rint(values))
    ):
        return "whole numbers from 0"
    if family == "exponential" and lowest < 0:
        return "values from 0"
    if family in ("gamma", "weibull", "log_normal", "chi_square") and lowest <= 0:
        return "values greater than 0"
    return None


def _distance(ranked: FloatArray, family: Family) -> float:
    """The Kolmogorov-Smirnov statistic of a fit; infinite where the fit has no finite parameters."""
    distance = kolmogorov_smirnov(ranked, fitted_distribution(ranked, family))
    return distance if np.isfinite(distance) else np.inf


def _gamma_shape(values: FloatArray) -> float:
    """Maximum likelihood: log(shape) - digamma(shape) = log(mean) - mean(log), by Newton's method on 1 / shape."""
    from scipy.special import digamma, polygamma

    scaled = values / values.mean()
    gap = -float(np.log(scaled).mean())
    if not gap > 0:  # values that differ by rounding only
        return np.inf
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)  # within 1.5 % already
    if shape > 1e4:  # there the start is right to 1e-9, and the differences below are rounding
        return float(shape)
    for _ in range(5):
        error = np.log(shape) - digamma(shape) - gap
        shape = 1 / (1 / shape + error / (shape**2 * (1 / shape - polygamma(1, shape))))
    return float(shape)


def _weibull(values: FloatArray) -> tuple[float, float]:
    """Shape and scale by maximum likelihood: Newton's method on the shape, from the deviation of the logarithms."""
    logarithms = np.log(values / values.max())  # powers of values up to 1 cannot overflow
    shape = np.pi / np.sqrt(6.0) / logarithms.std()
    for _ in range(8):
        weights = np.exp(shape * logarithms)
        weights /= weights.sum()
        first = weights @ logarithms
        second = weights @ (logarithms - first) ** 2
        shape -= (first - 1 / shape - logarithms.mean()) / (second + 1 / shape**2)
    return float(shape), float(values.max() * np.exp(shape * logarithms).mean() ** (1 / shape))


def _triangle(skewness: float) -> FloatArray:
    """Lower end, mode and upper end of the triangular distribution with mean 0, variance 1 and this skewness.

    They are the roots of x^3 - 6 x - 10 skewness: sum 0, and variance and third moment as those of a triangle. A
    skewness that no triangle has becomes the nearest one.
    """
    possible = np.clip(skewness, -_STEEPEST_TRIANGLE, _STEEPEST_TRIANGLE)
    angle = np.arccos(np.clip(5 * possible / (2 * np.sqrt(2.0)), -1, 1)) / 3
    roots = 2 * np.sqrt(2.0) * np.cos(angle - 2 * np.pi * np.arange(3) / 3)
    # The product of the roots is 10 times the third moment: with a long upper tail the mode is near the lower end.
    return np.sort(roots)
