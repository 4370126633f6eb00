"""Spread: how far the values of one variable lie apart, whatever a few of them are.

A single 999999999, or one date in a hundred that is 9999-12-31, makes a standard deviation so large that everybody else
seems to be equal. Every scale on which a person is compared with records is therefore this spread: the standard
deviation, or one of two robust figures, if that is smaller. One is computed of all values, so that a few wild ones do
not matter, however different they are; the other of the different values, so that one wild value does not matter,
however many have it. The second counts where the first is several times as large.
"""

import numpy as np

from sluice.ground.arrays import FloatArray

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
