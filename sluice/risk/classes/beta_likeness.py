"""beta-likeness: how much more likely a class makes a sensitive value than the whole file does.

Source: Cao and Karras (2012), Definitions 2 (basic) and 3 (enhanced).

A value with share q in the file and p in a class gains (p - q) / q where p exceeds q. Basic beta-likeness bounds every
gain by beta; enhanced beta-likeness by the smaller of beta and -ln q, so that a value which is frequent anyway may not
become almost certain. Losses are not looked at: to learn that somebody does not have a value is no harm in this model.
A blank is no value: who asks leaves such records out. Higher is worse.
"""

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.risk.classes.class_values import ClassValues


def largest_gain(found: ClassValues) -> FloatArray:
    """For each class the largest (p - q) / q over its values, 0 where no value is more frequent than in the file.

    returns : shape (c,); the file has basic beta-likeness for every beta from the largest on
    cost    : O(pairs)
    """
    return found.largest(_gains(found)[0])


def largest_bounded_gain(found: ClassValues) -> FloatArray:
    """For each class the largest (p - q) / q relative to its bound -ln q.

    returns : shape (c,); enhanced beta-likeness asks for at most 1, and for a largest gain of at most beta
    cost    : O(pairs)
    """
    gain, q = _gains(found)
    bound = np.where(q < 1, -np.log(q), 1.0)  # the only value of a file gains nothing
    return found.largest(gain / bound)


def _gains(found: ClassValues) -> tuple[FloatArray, FloatArray]:
    """Shape (pairs,) each: (p - q) / q, and q; of a value that suppressed records alone have, 0 and 1."""
    q = found.overall[found.value]
    q, shown = np.where(q > 0, q, 1.0), q > 0
    return np.where(shown, found.share / q - 1, 0.0), q
