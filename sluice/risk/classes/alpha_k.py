"""(alpha,k)-anonymity: in classes of at least k records, how sure one is of a sensitive value.

Source: Wong, Li, Fu and Wang (2006), Definitions 2 and 3: in every class the share of a sensitive value is at most
alpha. The simple model names the values that are sensitive, the general one protects all.

A blank is no value: who asks leaves such records out. Higher is worse. For k see `k_anonymity`.
"""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.classes.class_values import ClassValues


def largest_share(found: ClassValues, values: IntArray | Sequence[int] | None = None) -> FloatArray:
    """For each class, the share of its records that have its most frequent sensitive value.

    values  : codes of the values that are sensitive; all when None
    returns : shape (c,), 0 (none of the values occurs) to 1
    cost    : O(pairs)
    """
    share = found.share
    return found.largest(share if values is None else np.where(np.isin(found.value, values), share, 0.0))
