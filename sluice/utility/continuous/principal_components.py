"""Principal components of the correlations: loadings, communalities, coefficients and eigenvalues, made comparable.

Source: Torra (2013), "Information Loss Measures: Continuous Data" (RF, C and F). Differs from it: the components of the
masked file are paired with those of the original that they are most like, and turned to the same side, because neither
the order of components of about equal weight nor any sign means anything. The coefficients are those of the projection,
as the slide says in words; divided by the root of the eigenvalue, as programs that call them factor scores do, they
have no bound on collinear data.
"""

from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError

_EQUAL = 1e-8  # eigenvalues that differ by less, relative to their number, have no axes of their own


class PrincipalComponents(NamedTuple):
    """Of d variables, the components by falling eigenvalue, or in the order of those that they were paired with."""

    eigenvalues: FloatArray  # (d,) at least 0; they add up to the number of variables that vary
    coefficients: FloatArray  # (d, d) F: column j times the standardised variables is component j
    loadings: FloatArray  # (d, d) RF: correlation of variable i with component j

    @property
    def communalities(self) -> FloatArray:
        """C, (d,): the share of each variable's variance that the first component explains."""
        return self.loadings[:, 0] ** 2


def principal_components(correlation: FloatArray) -> PrincipalComponents:
    """Of a correlation matrix, shape (d, d), d >= 1.

    A variable without correlations (NaN: constant, or removed) has no variance, and is part of no component.
    Eigenvalues below 0, which correlations from different records can give, count as 0.
    raises : DataError without a variable
    cost   : O(d^3)
    """
    if not len(correlation):
        raise DataError("principal components need at least one variable; got none.")
    values, vectors = np.linalg.eigh(np.nan_to_num(correlation, nan=0.0))
    return _components(np.maximum(values[::-1], 0.0), vectors[:, ::-1])


def paired(
    original: PrincipalComponents, masked: PrincipalComponents
) -> tuple[PrincipalComponents, PrincipalComponents]:
    """Both, the masked file's components in the original's order and direction.

    Pairs maximise the sum of |cosine| of their axes. Within equal eigenvalues any axes are as good as others: there the
    axes are turned to agree as well as they can.
    """
    from scipy.optimize import linear_sum_assignment  # loaded where it is needed

    cosines = original.coefficients.T @ masked.coefficients
    # Of several equally good pairings, the one that keeps the order of the eigenvalues.
    order = 1e-9 * np.abs(np.subtract.outer(np.arange(len(cosines)), np.arange(len(cosines))))
    _, place = linear_sum_assignment(order - np.abs(cosines))
    sign = np.where(cosines[np.arange(len(place)), place] < 0, -1.0, 1.0)
    values, vectors = masked.eigenvalues[place], masked.coefficients[:, place] * sign
    before = _turned(original.coefficients, original.eigenvalues, vectors)
    after = _turned(vectors, values, before)
    return _components(original.eigenvalues, before), _components(values, after)


def eigenvalue_shift(original: FloatArray, masked: FloatArray) -> float:
    """Share of the standardised variance that its components no longer hold, 0 to 1; higher is worse.

    The sum of max(0, lambda_j - lambda'_j) over the components by falling eigenvalue, divided by the number of
    variables that vary in the original; as long as all of them vary in the masked file, too, that is half the sum of
    the absolute differences. What a removed variable varied lies nowhere any more, and is lost. It divides by no
    eigenvalue: on collinear data, where some are 0, it stays finite.

    original, masked : correlation matrices of the same variables, shape (d, d), NaN for a variable that does not vary
    returns          : NaN where no variable varies in the original
    raises           : DataError if the shapes differ
    """
    if original.shape != masked.shape:
        raise DataError(f"both files need the same variables; got {len(original)} and {len(masked)}.")
    varying = int((~np.isnan(np.diagonal(original))).sum())
    if not varying:
        return float("nan")
    before, after = principal_components(original).eigenvalues, principal_components(masked).eigenvalues
    return min(1.0, float(np.maximum(before - after, 0.0).sum()) / varying)


def _components(values: FloatArray, vectors: FloatArray) -> PrincipalComponents:
    return PrincipalComponents(values, vectors, vectors * np.sqrt(values))


def _turned(vectors: FloatArray, values: FloatArray, towards: FloatArray) -> FloatArray:
    """The axes of each group of equal eigenvalues, turned within their space to lie along `towards`' as they can."""
    turned = vectors.copy()
    order = np.argsort(-values, kind="stable")
    breaks = np.flatnonzero(np.diff(values[order]) < -_EQUAL * len(values)) + 1
    for group in np.split(order, breaks):
        if len(group) > 1:
            left, _, right = np.linalg.svd(vectors[:, group].T @ towards[:, group])
            turned[:, group] = vectors[:, group] @ left @ right
    return turned
