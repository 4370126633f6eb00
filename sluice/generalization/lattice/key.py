"""A key of the lattice: a quasi-identifier, and the group that holds each of its values at each level.

Sources: Samarati (2001), section 3, and LeFevre, DeWitt and Ramakrishnan (2005), section 2: full-domain generalisation
replaces all values of a key by their groups of one level, so that a transformation is a level for each key and all
transformations are a lattice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import ROOT, Hierarchy


@dataclass(frozen=True)
class Key:
    """One quasi-identifier.

    levels  : shape (depth + 1, leaves), the group of each leaf at each level, numbered from 0; row 0 is the leaves
              themselves, and the groups of a row are unions of those of the row before
    missing : the leaf that stands for a missing value, which is a group of its own at every level; None without one
    weight  : how much a loss on this key counts beside the others'; 0 or more
    raises  : DataError where the table is not of that form
    """

    name: str
    levels: IntArray
    missing: int | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.levels.ndim != 2 or not self.levels.size:
            raise DataError(f"'{self.name}': the levels must be a table of levels by leaves, neither of them 0.")
        if not 0 <= self.weight < np.inf:
            raise DataError(f"'{self.name}': the weight must be 0 or more and finite; got {self.weight:g}.")
        if not np.array_equal(self.levels[0], np.arange(self.levels.shape[1])):
            raise DataError(f"'{self.name}': level 0 must be the leaves, numbered from 0 in their order.")
        for level in range(1, len(self.levels)):
            pairs = np.unique(self.levels[level - 1 : level + 1], axis=1)
            if len(np.unique(pairs[0])) < pairs.shape[1]:
                raise DataError(f"'{self.name}': a group of level {level - 1} lies in two groups of level {level}.")
            if self.missing is not None and (self.levels[level] == self.levels[level, self.missing]).sum() > 1:
                raise DataError(
                    f"'{self.name}': a missing value must be a group of its own; at level {level} it is not."
                )

    @classmethod
    def of(
        cls,
        name: str,
        categories: Sequence[str],
        hierarchy: Hierarchy | None = None,
        missing: bool = False,
        weight: float = 1.0,
    ) -> "Key":
        """The key of a variable with these categories, whose codes are their positions.

        hierarchy : its levels; without one, a value stays as it is or is not told at all
        missing   : whether values may be missing; their code is the number of categories
        raises    : DataError if the hierarchy lacks a category; says how many
        """
        lacking = 0 if hierarchy is None else sum(category not in hierarchy.rows for category in categories)
        if hierarchy is not None and lacking:
            raise DataError(f"'{name}': the hierarchy lacks {lacking} of the {len(categories)} categories.")
        depth = 1 if hierarchy is None else hierarchy.depth
        rows = []
        for level in range(depth + 1):
            if level == 0:
                held_by = dict(zip(categories, categories, strict=True))
            else:
                held_by = dict.fromkeys(categories, ROOT) if hierarchy is None else hierarchy.at_level(level)
            number: dict[str, int] = {}
            row = [number.setdefault(held_by[category], len(number)) for category in categories]
            rows.append([*row, len(number)] if missing else row)
        return cls(name, np.array(rows, dtype=np.int64), len(categories) if missing else None, weight)

    @property
    def depth(self) -> int:
        """The highest level."""
        return len(self.levels) - 1

    @cached_property
    def leaves(self) -> tuple[IntArray, ...]:
        """For each level, how many leaves each of its groups holds."""
        return tuple(np.bincount(row) for row in self.levels)

    @property
    def values(self) -> int:
        """The number of leaves that are values: a missing one is none."""
        return int(self.levels.shape[1]) - (self.missing is not None)

    def step(self, now: int, then: int) -> IntArray:
        """Shape (groups at level now,), the group of level `then`, not below `now`, that holds each of them."""
        if (now, then) not in self._steps:
            step = np.zeros(int(self.levels[now].max()) + 1, dtype=np.int64)
            step[self.levels[now]] = self.levels[then]
            self._steps[now, then] = step
        return self._steps[now, then]

    @cached_property
    def _steps(self) -> dict[tuple[int, int], IntArray]:
        return {}
