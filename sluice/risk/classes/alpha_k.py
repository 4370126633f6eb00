"""(alpha,k)-anonymity: in classes of at least k records, how sure one is of a sensitive value.

Source: Wong, Li, Fu and Wang (2006), Definitions 2 and 3: in every class the share of a sensitive value is at most
alpha. The simple model names the values that are sensitive, the general one protects all.

A blank is no value: who asks leaves such records out. Higher is worse. For k see `k_anonymity`.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.ground.arrays import IntArray
from sluice.risk.classes.class_values import Sensitive, class_values
from sluice.risk.classes.equivalence_classes import EquivalenceClasses


def largest_share(
    classes: EquivalenceClasses, sensitive: Sensitive, values: IntArray | None = None
) -> NDArray[np.float64]:
    """For each class, the share of its records that have its most frequent sensitive value.

    sensitive : shape (n,), codes of the sensitive variable (see `category_codes`), or near numbers
    values    : codes of the values that are sensitive; all when None
    returns   : shape (c,), 0 (none of the values occurs) to 1
    cost      : O(n)
    """
    found = class_values(classes, sensitive)
    counts = np.ones(len(found.value), dtype=bool) if values is None else np.isin(found.value, values)
    largest = np.zeros(len(classes.sizes))
    np.maximum.at(largest, found.holder[counts], found.share[counts])
    return largest
