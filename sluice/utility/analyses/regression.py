"""Regression: least squares, logistic and Poisson models by maximum likelihood, with standard errors.

Source: McCullagh and Nelder (1989), section 2.5 (iteratively reweighted least squares); of weighted records, as in a
survey, Binder (1983), section 4, the standard errors of a weighted sum of scores; of several records a person Liang
and Zeger (1986). Figures are those of R's lm and glm and of statsmodels, to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError

RegressionKind = Literal["linear", "logistic", "poisson"]
_ALIASED = 1e-7  # of a column's length, what is left of it beside the columns before it
_CHUNK = 65_536
_ITERATIONS = 60
_TOLERANCE = 1e-10  # relative change of the deviance
_SEPARATED = 50.0  # standard error of the effect of a column's largest value: the data do not bound the coefficient


@dataclass(frozen=True)
class Estimates:
    """Coefficients and standard errors, shape (p,); NaN for what the records do not determine."""

    coefficients: FloatArray
    errors: FloatArray

    @property
    def estimated(self) -> BoolArray:
        """(p,) which coefficients the records determine."""
        return np.asarray(np.isfinite(self.coefficients) & np.isfinite(self.errors))

    @classmethod
    def none(cls, p: int) -> "Estimates":
        """Of records that determine nothing."""
        return cls(np.full(p, np.nan), np.full(p, np.nan))


def fit_regression(
    matrix: FloatArray, response: FloatArray, kind: RegressionKind, weights: FloatArray | None = None,
    people: IntArray | None = None,
) -> Estimates:  # fmt: skip
    """A model of the response by the columns of a matrix, the intercept among them.

    matrix   : (n, p), finite; a column that others before it add up to is not estimated
    response : (n,); 0 or 1 of a logistic model, not negative of a Poisson model
    weights  : (n,), above 0: how many people a record stands for, up to a factor. Standard errors are then those of
               records drawn with unequal chances, by the variance of the weighted scores; without weights they are
               those of the model
    people   : (n,), whose each record is: standard errors are then those of people, by the sums of their scores (Liang
               and Zeger 1986, section 3), times the people by one less
    returns  : NaN for all coefficients where the iterations do not converge or no degree of freedom is left, and for
               one that grows without bound, such as that of a category in which everybody responds alike
    raises   : DataError for a response that the model has not
    cost     : O(n p^2) an iteration; n p numbers beside the matrix
    """
    n, p = matrix.shape
    if kind == "logistic" and not np.isin(response, (0, 1)).all():
        raise DataError("the response of a logistic model must be 0 or 1; got other numbers.")
    if kind == "poisson" and (response < 0).any():
        raise DataError("the response of a Poisson model must not be negative; got numbers below 0.")
    basis, kept, back = independent_columns(matrix, None if weights is None else np.sqrt(weights))
    if n <= len(kept) or not len(kept):
        return Estimates.none(p)
    weight = np.ones(n) if weights is None else weights * (n / weights.sum())
    solved = _least_squares(basis, response, weight) if kind == "linear" else _newton(basis, response, weight, kind)
    if solved is None:
        return Estimates.none(p)
    gamma, scores, information = solved
    try:
        inverse = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return Estimates.none(p)
    if people is not None:
        who = np.unique(people, return_inverse=True)[1]
        sums = np.column_stack([np.bincount(who, column * scores) for column in basis.T])
        covariance = inverse @ (sums.T @ sums) @ inverse * (len(sums) / max(len(sums) - 1, 1))
    elif weights is not None:
        meat = _gram(basis, scores**2)
        covariance = inverse @ meat @ inverse
    elif kind == "linear":
        covariance = inverse * float(scores @ scores) / (n - len(kept))
    else:
        covariance = inverse
    covariance = back @ covariance @ back.T
    coefficients, errors = np.full(p, np.nan), np.full(p, np.nan)
    coefficients[kept], errors[kept] = back @ gamma, np.sqrt(np.maximum(np.diag(covariance), 0))
    if kind != "linear":
        wild = errors * np.abs(matrix).max(axis=0) > _SEPARATED
        coefficients[wild], errors[wild] = np.nan, np.nan
    return Estimates(coefficients, errors)


def independent_columns(
    matrix: FloatArray, scale: FloatArray | None = None
) -> tuple[FloatArray, "np.typing.NDArray[np.intp]", FloatArray]:
    """An orthonormal basis of the columns, those that are kept, and the way back.

    matrix  : (n, p), finite
    scale   : (n,), above 0, by which rows are weighed for the basis to be orthonormal
    returns : basis (n, r) with matrix[:, kept] = basis @ inv(back); kept (r,); back (r, r), so that coefficients of the
              kept columns are back @ those of the basis
    cost    : O(n p^2)
    """
    n, p = matrix.shape
    length = np.sqrt(np.maximum((matrix**2).sum(axis=0), 0))
    units = np.where(length > 0, length, 1.0)
    triangle = np.zeros((0, p))
    for at in range(0, n, _CHUNK):
        rows = matrix[at : at + _CHUNK] / units
        rows = rows if scale is None else rows * scale[at : at + _CHUNK, None]
        triangle = _triangle(np.vstack([triangle, rows]))
    # Columns of the triangle are the matrix's own up to a rotation: which depend on those before is seen in it alone.
    kept: list[int] = []
    for column in range(p):
        own = np.linalg.norm(triangle[:, column])
        left = triangle[:, column]
        if kept:
            found, *_ = np.linalg.lstsq(triangle[:, kept], left, rcond=None)
            left = left - triangle[:, kept] @ found
        if own > 0 and np.linalg.norm(left) > _ALIASED * own:
            kept.append(column)
    places = np.array(kept, dtype=np.intp)
    if not kept:
        return np.zeros((n, 0)), places, np.zeros((0, 0))
    inverse = np.linalg.inv(_triangle(triangle[:, places]))
    basis = np.empty((n, len(kept)))
    for at in range(0, n, _CHUNK):
        basis[at : at + _CHUNK] = (matrix[at : at + _CHUNK, places] / units[places]) @ inverse
    return basis, places, inverse / units[places][:, None]


def _triangle(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.qr(matrix, mode="r"), dtype=np.float64)


def _solved(information: FloatArray, score: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(information, score), dtype=np.float64)


def _least_squares(
    basis: FloatArray, response: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    information = _gram(basis, weight)
    gamma = _solved(information, basis.T @ (weight * response))
    return gamma, weight * (response - basis @ gamma), information


def _newton(
    basis: FloatArray, response: FloatArray, weight: FloatArray, kind: RegressionKind
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Coefficients, scores and information; None where the likelihood has no maximum that can be reached."""
    mean_of, loss_of = (_logistic_mean, _logistic_loss) if kind == "logistic" else (_poisson_mean, _poisson_loss)
    gamma = _start(basis, response, weight, kind)
    linear = basis @ gamma
    loss = loss_of(linear, response, weight)
    for _ in range(_ITERATIONS):
        mean = mean_of(linear)
        variance = mean * (1 - mean) if kind == "logistic" else mean
        scores = weight * (response - mean)
        information = _gram(basis, weight * variance)
        try:
            step = _solved(information, basis.T @ scores)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        tried = _descent(basis, response, weight, gamma, step, loss, loss_of)
        if tried is None:  # no step lowers the loss by more than rounding does: this is the maximum
            return gamma, scores, information
        gamma, linear, lower = tried
        if loss - lower <= _TOLERANCE * (abs(lower) + 0.1):
            mean = mean_of(linear)
            variance = mean * (1 - mean) if kind == "logistic" else mean
            return gamma, weight * (response - mean), _gram(basis, weight * variance)
        loss = lower
    return None


def _descent(
    basis: FloatArray,
    response: FloatArray,
    weight: FloatArray,
    gamma: FloatArray,
    step: FloatArray,
    loss: float,
    loss_of: Callable[[FloatArray, FloatArray, FloatArray], float],
) -> tuple[FloatArray, FloatArray, float] | None:
    """The step, halved until the loss falls."""
    for halving in range(20):
        candidate = gamma + step / 2**halving
        linear = basis @ candidate
        lower = loss_of(linear, response, weight)
        if lower < loss:
            return candidate, linear, lower
    return None


def _start(basis: FloatArray, response: FloatArray, weight: FloatArray, kind: RegressionKind) -> FloatArray:
    """The least-squares coefficients of the linked response, pulled from its bounds as glm does."""
    linked = np.log((response + 0.5) / (1.5 - response)) if kind == "logistic" else np.log(response + 0.1)
    return _solved(_gram(basis, weight), basis.T @ (weight * linked))


def _gram(basis: FloatArray, weight: FloatArray) -> FloatArray:
    total = np.zeros((basis.shape[1], basis.shape[1]))
    for at in range(0, len(basis), _CHUNK):
        rows = basis[at : at + _CHUNK]
        total += rows.T @ (rows * weight[at : at + _CHUNK, None])
    return total


def _logistic_mean(linear: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(linear, -700, 700))))


def _logistic_loss(linear: FloatArray, response: FloatArray, weight: FloatArray) -> float:
    return float(weight @ (np.logaddexp(0, linear) - response * linear))


def _poisson_mean(linear: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.clip(linear, -700, 700)))


def _poisson_loss(linear: FloatArray, response: FloatArray, weight: FloatArray) -> float:
    return float(weight @ (_poisson_mean(linear) - response * linear))
