"""Spread: how far the values of one variable lie apart, whatever a few of them are.

A single 999999999, or one date in a hundred that is 9999-12-31, makes a standard deviation so large that everybody else
seems to be equal. Every scale on which a person is compared with records is therefore this spread. It is computed
twice, and the smaller figure counts: of all values, so that a few wild ones do not matter, however different they are;
and of the different values, so that one wild value does not matter, however many have it.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_LOW, _HIGH = 0.1, 0.9
_NORMAL = 2.5631031310892007  # standard deviations from one of these quantiles to the other, of normal values

EVEN_RANGE = _NORMAL / (_HIGH - _LOW)  # spreads from the smallest to the largest of evenly distributed values


def spread(values: FloatArray) -> float:
    """The range of the middle eight tenths, in the unit of a standard deviation of normal values.

    values  : shape (n,); missing and infinite ones are left out
    returns : 0 where all values are equal, and only there. Where over half of them are (most people's
              capital gain is 0), the spread of the others; of two different values, their difference in that unit
    cost    : O(n log n)
    """
    different, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    if len(different) > 2 and 2 * counts.max() > counts.sum():
        others = different != different[counts.argmax()]
        different, counts = different[others], counts[others]
    if len(different) < 2:
        return 0.0
    present = np.repeat(different, counts)
    # Of a few different values at least the outermost on each side are left out.
    inner = np.quantile(different, _HIGH, method="lower") - np.quantile(different, _LOW, method="higher")
    ranges = np.quantile(present, _HIGH) - np.quantile(present, _LOW), inner
    return float(min((found for found in ranges if found > 0), default=different[-1] - different[0])) / _NORMAL
