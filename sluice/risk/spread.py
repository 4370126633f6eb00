"""Spread: how far the values of one variable lie apart, whatever a few of them are.

A single 999999999, or one date in a hundred that is 9999-12-31, makes a standard deviation so large that everybody else
seems to be equal. Every scale on which a person is compared with records is therefore this spread: the standard
deviation, or one of two robust figures, if that is smaller. One is computed of all values, so that a few wild ones do
not matter, however different they are; the other of the different values, so that one wild value does not matter,
however many have it. The second counts where the first is several times as large.

Resolution: how near two numbers are that an intruder takes for the same.

Masking that moves every number by a hair makes all of them different, and none of them safer: no copy would be found by
equality, and every group would hold as many values as records. So numbers are compared on a grid, whose width is a
share of the original's spread, as well as exactly.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import FloatArray

Column = npt.NDArray[Any]

EXACT, FINE, COARSE = 0.0, 0.01, 0.1  # of the spread: the same number, the same value, one that tells nearly as much

_LOW, _HIGH = 0.1, 0.9
_HEAPED = 3.0  # times the spread of the different values: no wild value makes less of a difference
_NORMAL = 2.5631031310892007  # standard deviations from one of these quantiles to the other, of normal values

EVEN_RANGE = _NORMAL / (_HIGH - _LOW)  # spreads from the smallest to the largest of evenly distributed values


def spread(values: FloatArray) -> float:
    """The smallest of the standard deviation and two ranges of the middle eight tenths, in its unit for normal values.

    values  : shape (n,); missing and infinite ones are left out
    returns : 0 where all values are equal, and only there. Where over half of them are (most people's capital gain is
              0), the ranges are those of the others; of two different values, their difference
    cost    : O(n log n)
    """
    present = values[np.isfinite(values)]
    different, counts = np.unique(present, return_counts=True)
    if len(different) < 2:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = float(present.std())
    if len(different) > 2 and 2 * counts.max() > counts.sum():
        others = different != different[counts.argmax()]
        different, counts = different[others], counts[others]
    ordered = np.repeat(different, counts)
    robust = float(np.quantile(ordered, _HIGH) - np.quantile(ordered, _LOW))
    # Of a few different values at least the outermost on each side are left out.
    inner = np.quantile(different, _HIGH, method="lower") - np.quantile(different, _LOW, method="higher")
    if inner > 0 and not 0 < robust <= _HEAPED * inner:
        robust = float(inner)
    robust = float(robust or different[-1] - different[0]) / _NORMAL
    return min(robust, deviation) if deviation > 0 else robust


def resolution(values: FloatArray, share: float = FINE) -> float:
    """The grid's width for a variable with these values, NaN apart; 0 where they do not vary: no grid."""
    return share * spread(values)


def on_grid(values: FloatArray, width: float) -> FloatArray:
    """The place of each value on a grid of this width, shape (n,); for a width of 0 the values themselves."""
    return np.rint(values / width) + 0.0 if width > 0 else values  # -0.0 is 0


def on_one_grid(original: Column, released: Column, share: float = FINE) -> tuple[Column, Column]:
    """A column of two files on the grid of the first, to be compared; texts as they are."""
    if original.dtype.kind != "f" or released.dtype.kind != "f":
        return original, released
    width = resolution(original, share)
    return on_grid(original, width), on_grid(released, width)
