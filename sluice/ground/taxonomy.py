"""A taxonomy tree: how far apart the categories of a variable are, and the narrowest group that holds some of them.

Source: Xiong (CS573 slides), "Distance between two categorical values": two categories are as far apart as the
height of the subtree below their lowest common ancestor, divided by the height of the tree. Without a hierarchy the
tree is flat: all categories hang from the root, equal ones are at distance 0, different ones at 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import IntArray
from sluice.ground.hierarchy import Hierarchy

ROOT = "*"  # of a hierarchy whose widest groups are several


@dataclass(frozen=True)
class Taxonomy:
    """The nodes above each category, level by level.

    nodes : shape (categories, height), the node that holds the category at level 0 (itself), 1, ..., below the root;
            numbered from 0 at each level so that neighbours in the tree have neighbouring numbers
    names : for each level, from 0 up to the root, the name of the node that holds each category
    """

    nodes: IntArray
    names: tuple[tuple[str, ...], ...]

    @property
    def height(self) -> int:
        """Number of levels from a category to the root, at least 1."""
        return int(self.nodes.shape[1])

    def distance(self, one: int, other: int) -> float:
        """Between two categories, by position: 0 if they are the same, 1 if only the root holds both."""
        return float((self.nodes[one] != self.nodes[other]).sum()) / self.height


def taxonomy_of(categories: Sequence[str], hierarchy: Hierarchy | None) -> Taxonomy:
    """The tree over `categories`, in their order. The root is the lowest level at which all lie in one group.

    raises : ValueError when the hierarchy lacks a category; the text says how many
    """
    levels = [dict(zip(categories, categories, strict=True))]
    if hierarchy is not None:
        lacking = sum(category not in hierarchy.rows for category in categories)
        if lacking:
            raise ValueError(f"the hierarchy lacks {lacking} of the {len(categories)} categories")
        for level in range(1, hierarchy.depth + 1):
            levels.append(hierarchy.at_level(level))
            if len(set(levels[-1].values())) == 1:
                break
    if len(levels) == 1 or len(set(levels[-1].values())) > 1:
        levels.append(dict.fromkeys(categories, ROOT))
    names = tuple(tuple(level[category] for category in categories) for level in levels)
    below = names[:-1]
    in_tree_order = sorted(range(len(categories)), key=lambda leaf: [*(level[leaf] for level in below[:0:-1]), leaf])
    nodes = np.zeros((len(categories), len(below)), dtype=np.int64)
    for level, held_by in enumerate(below):
        number: dict[str, int] = {}
        for leaf in in_tree_order:
            nodes[leaf, level] = number.setdefault(held_by[leaf], len(number))
    return Taxonomy(nodes, names)
