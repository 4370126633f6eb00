"""delta-disclosure privacy: by what factor a class makes any sensitive value more or less likely than the whole file.

Source: Brickell and Shmatikov (2008), Definition 5: |ln(p / q)| < delta for every value, with p its share in the class
and q its share in the file.

By the definition a value that a class lacks breaks every delta, since its logarithm is infinite: each class must then
show every value of the file. ARX and pycanon leave absent values out; `absent` chooses. A blank is no value: who
asks leaves such records out. Higher is worse.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.equivalence_classes import Codes, EquivalenceClasses


def log_ratios(classes: EquivalenceClasses, sensitive: Codes, absent: bool = True) -> NDArray[np.float64]:
    """For each class the largest |ln(p / q)|.

    sensitive : shape (n,), codes of the sensitive variable (see `category_codes`)
    absent    : whether a value that the class lacks counts; it is then infinite
    returns   : shape (c,), 0 (the class is a picture of the file) or more; the file has delta-disclosure privacy for
                every delta above the largest
    cost      : O(n)
    """
    found = class_values(classes, sensitive)
    largest = np.zeros(len(classes.sizes))
    np.maximum.at(largest, found.holder, np.abs(np.log(found.share / found.overall[found.value])))
    if absent:
        present = np.bincount(found.holder, minlength=len(largest))
        largest[present < np.count_nonzero(found.overall)] = np.inf
    return largest
