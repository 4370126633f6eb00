"""Perturbation tables: with what probability a count of i is published as i + v.

The noise of each count has mean 0, a given variance, at most a given size, and never leaves a count below 0 or from 1
to a threshold; among all such distributions the one of largest entropy is taken. Zero stays zero.

Source: Marley and Leaver (2011), the entropy; Giessing (2016); Fraser and Wooton (2005). Differs from the R package
ptable: probabilities need not fall on both sides of the mode, so every count keeps the variance, which ptable gives up
for the smallest. Tables that ptable made are taken as they are (`of_intervals`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Booleans, Floats, Integers

Keys = NDArray[np.uint64]

_STEPS = 500
_EXACT = 1e-12  # how near the mean and the variance must come, relative to the largest noise and its square
_ROUNDED = 1e-4  # how near sum and mean of probabilities in a file must come, which has 8 digits of each
_MOST = 1_000  # counts, or steps of noise, in a file
UNLIKELY = 0.05  # of the chance of the likeliest count: one that gives a figure more seldom hides none behind it
_NORMAL = 2 * np.pi * np.e  # by which a normal variance is multiplied to be exp(2 entropy)
_FAR = 0.5  # of the variance that a normal distribution of the same entropy has: with less, noise is far from normal


class NoiseInterval(NamedTuple):
    """With what probability an original count is published with so much noise, and the end of the keys that give it.

    upper : of the keys, as fractions of 1; the last of a count ends at 1
    """

    original: int
    noise: int
    probability: float
    upper: float


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """The distribution of the noise of each count.

    maximum       : the largest noise, up or down
    variance      : of the noise of every count but 0
    threshold     : counts from 1 to this are never published
    probabilities : shape (rows, 2 maximum + 1), of the noise -maximum .. maximum for the counts 0, 1, 2, ...; the last
                    row, which is symmetric, serves all larger counts
    upper         : of the same shape, where the keys end that give each noise, in any order, 0 of noise that is not
                    given, and a key at an end belongs to it; in rising order of the noise when not given
    """

    maximum: int
    variance: float
    threshold: int
    probabilities: Floats
    upper: Floats | None = None

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

    @classmethod
    def of_intervals(cls, given: Sequence[NoiseInterval]) -> "PerturbationTable":
        """A table that another program made, to the same figure for the same key.

        The variance is that of the largest counts; the threshold is the largest count below which none is published.

        raises : DataError naming the count whose noise is not whole, has another mean than 0 or goes below 0, or whose
                 keys leave a gap
        """
        if not given or min(each.original for each in given) < 0:
            raise DataError("a perturbation table has the counts from 0 on, each with its noise.")
        maximum, last = max(abs(each.noise) for each in given), max(each.original for each in given)
        if max(maximum, last) > _MOST:
            raise DataError(
                f"a perturbation table may have counts and noise of up to {_MOST:,}; got {max(maximum, last):,}."
            )
        share, upper = np.zeros((2, last + 1, 2 * maximum + 1))
        for each in given:
            at = each.original, each.noise + maximum
            if share[at] or not 0 <= each.probability <= 1 or not 0 <= each.upper <= 1 + _ROUNDED:
                raise DataError(
                    f"a count of {each.original} has the noise {each.noise:+d} twice, or with a probability or an end "
                    "of keys that is not from 0 to 1."
                )
            share[at], upper[at] = each.probability, min(each.upper, 1.0)
        _refuse_unfit(share, upper, maximum)
        noise = np.arange(-maximum, maximum + 1)
        results = (np.arange(last + 1)[:, None] + noise)[share > 0]
        threshold = int(results[results > 0].min(initial=last + maximum)) - 1
        variance = float(share[-1] @ noise**2 / share[-1].sum())
        return cls(maximum, variance, threshold, share, upper)

    def intervals(self) -> list[NoiseInterval]:
        """What `of_intervals` makes the table of, by count and noise."""
        upper = np.cumsum(self.probabilities, axis=1) if self.upper is None else self.upper
        counts, places = np.nonzero(self.probabilities)
        return [
            NoiseInterval(
                count, at - self.maximum, float(self.probabilities[count, at]), min(float(upper[count, at]), 1.0)
            )
            for count, at in zip(counts.tolist(), places.tolist(), strict=True)
        ]

    @cached_property
    def _order(self) -> Integers:
        """Shape (rows, 2 maximum + 1), the places of the noise by the ends of their keys, those without keys last."""
        ends = np.where(self.probabilities > 0, self.upper, 2.0) if self.upper is not None else None
        width = self.probabilities.shape[1]
        rising = np.broadcast_to(np.arange(width), self.probabilities.shape)
        return rising if ends is None else np.argsort(ends, axis=1, kind="stable")

    @cached_property
    def _bounds(self) -> Keys:
        """Shape (rows, 2 maximum): where in 0 .. 2 ** 63 the keys end that give each but the last, in `_order`."""
        if self.upper is not None:
            own = np.where(self.probabilities > 0, self.upper, 0.0)
            last_end = own.max(axis=1, keepdims=True)
            ends = np.where((self.probabilities > 0) & (own < last_end), own, 1.0)
            ordered = np.take_along_axis(ends, self._order, axis=1)[:, :-1]
            return (ordered * 2.0**63).astype(np.uint64) + np.uint64(1)  # a key at an end still belongs to it
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
        rank = np.zeros(len(counts), dtype=np.int64)
        for bound in self._bounds.T:
            rank += place >= bound[row]
        noise: Integers = self._order[row, rank] - self.maximum
        return noise

    def origins(self, published: Integers, least: float = 0.0) -> tuple[Integers, Integers]:
        """The smallest and the largest count that may stand behind each published one; shapes as given.

        least  : of the chance with which the likeliest count of 1 or more gives the figure, what one must have that
                 counts
        raises : DataError for a figure that this table never publishes
        """
        counts = np.arange(max(int(published.max(initial=0)), len(self.probabilities)) + self.maximum + 1)
        share = self.probabilities[np.minimum(counts, len(self.probabilities) - 1)]
        count, at = np.nonzero(share)
        result = count + at - self.maximum
        chance = np.where(count > 0, share[count, at], 0.0)  # an empty cell is not listed
        most = np.zeros(len(counts) + self.maximum)
        np.maximum.at(most, result, chance)
        counts_as = (count == 0) | (chance >= least * most[result])
        count, result = count[counts_as], result[counts_as]
        low, high = np.full(len(counts) + self.maximum, -1), np.full(len(counts) + self.maximum, -1)
        low[result[::-1]], high[result] = count[::-1], count  # in falling, in rising order: the last one stays
        if (published < 0).any() or (low[published] < 0).any():
            raise DataError("a figure is not one that this perturbation table publishes.")
        return low[published], high[published]

    def plausible(self, published: Integers) -> tuple[Integers, Integers]:
        """As `origins`, without counts that hardly ever give the figure: by noise of next to no chance a table hides
        nothing, however large that noise is."""
        return self.origins(published, UNLIKELY)

    def chances(self, counts: Integers) -> Floats:
        """With what chance each count gets the noise -maximum .. maximum; shape (c, 2 maximum + 1)."""
        chances: Floats = self.probabilities[np.minimum(counts, len(self.probabilities) - 1)]
        return chances

    def hiding_variance(self, counts: Integers) -> Floats:
        """Of normal noise that hides as much of each count, 1 or more, when figures are added up; shape as given.

        That is the variance itself, but where noise is far from normal: a reader who finds that sums hold knows that
        nothing there has noise, however large it would be, if most has none. Then it is the variance of normal noise
        whose entropy is that of the counts which may stand behind a figure.

        cost : O((rows + maximum) maximum)
        """
        noise = np.arange(-self.maximum, self.maximum + 1)
        count = np.arange(1, len(self.probabilities) + 2 * self.maximum + 1)
        figure = np.arange(count[-1] + self.maximum + 1)
        behind = figure[:, None] - noise
        row = np.clip(behind, 0, len(self.probabilities) - 1)
        chance = np.where(behind > 0, self.probabilities[row, noise + self.maximum], 0.0)
        chance /= np.where(chance.sum(axis=1) > 0, chance.sum(axis=1), 1.0)[:, None]
        entropy = -(chance * np.log(np.where(chance > 0, chance, 1.0))).sum(axis=1)
        mean = (chance * noise).sum(axis=1)
        spread = (chance * (noise - mean[:, None]) ** 2).sum(axis=1)
        normal = np.minimum(np.exp(2 * entropy) / _NORMAL, spread)
        share = np.where(spread > 0, normal / np.where(spread > 0, spread, 1.0), 1.0)
        own = self.chances(count)
        hides = (own * share[np.maximum(count[:, None] + noise, 0)]).sum(axis=1)
        variance = own @ noise**2 - (own @ noise) ** 2
        found: Floats = (np.where(hides < _FAR, hides, 1.0) * variance)[np.minimum(counts, count[-1]) - 1]
        return found


def _refuse_unfit(share: Floats, upper: Floats, maximum: int) -> None:
    """Raises DataError where a row is no distribution of mean 0, or its keys are not those of its probabilities."""
    noise = np.arange(-maximum, maximum + 1)
    counts = np.arange(len(share))

    def refuse(which: Booleans, says: str) -> None:
        if which.any():
            raise DataError(f"a count of {int(np.argmax(which))} {says}")

    refuse(np.asarray(np.abs(share.sum(axis=1) - 1) > _ROUNDED), "has probabilities that do not add up to 1.")
    negative: Booleans = np.logical_or.reduce((share > 0) & (counts[:, None] + noise < 0), axis=1)
    refuse(negative, "has noise below 0.")
    refuse(
        (counts == 0) & (share[:, maximum] < 1 - _ROUNDED),
        "has noise: empty cells are not listed, so they must stay empty.",
    )
    refuse(np.asarray(np.abs(share @ noise) > _ROUNDED * max(maximum, 1)), "has noise of another mean than 0.")
    order = np.argsort(np.where(share > 0, upper, 2.0), axis=1, kind="stable")
    reached = np.cumsum(np.take_along_axis(share, order, axis=1), axis=1)
    ends = np.where(np.take_along_axis(share, order, axis=1) > 0, np.take_along_axis(upper, order, axis=1), reached)
    elsewhere: Booleans = np.logical_or.reduce(np.abs(reached - ends) > _ROUNDED, axis=1)
    refuse(elsewhere, "has intervals of keys (p_int_ub) that do not end where its probabilities add up to.")


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
            if np.abs(there @ moments - target).max() < np.abs(gradient).max() / 2:
                break  # at the end the value falls by less than it is rounded by
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
