"""Signed paths: within one dimension, the changes that move one code and keep every sum.

One unit more at a leaf, and at every code that holds it, with one unit less at another leaf and every code that holds
that, keeps all sums of the dimension, whatever its groupings. A product of one such path for each dimension keeps all
sums of the table: the 'box', which takes the hypercube of Giessing and Repsilber (2002) to hierarchies without treating
subtables in turn.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.dimension import Dimension

Codes = NDArray[np.int32]

_MOST_PATHS = 4096  # products of paths that are tried for one cell


@dataclass(frozen=True, eq=False)
class SignedPaths:
    """For each code of each dimension (numbered through all dimensions) its paths, and what lies near it.

    offset : shape (d,), the number of the first code of each dimension
    start  : shape (codes + 1,), the first path of each code
    at     : shape (paths + 1,), the first entry of each path
    code   : shape (entries,), codes of a path
    sign   : shape (entries,), +1 or -1; a path has +1 at its own code
    group  : shape (codes, g), groups within which a search for each code stays; -1 where there are fewer
    siblings : the same, closer by
    below  : shape (groups, codes), whether a group holds a code
    """

    offset: Codes
    start: Codes
    at: Codes
    code: Codes
    sign: NDArray[np.int8]
    group: Codes
    siblings: Codes
    below: NDArray[np.bool_]

    @classmethod
    def of(cls, dimensions: Sequence[Dimension]) -> "SignedPaths":
        """Paths between a code and those under its parent and grandparent; a few of them where there are many."""
        offset = np.cumsum([0, *(len(dimension.codes) for dimension in dimensions)])
        most = max(4, int(_MOST_PATHS ** (1 / len(dimensions))))
        paths: list[list[tuple[list[int], list[int]]]] = []
        groups: list[list[tuple[int, int]]] = []
        parents: list[list[tuple[int, int]]] = []
        trees = [_Tree(dimension) for dimension in dimensions]
        for number, (dimension, tree) in enumerate(zip(dimensions, trees, strict=True)):
            for code in range(len(dimension.codes)):
                paths.append(tree.paths(code, most))
                groups.append([(number, group) for group in tree.near(code)])
                parents.append([(number, group) for group in tree.parents[code] or [code]])
        used = sorted({group for several in (*groups, *parents) for group in several})
        below = np.zeros((len(used), offset[-1]), dtype=bool)
        for row, (number, group) in enumerate(used):
            below[row, offset[number] + np.array(sorted(trees[number].within(group)))] = True
        row_of = {group: row for row, group in enumerate(used)}

        def rows(of: list[list[tuple[int, int]]]) -> Codes:
            found = np.full((len(of), max(len(several) for several in of)), -1, dtype=np.int32)
            for code, several in enumerate(of):
                found[code, : len(several)] = [row_of[group] for group in several]
            return found

        flat = [path for several in paths for path in several]
        shift = np.repeat(offset[:-1], np.diff(offset))
        owner = [code for code, several in enumerate(paths) for _ in several]
        return cls(
            offset[:-1].astype(np.int32),
            np.cumsum([0, *map(len, paths)], dtype=np.int32),
            np.cumsum([0, *(len(path) for path, _ in flat)], dtype=np.int32),
            np.array(
                [shift[own] + c for own, (path, _) in zip(owner, flat, strict=True) for c in path], dtype=np.int32
            ),
            np.array([sign for _, signs in flat for sign in signs], dtype=np.int8),
            rows(groups),
            rows(parents),
            below,
        )


def codes_below(dimension: Dimension, group: int) -> set[int]:
    """The positions of a code and of all codes below it, in any grouping."""
    return _Tree(dimension).within(group)


class _Tree:
    """Parents, parts and leaves of the codes of a dimension, over all of its groupings."""

    def __init__(self, dimension: Dimension) -> None:
        self.parents: dict[int, list[int]] = defaultdict(list)
        self.parts: dict[int, list[int]] = defaultdict(list)
        for group, parts in dimension.sums:
            self.parts[group] += parts
            for part in parts:
                self.parents[part].append(group)
        self.above: dict[int, list[int]] = {}
        self.leaves: dict[int, list[int]] = defaultdict(list)
        for leaf in dimension.leaves.tolist():
            held, stack = {leaf}, [leaf]
            while stack:
                new = [group for group in self.parents[stack.pop()] if group not in held]
                held.update(new)
                stack += new
            self.above[leaf] = sorted(held)
            for code in self.above[leaf]:
                self.leaves[code].append(leaf)

    def near(self, code: int) -> list[int]:
        """The grandparents of a code, or the parents where there are none; the code itself at a top."""
        parents = self.parents[code] or [code]
        return sorted({grand for parent in parents for grand in (self.parents[parent] or [parent])})

    def within(self, group: int) -> set[int]:
        """The group and all codes that stand below it."""
        held, stack = {group}, [group]
        while stack:
            new = [part for part in self.parts[stack.pop()] if part not in held]
            held.update(new)
            stack += new
        return held

    def paths(self, code: int, most: int) -> list[tuple[list[int], list[int]]]:
        """Codes and signs of each path; a top has paths without a second leaf, its sum changes."""
        inside = self.leaves[code]
        if not self.parents[code]:
            return [(self.above[leaf], [1] * len(self.above[leaf])) for leaf in _spread(inside, most)]
        outside = sorted({leaf for group in self.near(code) for leaf in self.leaves[group]} - set(inside))
        across = max(1, min(len(inside), int(most**0.5), 1 + most // max(1, len(outside))))
        found = []
        for plus, minus in product(_spread(inside, across), _spread(outside, max(1, most // across))):
            gains, losses = set(self.above[plus]), set(self.above[minus])
            codes = sorted(gains ^ losses)
            if code in gains - losses:
                found.append((codes, [1 if c in gains else -1 for c in codes]))
        return sorted(found, key=lambda path: len(path[0]))


def _spread(codes: list[int], most: int) -> list[int]:
    """At most so many of them, evenly spread."""
    if len(codes) <= most:
        return codes
    return [codes[at * len(codes) // most] for at in range(most)]
