"""Partition indices: how alike two partitions of the same records are.

By the pairs of records that both put together (a), one of the two (b, c) or neither (d). Rand (a + d) / all pairs;
Jaccard a / (a + b + c); Wallace 2a / (2a + b + c), so that Jaccard is Wallace / (2 - Wallace); adjusted Rand, which is
0 for what chance explains; and the distance of Mantaras, the share of the joint entropy that one does not tell of the
other.

Source: Torra (2013), "Specific Information Loss Measure: An example". Adjusted Rand by Hubert and Arabie (1985),
equation (5); distance by Lopez de Mantaras (1991), section 3.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.utility.record_weights import relative_weight


@dataclass(frozen=True)
class PartitionIndices:
    """Rand, Jaccard, adjusted Rand and Wallace are 1 for equal partitions, and less is worse; Mantaras is 0, and more
    is worse. NaN for fewer than two records."""

    rand: float
    jaccard: float
    adjusted_rand: float
    wallace: float
    mantaras: float


def partition_indices(first: IntArray, second: IntArray, weight: FloatArray | None = None) -> PartitionIndices:
    """All indices of two partitions.

    first, second : (n,) the part of each record, 0 and up
    weight        : (n,): a pair of records weighs the product of theirs, and of the entropies a record its own; one of
                    weight 0 is left out. None: every record weighs 1
    raises        : DataError for different lengths, or weights that do not fit
    cost          : O(n)

    Where neither puts any two records together, nothing contradicts the other: Jaccard, Wallace and adjusted Rand are
    1; where both put all records together, too, and the distance is 0.
    """
    from scipy.sparse import coo_array  # loaded where it is needed

    if len(first) != len(second):
        raise DataError(f"two partitions must be of the same records; got {len(first):,} and {len(second):,}.")
    weight = relative_weight(weight, len(first))
    if weight is not None:
        first, second, weight = first[weight > 0], second[weight > 0], weight[weight > 0]
    n = len(first)
    if n < 2:
        return PartitionIndices(*[float("nan")] * 5)
    of_each = np.ones(n) if weight is None else weight
    table = coo_array((of_each, (first, second))).tocsr()
    squares = coo_array((of_each**2, (first, second))).tocsr()
    cells, rows, columns = table.data, np.bincount(first, weight), np.bincount(second, weight)
    together = _pairs(cells, squares.data)
    one, other = (_pairs(sums, np.bincount(part, of_each**2)) for sums, part in ((rows, first), (columns, second)))
    pairs = _pairs(of_each.sum(), (of_each**2).sum())
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


def _pairs(sums: Any, squares: Any) -> float:
    """What the pairs of records of each part weigh, added up, by the sums of its weights and of their squares."""
    return float((np.asarray(sums, np.float64) ** 2 - squares).sum() / 2)


def _entropy(counts: "np.typing.NDArray[np.generic]") -> float:
    shares = np.asarray(counts, dtype=np.float64)
    shares = shares[shares > 0] / shares.sum()
    return float(-(shares * np.log2(shares)).sum())
