"""Near values: which released values of a variable an intruder takes for a person's own, whatever their scale."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray

CodeArray = npt.NDArray[np.int32]
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class NearValues:
    """One variable of the records of a file, and of the people who are looked for in it.

    A category is near only itself, as is a missing value. A number is near numbers of about the same rank, each within
    its own file, so that no change of scale hides it; and near itself.

    codes  : (m,) of each record's value, in the order of the values where they are numbers
    equal  : (q,) the code of each person's value, -1 where no record has it
    ranks  : of each code but that of missing values, from 0 to 1; None for categories
    places : (q,) the rank of each person's value among the people, NaN where missing; None for categories
    """

    codes: CodeArray
    equal: CodeArray
    ranks: FloatArray | None = None
    places: FloatArray | None = None

    @classmethod
    def of(cls, file: Column, people: Column, population: Column) -> "NearValues":
        """file, people : numbers (NaN where missing) or texts; population : those among whom people have their ranks"""
        if not all(values.dtype.kind == "f" for values in (file, people, population)):
            both, _ = pd.factorize(np.concatenate([file, people]).astype(object), use_na_sentinel=False)
            return cls(both[: len(file)].astype(np.int32), both[len(file) :].astype(np.int32))
        values = np.append(np.unique(file[~np.isnan(file)]), np.nan)  # missing comes last
        codes = np.where(np.isnan(file), len(values) - 1, np.searchsorted(values[:-1], file))
        equal = np.where(np.isnan(people), len(values) - 1, np.searchsorted(values[:-1], people))
        equal = np.where((values[equal] == people) | np.isnan(people), equal, -1)
        ranks = _ranks(values[:-1], np.sort(file[~np.isnan(file)]))
        places = _ranks(people, np.sort(population[~np.isnan(population)]))
        return cls(codes.astype(np.int32), equal.astype(np.int32), ranks, places)

    def window(self, within: float) -> tuple[CodeArray, CodeArray]:
        """Of each person the first and the last code whose rank is as near as that; where there is none, 0 and -1."""
        first, last = np.zeros(len(self.equal), np.int32), np.full(len(self.equal), -1, np.int32)
        if self.ranks is not None and self.places is not None and within > 0:
            held = ~np.isnan(self.places)
            first[held] = np.searchsorted(self.ranks, self.places[held] - within, "left")
            last[held] = np.searchsorted(self.ranks, self.places[held] + within, "right") - 1
        return first, last


def _ranks(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """The share of the ordered values below each value, ties halved; NaN where it is missing."""
    below, at_most = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.where(np.isnan(values), np.nan, (below + at_most) / (2 * max(1, len(ordered))))
