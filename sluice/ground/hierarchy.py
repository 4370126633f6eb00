"""A generalisation hierarchy: each leaf value with the ever wider groups that contain it.

The ARX form: one row a leaf, the leaf first, then level 1, level 2, ... Every row has the same number of levels, and
two leaves that share a group at one level share it at every wider level.

A taxonomy tree: how far apart the categories of a variable are, and the narrowest group that holds some of them.

Source: Xiong (CS573 slides), "Distance between two categorical values": two categories are as far apart as the
height of the subtree below their lowest common ancestor, divided by the height of the tree. Without a hierarchy the
tree is flat: all categories hang from the root, equal ones are at distance 0, different ones at 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from sluice.ground.arrays import IntArray
from sluice.ground.visible_text import Name

ROOT = "*"  # of a hierarchy whose widest groups are several


def _as_text(value: Any) -> Any:
    # As for the categories of a variable, which these must equal: 3 and 3.0 are both '3', YAML's yes is 'true'.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


Leaf = Annotated[Name, BeforeValidator(_as_text)]


class Hierarchy(BaseModel):
    """`rows[leaf] = (level 1, level 2, ...)`. Level 0 is the leaf itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: dict[Leaf, tuple[Leaf, ...]]

    @model_validator(mode="after")
    def _nested(self) -> Self:
        depths = {len(levels) for levels in self.rows.values()}
        if len(depths) != 1 or depths == {0}:
            raise ValueError(f"every leaf needs the same number of levels, at least 1; got {sorted(depths)}")
        for level in range(self.depth - 1):
            parent: dict[str, str] = {}
            for levels in self.rows.values():
                if (known := parent.setdefault(levels[level], levels[level + 1])) != levels[level + 1]:
                    raise ValueError(
                        f"a group of level {level + 1} lies in two groups of level {level + 2}: '{levels[level]}' in "
                        f"'{known}' and in '{levels[level + 1]}'"
                    )
        return self

    @property
    def depth(self) -> int:
        """Number of levels above the leaves."""
        return len(next(iter(self.rows.values())))

    def at_level(self, level: int) -> dict[str, str]:
        """Each leaf's group at `level` (0 is the leaf itself). Raises ValueError outside 0..depth."""
        if not 0 <= level <= self.depth:
            raise ValueError(f"level must be from 0 to {self.depth}; got {level}")
        return {leaf: leaf if level == 0 else levels[level - 1] for leaf, levels in self.rows.items()}

    def above(self, level: int) -> "Hierarchy | None":
        """What is left once `level` was released: its groups are the leaves. None at the top level.

        Raises ValueError outside 0..depth.
        """
        groups = self.at_level(level)
        if level == self.depth:
            return None
        return Hierarchy(rows={groups[leaf]: levels[level:] for leaf, levels in self.rows.items()})


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
