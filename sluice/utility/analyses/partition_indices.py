"""Partition indices: how alike two partitions of the same records are.

By the pairs of records that both put together (a), one of the two (b, c) or neither (d). Rand (a + d) / all pairs;
Jaccard a / (a + b + c); Wallace 2a / (2a + b + c), so that Jaccard is Wallace / (2 - Wallace); adjusted Rand, which is
0 for what chance explains; and the distance of Mantaras, the share of the joint entropy that one does not tell of the
other.

Source: Torra (2013), "Specific Information Loss Measure: An example". Adjusted Rand by Hubert and Arabie (1985),
equation (5); distance by Lopez de Mantaras (1991), section 3.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from sluice.arrays import IntArray
from sluice.errors import DataError


@dataclass(frozen=True)
class PartitionIndices:
    """Rand, Jaccard, adjusted Rand and Wallace are 1 for equal partitions, and less is worse; Mantaras is 0, and more
    is worse. NaN for fewer than two records."""

    rand: float
    jaccard: float
    adjusted_rand: float
    wallace: float
    mantaras: float


def partition_indices(first: IntArray, second: IntArray) -> PartitionIndices:
    """All indices of two partitions.

    first, second : (n,) the part of each record, 0 and up
    raises        : DataError for different lengths
    cost          : O(n)

    Where neither puts any two records together, nothing contradicts the other: Jaccard, Wallace and adjusted Rand are
    1; where both put all records together, too, and the distance is 0.
    """
    if len(first) != len(second):
        raise DataError(f"two partitions must be of the same records; got {len(first):,} and {len(second):,}.")
    n = len(first)
    if n < 2:
        return PartitionIndices(*[float("nan")] * 5)
    table = coo_array((np.ones(n), (first, second))).tocsr()
    cells, rows, columns = table.data, np.bincount(first), np.bincount(second)
    together, one, other = (float((count * (count - 1.0)).sum() / 2) for count in (cells, rows, columns))
    pairs = n * (n - 1) / 2
    chance, most = one * other / pairs, (one + other) / 2
    either = one + other - together
    joint = _entropy(cells)
    shared = _entropy(rows) + _entropy(columns) - joint
    return PartitionIndices(
        rand=(pairs + 2 * together - one - other) / pairs,
        jaccard=together / either if either else 1.0,
        adjusted_rand=(together - chance) / (most - chance) if most != chance else 1.0,
        wallace=2 * together / (one + other) if one + other else 1.0,
        mantaras=max(0.0, 1 - shared / joint) if joint > 0 else 0.0,
    )


def _entropy(counts: "np.typing.NDArray[np.generic]") -> float:
    shares = np.asarray(counts, dtype=np.float64)
    shares = shares[shares > 0] / shares.sum()
    return float(-(shares * np.log2(shares)).sum())
