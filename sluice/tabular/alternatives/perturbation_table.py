"""Perturbation tables: with what probability a count of i is published as i + v.

The noise of each count has mean 0, a given variance, at most a given size, and never leaves a count below 0 or from 1
to a threshold; among all such distributions the one of largest entropy is taken. Zero stays zero.

Source: Marley and Leaver (2011), the entropy; Giessing (2016); Fraser and Wooton (2005). Differs from the R package
ptable: probabilities need not fall on both sides of the mode, so every count keeps the variance, which ptable gives up
for the smallest.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Floats, Integers

Keys = NDArray[np.uint64]

_STEPS = 500
_EXACT = 1e-12  # how near the mean and the variance must come, relative to the largest noise and its square


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """The distribution of the noise of each count.

    maximum       : the largest noise, up or down
    variance      : of the noise of every count but 0
    threshold     : counts from 1 to this are never published
    probabilities : shape (rows, 2 maximum + 1), of the noise -maximum .. maximum for the counts 0, 1, 2, ...; the last
                    row, which is symmetric, serves all larger counts
    """

    maximum: int
    variance: float
    threshold: int
    probabilities: Floats

    @classmethod
    def of_largest_entropy(cls, maximum: int, variance: float, threshold: int = 0) -> "PerturbationTable":
        """The table of largest entropy.

        raises : DataError when a parameter is out of bounds, or some count has no noise of mean 0 and that variance
        cost   : one convex problem of two unknowns for each count up to maximum + threshold + 1
        """
        if maximum < 1:
            raise DataError(f"maximum of a perturbation table must be 1 or more; got {maximum}.")
        if threshold < 0:
            raise DataError(f"threshold of a perturbation table must be 0 or more; got {threshold}.")
        if maximum <= threshold:
            raise DataError(
                "maximum of a perturbation table must be above the threshold, as a count just above it must be able to "
                f"become 0; got {maximum} and {threshold}."
            )
        if not variance > 0:
            raise DataError(f"variance of a perturbation table must be above 0; got {variance:g}.")
        noise = np.arange(-maximum, maximum + 1)
        rows = np.zeros((maximum + threshold + (threshold > 0) + 1, len(noise)))
        rows[0, maximum] = 1
        for count in range(1, len(rows)):
            result = count + noise
            allowed = (result >= 0) & ((result == 0) | (result > threshold))
            rows[count, allowed] = _largest_entropy(noise[allowed].astype(np.float64), variance, count)
        return cls(maximum, variance, threshold, rows)

    @cached_property
    def _bounds(self) -> Keys:
        """Shape (rows, 2 maximum): where in 0 .. 2 ** 63 the keys end that give each noise but the last."""
        ends = np.cumsum(self.probabilities, axis=1)
        last = self.probabilities.shape[1] - 1 - np.argmax(self.probabilities[:, ::-1] > 0, axis=1)
        ends = np.where(np.arange(ends.shape[1]) >= last[:, None], 1.0, np.minimum(ends, 1.0))
        bounds: Keys = (ends[:, :-1] * 2.0**63).astype(np.uint64)
        return bounds

    def noise(self, counts: Integers, keys: Keys) -> Integers:
        """What to add to each count, looked up by the count and its cell key.

        counts : shape (c,), 0 or more
        keys   : shape (c,), as fractions of 2 ** 64
        cost   : O(c maximum) time, O(c) memory
        """
        row = np.minimum(counts, len(self.probabilities) - 1)
        place = keys >> np.uint64(1)
        noise = np.full(len(counts), -self.maximum, dtype=np.int64)
        for bound in self._bounds.T:
            noise += place >= bound[row]
        return noise

    def origins(self, published: Integers) -> tuple[Integers, Integers]:
        """The smallest and the largest count that may stand behind each published one; shapes as given.

        raises : DataError for a figure that this table never publishes
        """
        counts = np.arange(max(int(published.max(initial=0)), len(self.probabilities)) + self.maximum + 1)
        share = self.probabilities[np.minimum(counts, len(self.probabilities) - 1)]
        count, at = np.nonzero(share)
        result = count + at - self.maximum
        low, high = np.full(len(counts) + self.maximum, -1), np.full(len(counts) + self.maximum, -1)
        low[result[::-1]], high[result] = count[::-1], count  # in falling, in rising order: the last one stays
        if (published < 0).any() or (low[published] < 0).any():
            raise DataError("a figure is not one that this perturbation table publishes.")
        return low[published], high[published]


def _largest_entropy(noise: Floats, variance: float, count: int) -> Floats:
    """Probabilities of `noise`, in rising order, with mean 0 and the variance, of largest entropy.

    They are proportional to exp(a v + b v ** 2); a and b minimise a convex function, by Newton's method with halving.
    """
    least, most = _variances(noise)
    if not least <= variance <= most:
        raise DataError(
            f"a count of {count} can have no noise of mean 0 and variance {variance:g}: it may change by "
            f"{_list(noise)} only, so the variance must be from {least:g} to {most:g}. Change the maximum, the "
            "variance or the threshold."
        )
    if variance in (least, most):  # the noise takes two values, and there is no choice
        below, above = (noise[0], noise[-1]) if variance == most else (noise[noise < 0][-1], noise[noise > 0][0])
        two: Floats = np.where(noise == below, above, np.where(noise == above, -below, 0.0)) / (above - below)
        return two
    size = np.abs(noise).max()
    moments = np.column_stack([noise / size, (noise / size) ** 2])
    target = np.array([0.0, variance / size**2])
    multipliers = np.zeros(2)
    value, share = _dual(multipliers, moments, target)
    for _ in range(_STEPS):
        gradient = share @ moments - target
        if np.abs(gradient).max() < _EXACT:
            return share
        centred = moments - share @ moments
        step = np.linalg.lstsq((centred * share[:, None]).T @ centred, gradient, rcond=None)[0]
        pace = 1.0
        while pace > _EXACT:
            trial, there = _dual(multipliers - pace * step, moments, target)
            if trial <= value - 1e-4 * pace * (gradient @ step) + 1e-15 * abs(value):
                break
            pace /= 2
        multipliers, value, share = multipliers - pace * step, trial, there
    raise DataError(
        f"a count of {count} can hardly have noise of variance {variance:g}: it must be from {least:g} to {most:g}, "
        "and not so near to either."
    )


def _dual(multipliers: Floats, moments: Floats, target: Floats) -> tuple[float, Floats]:
    """What is minimised, and the probabilities that belong to it."""
    exponents = moments @ multipliers
    largest = exponents.max()
    weights = np.exp(exponents - largest)
    return float(largest + np.log(weights.sum()) - multipliers @ target), weights / weights.sum()


def _variances(noise: Floats) -> tuple[float, float]:
    """The least and the largest variance of a distribution on these values with mean 0."""
    least = 0.0 if (noise == 0).any() else float(-noise[noise < 0].max() * noise[noise > 0].min())
    return least, float(-noise.min() * noise.max())


def _list(noise: Floats) -> str:
    return ", ".join(f"{value:+g}" if value else "0" for value in noise)
