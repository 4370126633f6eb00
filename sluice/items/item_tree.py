"""An item tree: which items each group of items stands for.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 4.1: a hierarchy over the items, and the normalised certainty
penalty (NCP) of a generalised item, the share of all items that it stands for; 0 of an item as it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy


@dataclass(frozen=True)
class ItemTree:
    """The items, which come first, and the groups above them.

    names  : of the items in their order, then of the groups from the narrowest level on
    items  : how many of the names are items
    parent : shape (names,), the next wider group; -1 at the top
    chains : shape (items, levels), the group that holds each item at level 0 (itself), 1, ...
    """

    names: tuple[str, ...]
    items: int
    parent: IntArray
    chains: IntArray

    @classmethod
    def of(cls, items: Iterable[str], hierarchy: Hierarchy | None) -> "ItemTree":
        """The tree over some items; without a hierarchy it has no groups.

        raises : ValueError if the hierarchy lacks an item, or if one name stands for different items at two places
        """
        leaves = sorted(items)
        rows = dict.fromkeys(leaves, ()) if hierarchy is None else hierarchy.rows
        lacking = sum(leaf not in rows for leaf in leaves)
        if lacking:
            raise ValueError(f"the hierarchy lacks {lacking:,} of the {len(leaves):,} items")
        place = {leaf: code for code, leaf in enumerate(leaves)}
        depth = len(next(iter(rows.values()), ()))
        chains = np.zeros((len(leaves), depth + 1), dtype=np.int64)
        chains[:, 0] = np.arange(len(leaves))
        for level in range(depth):
            for code, leaf in enumerate(leaves):
                chains[code, level + 1] = place.setdefault(rows[leaf][level], len(place))
        parent = np.full(len(place), -1, dtype=np.int64)
        of: dict[int, set[int]] = {code: {code} for code in range(len(leaves))}
        for level in range(1, depth + 1):
            holds: dict[int, set[int]] = {}
            for code in range(len(leaves)):
                holds.setdefault(int(chains[code, level]), set()).add(code)
            if any(of.setdefault(group, held) != held for group, held in holds.items()):
                raise ValueError("one name of the hierarchy stands for different items at two places")
            narrower, wider = chains[:, level - 1], chains[:, level]
            parent[narrower[narrower != wider]] = wider[narrower != wider]
        return cls(tuple(place), len(leaves), parent, chains)

    @cached_property
    def sizes(self) -> IntArray:
        """How many items each name stands for, shape (names,)."""
        stands = np.unique(
            np.column_stack([self.chains.ravel(), np.repeat(np.arange(self.items), self.depth + 1)]), axis=0
        )
        return np.bincount(stands[:, 0], minlength=len(self.names))

    @property
    def depth(self) -> int:
        return int(self.chains.shape[1]) - 1

    @cached_property
    def penalty(self) -> FloatArray:
        """NCP of each name, shape (names,): 0 of an item, 1 of a group that stands for all."""
        sizes = self.sizes
        return np.where(sizes > 1, sizes / max(self.items, 1), 0.0)

    def leaves(self, name: int) -> IntArray:
        """The items that a name stands for, rising."""
        return np.flatnonzero((self.chains == name).any(axis=1))

    def places(self, names: Iterable[str]) -> IntArray:
        """Position of each name. Raises DataError, with a count, where one is neither item nor group."""
        place = {name: code for code, name in enumerate(self.names)}
        found = np.array([place.get(name, -1) for name in names], dtype=np.int64)
        if unknown := int((found < 0).sum()):
            raise DataError(f"{unknown:,} of {len(found):,} items are neither declared nor a group of the hierarchy")
        return found
