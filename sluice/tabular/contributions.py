"""The contributions to one cell of a magnitude table, and comparisons that a rounding error cannot tip."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.errors import DataError

Contributions = Sequence[float] | NDArray[np.integer[Any] | np.floating[Any]]
Numbers = NDArray[np.integer[Any] | np.floating[Any]]

_NEAR = 1e-9  # relative; a double-precision sum of a million terms is a thousand times nearer than this


def largest_first(contributions: Contributions, rule: str) -> Numbers:
    """The contributions in falling order. Raises DataError, by the rule's name, unless all are finite and >= 0."""
    values: Numbers = np.asarray(contributions)
    if values.ndim != 1:
        raise DataError(f"{rule} takes the contributions of one cell; got an array of {values.ndim} dimensions.")
    if not len(values):
        return values.astype(np.float64)
    if values.dtype.kind not in "iuf":
        raise DataError(f"{rule} takes numbers as contributions; got {values.dtype}.")
    if not np.isfinite(values).all():
        raise DataError(f"{rule} takes finite contributions; got a missing or infinite one. Leave missing ones out.")
    if values.min() < 0:
        raise DataError(f"{rule} takes contributions of 0 or more; got a negative one. Use their absolute values.")
    return np.sort(values)[::-1]


def exceeds(left: tuple[float, Numbers], right: tuple[float, Numbers]) -> bool:
    """Whether factor * sum(values) on the left is more than on the right, exactly; equal is not more.

    Decided in double precision unless the two are near, then with fractions, each number taken as the decimal that it
    is written as: 0.1 is one tenth.
    """
    (a, first), (b, second) = left, right
    x, y = a * float(first.sum(dtype=np.float64)), b * float(second.sum(dtype=np.float64))
    if abs(x - y) > _NEAR * max(x, y):
        return x > y
    return _exact(a) * _exact_sum(first) > _exact(b) * _exact_sum(second)


def _exact(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def _exact_sum(values: Numbers) -> Fraction:
    if values.dtype.kind in "iu":
        return Fraction(sum(int(value) for value in values))
    return sum((_exact(value) for value in values), Fraction(0))
