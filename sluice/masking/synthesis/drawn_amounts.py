"""Drawn amounts: values of records, blurred so that nobody's own is shown, and none where the original has none.

Income of rents, a benefit, a gain: many have none of it, and of the others few have most. To have none is a state and
no small amount, so a blurred amount stays on its side of 0, no nearer to it than the original's. Where few have most,
amounts are blurred by a share of themselves: by the same sum, small ones would be moved by their multiples, and an
analysis of their logarithm would see little else.
"""

import numpy as np
from numpy.random import Generator

from sluice.ground.arrays import BoolArray, FloatArray, IntArray

_SKEWED = 1.2  # mean by median, of what is not 0


def is_skewed(values: FloatArray) -> bool:
    """Whether few have most of it: by the size of what is not 0, in either direction. Shape (n,), finite."""
    size = np.abs(values[values != 0])
    return bool(len(size) and size.mean() > _SKEWED * np.median(size))


def smoothed(
    values: FloatArray, leaves: IntArray, donors: IntArray, heap: int, rng: Generator
) -> tuple[FloatArray, BoolArray]:
    """The donors' values drawn from normal kernels around them, within the original's range, and which are others.

    values  : shape (m,), of the known records, finite
    leaves  : shape (m,), of which spread in a leaf decides how far its values are blurred; of fewer than `heap` of a
              leaf on one side of 0, that of all on this side
    donors  : shape (w,), positions among them
    heap    : a value that at least so many have stays as it is
    returns : two shapes (w,)
    cost    : O(m log m)
    """
    side: IntArray = np.sign(values).astype(np.int64)
    sides, people = np.unique(side, return_counts=True)
    sided = (0 in sides or len(sides) == 1) and (people >= heap).all()
    skewed = sided and is_skewed(values)
    side = side if sided else np.ones_like(side)
    scaled: FloatArray = np.log(np.abs(np.where(values == 0, 1.0, values))) if skewed else values
    group = np.unique(np.column_stack([leaves, side]), axis=0, return_inverse=True)[1].reshape(-1)
    group = np.where(np.bincount(group)[group] < heap, -2 - side, group)
    noise = kernel_noise(scaled, group, donors, heap, rng)
    drawn = scaled[donors] + noise
    for each in np.unique(side):
        there, among = side[donors] == each, scaled[side == each]
        drawn[there] = reflected(drawn[there], among.min(), among.max())
    return (np.exp(drawn) * side[donors] if skewed else drawn), np.asarray(noise != 0)


def kernel_noise(values: FloatArray, leaves: IntArray, donors: IntArray, heap: int, rng: Generator) -> FloatArray:
    """Normal noise for the donors' values, of Silverman's bandwidth for their leaf.

    values  : shape (m,), of the known records
    leaves  : shape (m,)
    donors  : shape (w,), positions among them
    heap    : a value that at least so many of them have gets no noise (a zero, a round amount)
    returns : shape (w,)
    source  : Silverman (1986), equation 3.31
    """
    size = np.abs(values).max(initial=0.0) or 1.0
    order = np.lexsort((values, leaves))
    ranked = values[order] / size
    _, first, leaf, count = np.unique(leaves[order], return_index=True, return_inverse=True, return_counts=True)
    means = np.bincount(leaf, ranked) / count
    deviations = np.sqrt(np.bincount(leaf, (ranked - means[leaf]) ** 2) / np.maximum(count - 1, 1))
    low, high = (ranked[first + np.rint(share * (count - 1)).astype(np.int64)] for share in (0.25, 0.75))
    spread = np.where(high > low, np.minimum(deviations, (high - low) / 1.34), deviations)
    bandwidths = np.empty(len(values))
    bandwidths[order] = (0.9 * spread * count**-0.2 * size)[leaf]
    _, same, shared = np.unique(values, return_inverse=True, return_counts=True)
    bandwidths[shared[same] >= heap] = 0.0
    return rng.standard_normal(len(donors)) * bandwidths[donors]


def reflected(values: FloatArray, lowest: float, highest: float) -> FloatArray:
    """The values thrown back at either end as often as it takes, so that none is heaped at an end. Shape (n,)."""
    width = highest - lowest
    if width == 0:
        return np.full_like(values, lowest)
    return lowest + np.abs((values - lowest + width) % (2 * width) - width)
