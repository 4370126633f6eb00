"""Clustering agreement: whether the masked file falls into the same clusters as the original.

k-means and fuzzy c-means find other clusters from another start. So the original's clusters are compared with those
from another start on the same original, and with the masked file's; the loss is what the second comparison is worse by.

Source: Torra (2013), "Specific Information Loss Measure: An example" and "Some results", the last of which shows that
fuzzy c-means does not agree with itself. Fuzzy c-means by Bezdek (1981), section 11, fuzzifier 2.
"""

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.utility.analyses.partition_indices import PartitionIndices, partition_indices
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight

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
