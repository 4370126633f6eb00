"""Clustering agreement: whether the masked file falls into the same clusters as the original.

k-means and fuzzy c-means find other clusters from another start. So the original's clusters are compared with those
from another start on the same original, and with the masked file's; the loss is what the second comparison is worse by.

Source: Torra (2013), "Specific Information Loss Measure: An example" and "Some results", the last of which shows that
fuzzy c-means does not agree with itself. Fuzzy c-means by Bezdek (1981), section 11, fuzzifier 2.

Partition indices: how alike two partitions of the same records are.

By the pairs of records that both put together (a), one of the two (b, c) or neither (d). Rand (a + d) / all pairs;
Jaccard a / (a + b + c); Wallace 2a / (2a + b + c), so that Jaccard is Wallace / (2 - Wallace); adjusted Rand, which is
0 for what chance explains; and the distance of Mantaras, the share of the joint entropy that one does not tell of the
other.

Source: Torra (2013), "Specific Information Loss Measure: An example". Adjusted Rand by Hubert and Arabie (1985),
equation (5); distance by Lopez de Mantaras (1991), section 3.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight


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


ClusteringMethod = Literal["k_means", "fuzzy_c_means"]
_STARTS = 5
_ITERATIONS = 300
_TOLERANCE = 1e-5  # of a centre, in standard deviations
_AT_ONCE = 50_000
_OF_NORMAL = 1.959963984540054


@dataclass(frozen=True)
class IndexLoss:
    """One index, on average over the starts.

    itself, masked : of the original with itself from another start, and with the masked file
    loss           : by how much the masked file agrees less, at least 0; of a distance, by how much it is farther
    low, high      : 95 % interval of the loss over the starts, not cut at 0
    """

    index: str
    itself: float
    masked: float
    loss: float
    low: float
    high: float


def clustering_agreement(
    original: FloatArray,
    masked: FloatArray,
    method: ClusteringMethod,
    clusters: int,
    paired: bool,
    rng: Generator,
    weights: Weights = UNWEIGHTED,
) -> tuple[IndexLoss, ...]:
    """The loss of each index of `PartitionIndices`, over five pairs of starts.

    original : (n, d), finite, in units that make columns comparable
    masked   : (m, e), finite, the columns that the masked file still has, e <= d; with `paired`, row i is the record of
               row i of the original, and its cluster is that of its masked values; without, clusters of the masked
               file are regions, in which the original's records lie, and e must be d
    weights  : of the records of both files, by which they draw the centres and count in the indices
    raises   : DataError for weights that do not fit, fewer distinct records than clusters in the original, and
               different lengths
    cost     : O((n + m) d clusters) an iteration, 15 clusterings

    A masked file with fewer distinct records than clusters has as many clusters as these; one without columns has one.
    """
    if paired and len(original) != len(masked):
        raise DataError(f"paired files must have as many records; got {len(original):,} and {len(masked):,}.")
    if not paired and original.shape[1] != masked.shape[1]:
        raise DataError("files whose records are not paired must have the same variables to be clustered by.")
    distinct = len(np.unique(original, axis=0))
    if distinct < clusters:
        raise DataError(f"{clusters} clusters need as many different records; the original has {distinct:,}.")
    weight, masked_weight = (
        relative_weight(each, len(file)) for each, file in zip(weights, (original, masked), strict=True)
    )
    itself, with_masked = [], []
    for _ in range(_STARTS):
        first = _nearest(original, _centres(original, weight, method, clusters, rng))
        again = _nearest(original, _centres(original, weight, method, clusters, rng))
        itself.append(partition_indices(first, again, weight))
        if not masked.shape[1] or not len(masked):
            found = np.zeros(len(original), np.int64)
        else:
            least = min(clusters, len(np.unique(masked, axis=0)))
            centres = _centres(masked, masked_weight, method, least, rng)
            found = _nearest(masked if paired else original, centres)
        with_masked.append(partition_indices(first, found, weight))
    return tuple(_index_loss(name, itself, with_masked) for name in asdict(itself[0]))


def _index_loss(name: str, itself: list[PartitionIndices], masked: list[PartitionIndices]) -> IndexLoss:
    before = np.array([getattr(each, name) for each in itself])
    after = np.array([getattr(each, name) for each in masked])
    worse = after - before if name == "mantaras" else before - after
    half = _OF_NORMAL * worse.std(ddof=1) / np.sqrt(len(worse))
    mean = float(worse.mean())
    return IndexLoss(
        index=name,
        itself=float(before.mean()),
        masked=float(after.mean()),
        loss=max(0.0, mean),
        low=float(mean - half),
        high=float(mean + half),
    )


def _centres(
    points: FloatArray, weight: FloatArray | None, method: ClusteringMethod, clusters: int, rng: Generator
) -> FloatArray:
    if method == "fuzzy_c_means":
        return fuzzy_centres(points, clusters, rng, weight)
    from sklearn.cluster import KMeans  # loaded where it is needed

    seed = int(rng.integers(2**31))
    found = KMeans(clusters, n_init=1, max_iter=_ITERATIONS, random_state=seed).fit(points, sample_weight=weight)
    return np.asarray(found.cluster_centers_, dtype=np.float64)


def fuzzy_centres(points: FloatArray, clusters: int, rng: Generator, weight: FloatArray | None = None) -> FloatArray:
    """The centres of fuzzy c-means with fuzzifier 2, shape (clusters, d), from memberships drawn at random.

    points : (n, d), finite, n >= clusters
    weight : (n,), not negative: as if there were so many of each point. None: each weighs 1
    cost   : O(n d clusters) an iteration, at most 300
    """
    rows = rng.choice(len(points), clusters, replace=False)
    centres = points[rows] + 1e-6 * rng.normal(size=(clusters, points.shape[1]))
    for _ in range(_ITERATIONS):
        sums, weights = np.zeros_like(centres), np.zeros(clusters)
        for at in range(0, len(points), _AT_ONCE):
            part = points[at : at + _AT_ONCE]
            squared = memberships(part, centres) ** 2
            if weight is not None:
                squared *= weight[at : at + _AT_ONCE, np.newaxis]
            sums += squared.T @ part
            weights += squared.sum(axis=0)
        moved = np.where(weights[:, None] > 0, sums / np.maximum(weights, 1e-300)[:, None], centres)
        done = float(np.abs(moved - centres).max()) < _TOLERANCE
        centres = moved
        if done:
            break
    return centres


def memberships(points: FloatArray, centres: FloatArray) -> FloatArray:
    """How much each point belongs to each centre, shape (n, clusters); rows add up to 1. Bezdek (1981), section 11.

    A point on a centre belongs to it alone, on several to these alike.
    """
    from scipy.spatial.distance import cdist  # loaded where it is needed

    distance = cdist(points, centres, "sqeuclidean")
    on_centre = distance <= 0
    with np.errstate(divide="ignore"):
        inverse = np.where(on_centre.any(axis=1, keepdims=True), on_centre.astype(float), 1 / distance)
    return np.asarray(inverse / inverse.sum(axis=1, keepdims=True))


def _nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    """The nearest centre, which is the one of the largest membership, too."""
    from scipy.spatial.distance import cdist  # loaded where it is needed

    parts = [
        cdist(points[at : at + _AT_ONCE], centres, "sqeuclidean").argmin(axis=1)
        for at in range(0, len(points), _AT_ONCE)
    ]
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
