"""Kendall's tau-b: how much more often two variables rise together than apart, over pairs of records.

Source: Kendall (1945) for ties; Knight (1966) for counting by a sort.
"""

from math import sqrt

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.utility.continuous.number_columns import Numbers
from sluice.utility.record_weights import relative_weight


def kendall_tau(values: Numbers, weight: FloatArray | None = None) -> FloatArray:
    """tau-b of every pair of columns, shape (d, d), -1 to 1; 1 on the diagonal.

    values  : shape (n, d), NaN for a missing value: each pair uses the records that have both
    weight  : (n,), finite and not negative: a pair of records weighs the product of theirs, so that tau is that of the
              population in which each stands for so many; a record of weight 0 is left out. None: every pair weighs 1
    returns : NaN where fewer than 2 records have both, or one of the two is constant among these
    raises  : DataError for weights that do not fit
    cost    : O(d^2 n log n): 190 pairs of 50,000 records take about 1 s
    """
    from sluice.utility.kendall_kernel import tau_b  # compiled: loaded where it is needed

    d, weight = values.shape[1], relative_weight(weight, len(values))
    kept = slice(None) if weight is None else weight > 0
    weight = None if weight is None else weight[kept]
    ranks, orders, sizes = [], [], []
    for at in range(d):
        codes, distinct = pd.factorize(values[:, at][kept], sort=True)  # -1 for a missing value
        ranks.append(np.ascontiguousarray(codes, dtype=np.int32))
        orders.append(np.argsort(codes, kind="stable"))
        sizes.append(len(distinct))
    found = np.full((d, d), np.nan)
    for i in range(d):
        found[i, i] = np.nan if sizes[i] < 2 else 1.0
        for j in range(i):
            found[i, j] = found[j, i] = tau_b(ranks[i], ranks[j], orders[j], sizes[i], weight)
    return found


def half_width(records: float) -> float:
    """Half of a 95 % interval of tau from a random sample of so many (effective) records, at most: 1.96 sqrt(2 / n).

    Source: Kendall (1970), section 4.12, by whom the variance is at most 2 (1 - tau^2) / n.
    """
    return 1.959963984540054 * sqrt(2 / records) if records else float("nan")
