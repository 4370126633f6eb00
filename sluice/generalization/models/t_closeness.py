"""t-closeness of a generalised file: the sensitive values of each class are distributed much as in the file.

Source: Li, Li and Venkatasubramanian (2007), section 4: the earth mover's distance with the equal, the ordered and the
hierarchical ground distance. Distances are 0 to 1, and that of a class to the file is at most t.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Histogram
from sluice.generalization.models.privacy_model import ROUNDING, ReleasedFile
from sluice.generalization.models.sensitive_model import SensitiveModel, overall, shares
from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.taxonomy import taxonomy_of


@dataclass(frozen=True)
class _TCloseness(SensitiveModel):
    t: float

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise DataError(f"t of t-closeness must be from 0 to 1; got {self.t:g}.")

    compares = True
    monotone = True  # the distance is convex
    monotone_with_suppression = False  # one distribution that is near and one that is far may mix to one that is far

    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        return np.asarray(self.distances(histogram, file) > self.t + ROUNDING, dtype=np.bool_)

    @abstractmethod
    def distances(self, histogram: Histogram, file: ReleasedFile) -> FloatArray:
        """Shape (c,)."""

    ground = ""

    def describe(self) -> str:
        return f"t-closeness of '{self.sensitive}' ({self.ground} distance) with t = {self.t:g}"


@dataclass(frozen=True)
class EqualTCloseness(_TCloseness):
    """Every value is as far from every other: the total variation distance."""

    ground = "equal"

    def distances(self, histogram: Histogram, file: ReleasedFile) -> FloatArray:
        return histogram.sums(np.maximum(shares(histogram) - overall(histogram, file, self.sensitive), 0))


@dataclass(frozen=True)
class OrderedTCloseness(_TCloseness):
    """Values are as far apart as their ranks among the values that the file has; their codes are in order."""

    ground = "ordered"

    def distances(self, histogram: Histogram, file: ReleasedFile) -> FloatArray:
        q = file.overall(self.sensitive)
        occurs = q > 0
        m = int(occurs.sum())
        if m < 2:
            return np.zeros(len(histogram.start) - 1)
        whole = np.cumsum(q)
        # The area between the two cumulative distributions, from each value of a class up to its next: the class's is
        # constant there, and the file's rises through it once. `up_to` is over the values that occur alone.
        area = np.concatenate([[0.0], np.cumsum(np.where(occurs, whole, 0.0))])
        ranks = np.concatenate([[0], np.cumsum(occurs)])
        first = histogram.start[histogram.holder] == np.arange(len(histogram.holder))
        last = np.append(first[1:], True)[: len(first)]
        added = np.cumsum(histogram.records)
        before = np.concatenate([[0], added])[histogram.start[histogram.holder]]
        level = (added - before) / histogram.sizes[histogram.holder]
        start, stop = histogram.value, np.where(last, len(q), np.append(histogram.value[1:], 0)[: len(first)])
        cross = np.clip(np.searchsorted(whole, level), start, stop)
        gap = level * (ranks[cross] - ranks[start]) - (area[cross] - area[start])
        gap += (area[stop] - area[cross]) - level * (ranks[stop] - ranks[cross])
        return np.asarray(histogram.sums(gap + np.where(first, area[start], 0.0)) / (m - 1), dtype=np.float64)


@dataclass(frozen=True)
class HierarchicalTCloseness(_TCloseness):
    """Two values are as far apart as the lowest level at which one group holds both, relative to the root's.

    levels : for each level from the values themselves (0) up to below the root, the group that holds each value; nested

    The distance is the mean over the levels of the total variation distance between groups.
    """

    levels: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.levels or not self.levels[0]:
            raise DataError("the hierarchical distance needs at least one level below the root; got none.")

    @classmethod
    def of(cls, sensitive: str, t: float, categories: Sequence[str], hierarchy: Hierarchy) -> "HierarchicalTCloseness":
        """By a hierarchy of the column's categories, whose codes are their positions.

        raises : DataError if the hierarchy lacks a category
        """
        try:
            nodes = taxonomy_of(categories, hierarchy).nodes
        except ValueError as error:
            raise DataError(f"'{sensitive}': {error}.") from None
        return cls(sensitive, t, tuple(map(tuple, nodes.T.tolist())))

    ground = "hierarchical"

    def distances(self, histogram: Histogram, file: ReleasedFile) -> FloatArray:
        q, p = file.overall(self.sensitive), shares(histogram)
        distance = np.zeros(len(histogram.start) - 1)
        for level in map(np.array, self.levels):
            groups = int(level.max()) + 1
            whole = np.bincount(level[: len(q)], q, groups)
            cells, cell = np.unique(histogram.holder * groups + level[histogram.value], return_inverse=True)
            held = np.bincount(cell, p, len(cells))
            holder, group = np.divmod(cells, groups)
            distance += np.bincount(holder, np.maximum(held - whole[group], 0), len(distance))
        return distance / len(self.levels)
