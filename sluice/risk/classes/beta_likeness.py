"""beta-likeness: how much more likely a class makes a sensitive value than the whole file does.

Source: Cao and Karras (2012), Definitions 2 (basic) and 3 (enhanced).

A value with share q in the file and p in a class gains (p - q) / q where p exceeds q. Basic beta-likeness bounds every
gain by beta; enhanced beta-likeness by the smaller of beta and -ln q, so that a value which is frequent anyway may not
become almost certain. Losses are not looked at: to learn that somebody does not have a value is no harm in this model.
A blank is no value: who asks leaves such records out. Higher is worse.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.ground.arrays import FloatArray
from sluice.risk.classes.class_values import Sensitive, class_values
from sluice.risk.classes.equivalence_classes import EquivalenceClasses


def largest_gain(classes: EquivalenceClasses, sensitive: Sensitive) -> FloatArray:
    """For each class the largest (p - q) / q over its values, 0 where no value is more frequent than in the file.

    sensitive : shape (n,), codes of the sensitive variable (see `category_codes`), or near numbers
    returns   : shape (c,); the file has basic beta-likeness for every beta from the largest on
    cost      : O(n)
    """
    found = class_values(classes, sensitive)
    return _largest(found.share / found.overall[found.value] - 1, found.holder, len(classes.sizes))


def largest_bounded_gain(classes: EquivalenceClasses, sensitive: Sensitive) -> FloatArray:
    """For each class the largest (p - q) / q relative to its bound -ln q.

    returns : shape (c,); enhanced beta-likeness asks for at most 1, and for a largest gain of at most beta
    cost    : O(n)
    """
    found = class_values(classes, sensitive)
    q = found.overall[found.value]
    bound = np.where(q < 1, -np.log(q), 1.0)  # the only value of a file gains nothing
    return _largest((found.share / q - 1) / bound, found.holder, len(classes.sizes))


def _largest(gain: FloatArray, holder: NDArray[np.int64], classes: int) -> FloatArray:
    largest = np.zeros(classes)
    np.maximum.at(largest, holder, gain)
    return largest
