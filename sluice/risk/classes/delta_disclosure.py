"""delta-disclosure privacy: by what factor a class makes any sensitive value more or less likely than the whole file.

Source: Brickell and Shmatikov (2008), Definition 5: |ln(p / q)| < delta for every value, with p its share in the class
and q its share in the file.

By the definition a value that a class lacks breaks every delta, since its logarithm is infinite: each class must then
show every value of the file. ARX and pycanon leave absent values out; `absent` chooses. A blank is no value: who
asks leaves such records out. Higher is worse.
"""

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.risk.classes.class_values import ClassValues


def log_ratios(found: ClassValues, absent: bool = True) -> FloatArray:
    """For each class the largest |ln(p / q)|.

    absent  : whether a value that the class lacks counts; it is then infinite
    returns : shape (c,), 0 (the class is a picture of the file) or more; the file has delta-disclosure privacy for
              every delta above the largest
    cost    : O(pairs)
    """
    q = found.overall[found.value]
    shown = q > 0  # a value that suppressed records alone have is nowhere in the file
    largest = found.largest(np.where(shown, np.abs(np.log(found.share / np.where(shown, q, 1.0))), 0.0))
    if absent:
        largest[found.different < np.count_nonzero(found.overall)] = np.inf
    return largest
