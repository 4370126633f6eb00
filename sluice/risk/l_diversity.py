"""l-diversity: how many sensitive values are possible for a person whose combination of keys is known.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, "l-diversity: privacy beyond k-anonymity", ACM TKDD 1(1),
2007: distinct l-diversity (section 4) and Definition 4.1 (entropy l-diversity).

Each function gives one figure a class; the file's l is the smallest. A missing sensitive value counts as one more
value. Lower is worse.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.risk.equivalence_classes import Codes, EquivalenceClasses, IntArray, equivalence_classes


def distinct_values(classes: EquivalenceClasses, sensitive: Codes) -> IntArray:
    """For each class, the number of different sensitive values in it.

    sensitive : shape (n,), codes of the sensitive variable (see `category_codes`)
    returns   : shape (c,), from 1 to the class's size
    cost      : O(n)
    """
    holder, _ = _values_in_classes(classes, sensitive)
    return np.bincount(holder, minlength=len(classes.sizes))


def effective_values(classes: EquivalenceClasses, sensitive: Codes) -> NDArray[np.float64]:
    """For each class, exp(entropy) of its sensitive values: as many as equally frequent values would have it.

    returns : shape (c,), from 1 to the number of different values; the file has entropy l-diversity for every l up to
              the smallest
    cost    : O(n)
    """
    holder, counts = _values_in_classes(classes, sensitive)
    share = counts / classes.sizes[holder]
    return np.exp(-np.bincount(holder, weights=share * np.log(share), minlength=len(classes.sizes)))


def _values_in_classes(classes: EquivalenceClasses, sensitive: Codes) -> tuple[IntArray, IntArray]:
    """The different (class, value) pairs: the class and the number of records of each."""
    pairs = equivalence_classes([classes.labels, sensitive])
    holder = np.empty(len(pairs.sizes), dtype=np.int64)
    holder[pairs.labels] = classes.labels  # all records of a pair write the same class
    return holder, pairs.sizes
