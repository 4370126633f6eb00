"""The attack on released ranges: a record can only be somebody's whose values lie within all its ranges."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.categories import codes_of
from sluice.ground.variables import Kind
from sluice.risk.transparency.learned_closeness import LearnedCloseness
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import RANKED, Pairs


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
