"""Cox regression: the proportional-hazards model of a survival time, by partial likelihood, with standard errors.

Source: Cox (1972), section 5; times that several people share by Efron (1977). Figures are those of R's coxph and of
statsmodels' PHReg with ties='efron', to rounding.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.utility.analyses.regression import Estimates, independent_columns

_ITERATIONS = 60
_TOLERANCE = 1e-10
_SEPARATED = 50.0


def fit_cox(matrix: FloatArray, time: FloatArray, event: FloatArray) -> Estimates:
    """Log hazard ratios of the columns of a matrix, which holds no intercept.

    matrix  : (n, p), finite
    time    : (n,), not negative
    event   : (n,), 1 where the time ended in the event, 0 where it was cut off
    returns : NaN as `fit_regression` does, and where nobody had the event
    raises  : DataError for negative times and other events
    cost    : O(n p^2) an iteration
    """
    p = matrix.shape[1]
    if (time < 0).any():
        raise DataError("survival times must not be negative; got numbers below 0.")
    if not np.isin(event, (0, 1)).all():
        raise DataError("the event of a survival time must be 0 or 1; got other numbers.")
    if not event.any() or not p:
        return Estimates.none(p)
    centre = matrix.mean(axis=0)
    order = np.argsort(time, kind="stable")
    basis, kept, back = independent_columns(matrix[order] - centre)
    if not len(kept) or event.sum() <= len(kept):
        return Estimates.none(p)
    gamma, covariance = _newton(basis * np.sqrt(len(basis)), _Ties.of(time[order], event[order]))
    if gamma is None or covariance is None:
        return Estimates.none(p)
    back = back * np.sqrt(len(basis))
    covariance = back @ covariance @ back.T
    coefficients, errors = np.full(p, np.nan), np.full(p, np.nan)
    coefficients[kept], errors[kept] = back @ gamma, np.sqrt(np.maximum(np.diag(covariance), 0))
    wild = errors * np.abs(matrix - centre).max(axis=0) > _SEPARATED
    coefficients[wild], errors[wild] = np.nan, np.nan
    return Estimates(coefficients, errors)


@dataclass(frozen=True)
class _Ties:
    """Who is at risk when. Records are in order of time.

    happened : (n,) whether the record's time ended in the event
    events   : (E,) the records whose time did
    first    : (E,) the first record at risk then
    group    : (E,) the number of the distinct time, 0..T-1
    share    : (E,) of the deaths of that time, how many are before this one, as a share (Efron)
    last     : (n,) how many of the distinct times are not after the record's own
    own      : (n,) the number of the distinct time at which the record's time ended in the event; meaningless without
    """

    happened: BoolArray
    events: IntArray
    first: IntArray
    group: IntArray
    share: FloatArray
    last: IntArray
    own: IntArray

    @classmethod
    def of(cls, time: FloatArray, event: FloatArray) -> "_Ties":
        happened = event > 0
        events = np.flatnonzero(happened)
        times, group = np.unique(time[events], return_inverse=True)
        size = np.bincount(group)
        begins = np.cumsum(size) - size
        share = (np.arange(len(events)) - begins[group]) / size[group]
        last = np.searchsorted(times, time, "right").astype(np.int64)
        first = np.searchsorted(time, times, "left")[group]
        return cls(happened, events, first, group, share, last, np.maximum(last - 1, 0))


def _newton(basis: FloatArray, ties: _Ties) -> tuple[FloatArray | None, FloatArray | None]:
    gamma = np.zeros(basis.shape[1])
    loss, slope, information = _partial_likelihood(basis, ties, gamma)
    for _ in range(_ITERATIONS):
        try:
            step = np.linalg.solve(information, slope)
        except np.linalg.LinAlgError:
            return None, None
        lower = loss
        for halving in range(20):
            candidate = gamma + step / 2**halving
            found = _partial_likelihood(basis, ties, candidate)
            if np.isfinite(found[0]) and found[0] < loss:
                gamma, (lower, slope, information) = candidate, found
                break
        if loss - lower <= _TOLERANCE * (abs(lower) + 0.1):
            try:
                return gamma, np.asarray(np.linalg.inv(information), dtype=np.float64)
            except np.linalg.LinAlgError:
                return None, None
        loss = lower
    return None, None


def _partial_likelihood(basis: FloatArray, ties: _Ties, gamma: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Minus its logarithm, the slope of the logarithm, and the information."""
    linear = basis @ gamma
    linear = linear - linear.max()
    risk = np.exp(linear)
    weighted = basis * risk[:, None]
    at_risk = np.cumsum(risk[::-1])[::-1][ties.first]
    sums_at_risk = np.cumsum(weighted[::-1], axis=0)[::-1][ties.first]
    died = np.bincount(ties.group, risk[ties.events])[ties.group]
    times = int(ties.group[-1]) + 1
    sums_died = np.zeros((times, basis.shape[1]))
    np.add.at(sums_died, ties.group, weighted[ties.events])
    total = at_risk - ties.share * died
    if not (total > 0).all():
        return np.inf, np.zeros_like(gamma), np.zeros((len(gamma), len(gamma)))
    means = (sums_at_risk - ties.share[:, None] * sums_died[ties.group]) / total[:, None]
    loss = float(np.log(total).sum() - linear[ties.events].sum())
    slope = basis[ties.events].sum(axis=0) - means.sum(axis=0)
    # Each record's square counts in all times until its own; of its own time's deaths, less by those before it.
    hazard = np.append(0.0, np.cumsum(np.bincount(ties.group, 1 / total, times)))[ties.last]
    own = np.bincount(ties.group, ties.share / total, times)[ties.own]
    squares = basis.T @ (weighted * (hazard - np.where(ties.happened, own, 0.0))[:, None])
    return loss, slope, squares - means.T @ means
