"""Bounds: the attacks on methods that let a value become only some of the released ones.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": the record lies in the intersection of
what the bounds of all variables leave.

Ranks. On plain rank swapping a value can only have become one of those within the window. Source: Torra (2013), "Rank
swapping: Specific record linkage for rank swapping", Examples III to VI. Equal values were ranked at random, so the
window begins at the lowest and ends at the highest rank of a value. Where the order is kept, a person's rank is that of
the released record. Source: Torra (2013), "Resampling" and "Data Distortion by Probability Distribution", which map
values by rank.

Random rounding: a value became one of the two multiples around it, the nearer one more likely. Released ranges: a
record can only be somebody's whose values lie within all its ranges.

Microaggregation: a record went into a group whose centre lies near it. Groups of several numbers. Source: Lasko and
Vinterbo (2010), section V, on groups of similar records: the nearest released record is a person's own in one case of
k, but nothing tells which.

Groups of single variables: a value went into the group above or the one below it. Source: Torra (2013), "Rank swapping
record linkage (RS-RL)", Discussion: "microaggregation with individual ranking (univariate) can also be attacked
effectively". The groups of one variable follow each other in the order of its values, and what stands for a group
(mean, median, a member) lies within it; equal values may have been parted.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.sentence import percent
from sluice.ground.variables import Kind
from sluice.risk.transparency.attack import RANKED, Pairs
from sluice.risk.transparency.linkage import LearnedCloseness, Likelihood, Linkage

_ROUNDING = 1e-9  # of the base: what a released multiple may differ from the exact one


@dataclass(frozen=True)
class Bounds(Linkage):
    """Intersect what the bounds of all variables leave."""

    kinds = RANKED

    @abstractmethod
    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest that each known value can have become.

        known, ranked : values of one variable, and its released values in rising order; none is missing
        """

    def likelihood(self, pairs: Pairs) -> Likelihood:
        from sluice.risk.transparency.bounds_kernel import rule_out

        people, records = pairs.rows, len(pairs.masked)
        lower, upper = np.full((2, len(people), len(self.columns)), -np.inf)
        released = np.empty((records, len(self.columns)))
        for j, name in enumerate(self.columns):  # one after the other: of a large file each takes much memory
            known, published = pairs.known([name])[:, 0], pairs.published([name])[:, 0]
            ranked, present = np.sort(published[~np.isnan(published)]), ~np.isnan(known)
            if len(ranked):
                for bound, of_known in zip((lower, upper), self.bounds(known[present], ranked), strict=True):
                    everybody = np.full(len(known), -np.inf)
                    everybody[present] = of_known
                    bound[:, j] = everybody[people]
            released[:, j] = np.where(np.isnan(published), -np.inf, published)  # a missing one stays where it is

        def of(rows: IntArray) -> FloatArray:
            logs = np.zeros((len(rows), records))
            place = np.searchsorted(people, rows)
            assert np.array_equal(people[place], rows), "somebody is asked for who is not attacked"
            rule_out(lower[place], upper[place], released, logs)
            return logs

        return of


@dataclass(frozen=True)
class RankWindow(Bounds):
    """Intersect the windows of all swapped variables.

    window : how far a value may have moved in rank, a share of the records that are not missing
    """

    window: float

    @property
    def knows(self) -> str:
        return f"that ranks were swapped over {percent(self.window)} of the records"

    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        reach = int(self.window * len(ranked) * (1 + 1e-12))  # as rank swapping itself counts
        lowest = np.searchsorted(ranked, known, "left") - reach
        highest = np.searchsorted(ranked, known, "right") - 1 + reach
        return ranked[np.clip(lowest, 0, len(ranked) - 1)], ranked[np.clip(highest, 0, len(ranked) - 1)]


@dataclass(frozen=True)
class SameRank(Bounds):
    """Take the records that can have the person's rank in every variable; equal values share their ranks."""

    @property
    def knows(self) -> str:
        return "that the order of the records was kept"

    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        order, last = np.sort(known), len(ranked) - 1
        lowest, highest = np.searchsorted(order, known, "left"), np.searchsorted(order, known, "right") - 1
        return ranked[np.minimum(lowest, last)], ranked[np.minimum(highest, last)]


@dataclass(frozen=True)
class RandomMultiple(Linkage):
    """Weigh each released multiple by the probability that the known value was rounded to it."""

    base: float

    kinds = (Kind.CONTINUOUS, Kind.INTEGER)

    @property
    def knows(self) -> str:
        return f"that values were rounded at random to a multiple of {self.base:g}"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        known, published = pairs.known(self.columns), pairs.published(self.columns)

        def of(rows: IntArray) -> FloatArray:
            logs = np.zeros((len(rows), len(published)))
            for value, multiple in zip(known[rows].T, published.T, strict=True):
                share = 1 - np.abs(value[:, None] - multiple) / self.base
                share[share < _ROUNDING] = 0
                share[np.isnan(value)[:, None] & np.isnan(multiple)] = 1
                with np.errstate(divide="ignore"):
                    logs += np.log(np.nan_to_num(share, nan=0.0))
            return logs

        return of


@dataclass(frozen=True)
class PublishedRanges(Linkage):
    """Intersect the ranges 'a to b' of numbers and ordered categories; groups of others are compared as learned.

    A narrow range that holds the value is likelier the own one than a wide one: it holds fewer people.
    """

    @property
    def knows(self) -> str:
        return "that each range holds the values of its cluster"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        ranged = [name for name in self.columns if pairs.variables[name].kind in RANKED]
        others = tuple(name for name in self.columns if name not in ranged)
        ends = [_ends(pairs, name) for name in ranged]
        learned = LearnedCloseness(others).likelihood(pairs) if others else None
        bounds = [(low, high, values, _rarity(low, high, values)) for low, high, values in ends]

        def of(rows: IntArray) -> FloatArray:
            logs = learned(rows) if learned else np.zeros((len(rows), len(pairs.masked)))
            for low, high, values, rarity in bounds:
                mine = values[rows][:, None]
                inside = np.where(np.isnan(mine), np.isnan(low), (low <= mine) & (mine <= high))
                logs += np.where(inside, rarity, -np.inf)
            return logs

        return of


def _ends(pairs: Pairs, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lowest and highest value of each released range, NaN where missing, and the known values."""
    column = pairs.original[name]
    if pairs.variables[name].kind is Kind.ORDINAL:
        place = {str(label): float(at) for at, label in enumerate(column.cat.categories)}
        values = column.cat.codes.to_numpy(np.float64)
        values[values < 0] = np.nan
        read: Callable[[str], float | None] = place.get
    else:
        values, read = column.to_numpy(np.float64, na_value=np.nan), _number
    released = pairs.masked[name].astype("category")
    ranges: FloatArray = np.array([*(_range(str(label), read) for label in released.cat.categories), (np.nan, np.nan)])
    low, high = ranges[codes_of(released)].T
    return low, high, np.asarray(values, np.float64)


def _range(text: str, read: Callable[[str], float | None]) -> tuple[float, float]:
    """The ends of 'a to b', 'a to under b', 'under b', 'a and over', or of one value; anything else hides no value."""
    words = text.split(" to ")  # which may be part of a category's name
    for parts in ((text, text), *((" to ".join(words[:at]), " to ".join(words[at:])) for at in range(1, len(words)))):
        low, high = read(parts[0]), read(parts[1])
        if low is not None and high is not None:
            return low, high
        limit = read(parts[1].removeprefix("under "))
        if limit is not None and (low is not None or parts[0] == parts[1]):
            return -np.inf if low is None else low, float(np.nextafter(limit, -np.inf))
    low = read(text.removesuffix(" and over"))
    return -np.inf if low is None else low, np.inf


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _rarity(low: FloatArray, high: FloatArray, values: FloatArray) -> FloatArray:
    """Minus the logarithm of the number of people whose values lie in each range."""
    ranked = np.sort(values[~np.isnan(values)])
    held = np.searchsorted(ranked, high, "right") - np.searchsorted(ranked, low, "left")
    return -np.log(np.maximum(np.where(np.isnan(low), np.isnan(values).sum(), held), 1))


@dataclass(frozen=True)
class NearestCentre(Linkage):
    """Take the nearest centre by the distance that formed the groups, numbers by their standard deviations.

    k : fewest records in a group
    """

    k: int

    kinds = RANKED

    @property
    def knows(self) -> str:
        return f"that groups of {self.k} and more similar records took one value each"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        known, published = pairs.known(self.columns), pairs.published(self.columns)
        deviations = np.nanstd(known, axis=0)
        scale = np.where(deviations > 0, deviations, 1.0)
        centres = np.nan_to_num(published / scale)
        points, gaps = np.nan_to_num(known / scale), np.isnan(published)
        own = ((points - centres) ** 2).sum(axis=1)
        spread = max(float(np.median(own)), 1e-12) / len(self.columns)  # of one variable within the groups

        def of(rows: IntArray) -> FloatArray:
            before = points[rows]
            squared = (before**2).sum(axis=1)[:, None] - 2 * before @ centres.T + (centres**2).sum(axis=1)
            if gaps.any():  # a missing value stays missing
                differ = np.isnan(known[rows]).astype(np.float64) @ (~gaps).T + (~np.isnan(known[rows])) @ gaps.T
                squared[differ > 0] = np.inf
            return np.asarray(-0.5 * squared / spread)

        return of


@dataclass(frozen=True)
class NearestGroups(Bounds):
    """Intersect the two or three groups of each variable that a value can be in."""

    @property
    def knows(self) -> str:
        return "that each of these was microaggregated by itself"

    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        below = np.searchsorted(ranked, known, "left") - 1
        above = np.searchsorted(ranked, known, "right")
        return ranked[np.clip(below, 0, len(ranked) - 1)], ranked[np.clip(above, 0, len(ranked) - 1)]
