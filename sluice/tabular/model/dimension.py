"""A dimension of a table: its codes, and which code is the sum of which others.

A classification is a tree, from the total down to the leaves. Further groupings over the same leaves (tourist areas,
energy users) need not be nested in the first; each is a tree of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.ground.visible_text import one_line, unseen

Positions = NDArray[np.int32]
Rows = Iterable[tuple[str, str]]  # (code, parent); '' is the parent of the total

_SHOWN = 3  # codes that an error names

TOTAL = "Total"  # of a dimension of which nobody says what its total is called


@dataclass(frozen=True)
class Dimension:
    """The codes of one dimension and the sums between them, by position.

    codes : text, each once; the first is the total
    sums  : (group, its parts), of all groupings; each part lies in one group of a grouping
    """

    name: str
    codes: tuple[str, ...]
    sums: tuple[tuple[int, tuple[int, ...]], ...]

    @classmethod
    def flat(cls, name: str, leaves: Sequence[str], total: str = TOTAL) -> "Dimension":
        """A dimension without groups: a total and its parts."""
        return cls.of(name, [(total, ""), *((leaf, total) for leaf in leaves)])

    @classmethod
    def of(cls, name: str, rows: Rows, *others: Rows) -> "Dimension":
        """The dimension of a classification, given as (code, parent), and of further groupings of the same leaves.

        In a further grouping, a code whose parent is '' is an aggregate of its own, or the total again.

        raises : DataError for a code named twice, an orphan, a cycle, several totals, or a grouping with other leaves
        """
        first = _tree(name, rows)
        totals = [code for code, parent in first.items() if not parent]
        if len(totals) != 1:
            raise DataError(
                f"the hierarchy of '{name}' must have one total, a code without a parent; got {len(totals)}"
                f"{': ' + _some(totals) if totals else ''}"
            )
        if len(first) == 1:
            raise DataError(f"the hierarchy of '{name}' must have a code below its total; got the total alone")
        codes = [totals[0], *(code for code in first if code != totals[0])]
        leaves = first.keys() - set(first.values())
        sums = _sums(first)
        for number, other in enumerate(others, start=2):
            tree = _tree(f"{name}, grouping {number}", other)
            groups = set(tree.values()) - {""}
            strange = sorted(tree.keys() - groups - leaves)
            if strange:
                raise DataError(
                    f"grouping {number} of '{name}' must group the leaves of the first; not among them: "
                    f"{_some(strange)}.",
                    came=strange[0],
                    allowed=leaves,
                )
            taken = sorted(groups & (first.keys() - {totals[0]}))
            if taken:
                raise DataError(f"grouping {number} of '{name}' makes a group of a code of the first: {_some(taken)}")
            if totals[0] in groups and leaves - tree.keys():
                left = sorted(leaves - tree.keys())
                raise DataError(
                    f"grouping {number} of '{name}' leads to the total, so it must hold every leaf; it lacks "
                    f"{len(left)}: {_some(left)}"
                )
            codes += [code for code in tree if code not in codes]
            sums += _sums(tree)
        position = {code: index for index, code in enumerate(codes)}
        return cls(
            name, tuple(codes), tuple((position[group], tuple(position[p] for p in parts)) for group, parts in sums)
        )

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each code stands in `codes`."""
        return {code: index for index, code in enumerate(self.codes)}

    @cached_property
    def leaves(self) -> Positions:
        """Positions of the codes that are no sum, in rising order."""
        groups = {group for group, _ in self.sums}
        return np.array([index for index in range(len(self.codes)) if index not in groups], dtype=np.int32)

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Steps from the total, or from its own top for an aggregate that is not part of the total; shape (codes,)."""
        depth = np.zeros(len(self.codes), dtype=np.int32)
        waiting = [(group, 0) for group, _ in self.sums if not any(group in parts for _, parts in self.sums)]
        parts_of: dict[int, list[int]] = defaultdict(list)
        for group, parts in self.sums:
            parts_of[group] += parts
        seen: set[int] = set()
        for top, _ in waiting:
            stack = [(top, 0)]
            while stack:
                code, steps = stack.pop()
                if code not in seen or steps > depth[code]:
                    depth[code] = steps
                seen.add(code)
                stack += [(part, steps + 1) for part in parts_of[code]]
        return depth

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """Shape (codes,): 0 for the total alone, 1 or more for the others; see `depth`."""
        return np.maximum(self.depth, (np.arange(len(self.codes)) > 0).astype(np.int32))

    def held_at(self, level: int) -> Positions:
        """Shape (codes,): the code at most `level` steps below the total that holds each code; of a dimension whose
        codes are grouped in several ways, the total for level 0, and for the deepest the code itself."""
        if level == 0:
            return np.zeros(len(self.codes), dtype=np.int32)
        above = np.zeros(len(self.codes), dtype=np.int32)
        for group, parts in self.sums:
            above[list(parts)] = group
        held = np.arange(len(self.codes), dtype=np.int32)
        while (deeper := self.levels[held] > level).any():
            held[deeper] = above[held[deeper]]
        return held

    @cached_property
    def columns(self) -> tuple[Positions, ...]:
        """For leaves -> codes that hold them: each of shape (codes,), the code that holds a leaf, -1 where none does.

        Every code stands in exactly one column, so the sums over records of all columns are each code's sum.
        """
        above: dict[int, set[int]] = {int(leaf): {int(leaf)} for leaf in self.leaves}
        parents = defaultdict(list)
        for group, parts in self.sums:
            for part in parts:
                parents[part].append(group)
        for leaf, held in above.items():
            stack = [leaf]
            while stack:
                for group in parents[stack.pop()]:
                    if group not in held:
                        held.add(group)
                        stack.append(group)
        columns: list[Positions] = []
        leaves_of = defaultdict(list)
        for leaf, held in above.items():
            for code in held:
                leaves_of[code].append(leaf)
        for code in sorted(leaves_of, key=lambda code: (-len(leaves_of[code]), code)):
            leaves = leaves_of[code]
            column = next((column for column in columns if (column[leaves] < 0).all()), None)
            if column is None:
                column = np.full(len(self.codes), -1, dtype=np.int32)
                columns.append(column)
            column[leaves] = code
        return tuple(columns)


def _tree(name: str, rows: Rows) -> dict[str, str]:
    """code -> parent, in the order of the rows; refuses what is no forest."""
    given = [(code, parent) for code, parent in rows]
    for text in (name, *(code for code, _ in given)):
        if character := unseen(text, one_line=True):
            raise DataError(
                f"the hierarchy of '{one_line(name)}' holds {character}; names and codes are one line of "
                "characters that can be seen"
            )
    twice = [code for code, count in Counter(code for code, _ in given).items() if count > 1]
    if twice:
        raise DataError(f"the hierarchy of '{name}' names a code twice: {_some(twice)}")
    tree = dict(given)
    if "" in tree:
        raise DataError(f"the hierarchy of '{name}' has an empty code")
    orphans = sorted({parent for parent in tree.values() if parent and parent not in tree})
    if orphans:
        raise DataError(
            f"the hierarchy of '{name}' names a parent that has no row of its own: {_some(orphans)}.",
            came=orphans[0],
            allowed=tree,
        )
    for code in tree:
        seen = {code}
        while code := tree[code]:
            if code in seen:
                raise DataError(f"the hierarchy of '{name}' runs in a circle at {_some(sorted(seen))}")
            seen.add(code)
    return tree


def _sums(tree: dict[str, str]) -> list[tuple[str, list[str]]]:
    parts = defaultdict(list)
    for code, parent in tree.items():
        if parent:
            parts[parent].append(code)
    return list(parts.items())


def _some(codes: Sequence[str]) -> str:
    return ", ".join(f"'{code}'" for code in codes[:_SHOWN]) + (", ..." if len(codes) > _SHOWN else "")
