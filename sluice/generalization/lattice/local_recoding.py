"""Local recoding: after the best levels for all records, finer levels for the groups of look-alikes that can bear them.

Each class of the solution is a region: the records that show its groups, at its levels. A region is parted by one key
one level finer as long as every part satisfies all models; of several such keys it is the one by which most loss is
saved. Regions are nested and never overlap, so that equal combinations of values are released at equal levels.

Sources: Fung, Wang and Yu (2005), for going down the hierarchies as long as all parts remain anonymous, by the choice
that is best at the moment; Xu, Wang, Pei, Wang, Shi and Fu (2006), for doing so in each group by itself. Differs from
both: it starts from the best levels for all records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, bottom
from sluice.generalization.lattice.node_suppression import Solution
from sluice.generalization.objectives.key_losses import KeyLosses
from sluice.generalization.objectives.objective import Objective
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.equivalence_classes import Codes, equivalence_classes
from sluice.risk.classes.privacy_model import NO_CLASS, PrivacyModel, ReleasedFile, Suppressed

WHOLE = -1  # in place of a key: the region is not parted
NO_REGION = -1

_HIDDEN, _OTHERS = -2, -1  # in place of a part: suppressed records, and those whose region is parted no further
_TIE = 1e-9  # savings that differ by less, relative to the larger one, are the same: sums in another order differ so


@dataclass(frozen=True, eq=False)
class LocalRecoding:
    """A tree of regions: first those of the solution, then, after every region, its parts.

    start   : shape (p,), the levels of the solution
    roots   : shape (r, p), the groups that the solution's regions show at these levels; they are regions 0 to r - 1
    parent  : shape (regions,), the region that each is a part of; NO_REGION for a root
    group   : shape (regions,), the group that tells a part from its siblings, of the key by which its parent is parted
    by      : shape (regions,), the key by which each is parted, one level finer; WHOLE for one that is not
    levels  : shape (regions, p), the level of each key
    breaks  : shape (regions, p), which of the models, by position, a part would break if the region were parted by the
              key; -1 where none would, or the key is at level 0. A region that is not parted has one for every key that
              is above level 0: that no further refinement is possible
    value   : the loss after it
    """

    start: IntArray
    roots: IntArray
    parent: IntArray
    group: IntArray
    by: IntArray
    levels: IntArray
    breaks: IntArray
    value: float

    def region(self, keys: Sequence[Key], codes: Sequence[Codes]) -> IntArray:
        """Shape (n,), the last region on each record's way down; NO_REGION for one in no region of the solution.

        keys, codes : as those that were searched. A record whose values occurred in no part of a region stays there
        cost        : O(n p) for each level of the tree
        """
        at = self._root([key.levels[level][code] for key, level, code in zip(keys, self.start, codes, strict=True)])
        going = np.flatnonzero(at != NO_REGION)
        while len(going):
            here = at[going]
            group = np.full(len(going), -1)
            for number, key in enumerate(keys):
                mine = self.by[here] == number
                group[mine] = key.levels[self.levels[here[mine], number] - 1, codes[number][going[mine]]]
            cell = here * self._width + group
            found = np.minimum(np.searchsorted(self._cells, cell), len(self._cells) - 1) if len(self._cells) else here
            inside = (group >= 0) & (self._cells[found] == cell if len(self._cells) else False)
            going = going[inside]
            at[going] = len(self.roots) + found[inside]
        return at

    def levels_of(self, region: IntArray) -> IntArray:
        """Shape (n, p), the levels of some regions; those of the solution where there is none."""
        return np.vstack([self.levels, self.start])[region]

    def _root(self, groups: Sequence[IntArray]) -> IntArray:
        label = equivalence_classes(
            [np.concatenate([root, group]) for root, group in zip(self.roots.T, groups, strict=True)]
        ).labels
        count = len(self.roots)
        of_label = np.full(int(label.max(initial=0)) + 1, NO_REGION)
        of_label[label[:count]] = np.arange(count)
        return of_label[label[count:]]

    @cached_property
    def _width(self) -> int:
        return int(self.group.max(initial=0)) + 1

    @cached_property
    def _cells(self) -> IntArray:
        """Of all parts, in rising order: a region is parted at once, and before any region that comes after it."""
        parts = slice(len(self.roots), None)
        return np.asarray(self.parent[parts] * self._width + self.group[parts], dtype=np.int64)


def local_recoding(
    keys: Sequence[Key],
    codes: Sequence[Codes],
    models: Sequence[PrivacyModel],
    objective: Objective,
    solution: Solution,
    *,
    sensitive: Mapping[str, Codes] | None = None,
    people: IntArray | None = None,
    suppressed: Suppressed = "released",
) -> LocalRecoding:
    """The solution's classes, parted as long as all models hold. Records that it suppresses stay suppressed.

    keys, codes, models, objective, sensitive, people, suppressed : those of the search that found the solution
    raises : DataError for a model that is not on classes alone, or an objective that is not key by key
    cost   : O(distinct combinations) for each key and each level between the deepest region and the solution
    """
    for model in models:
        if not model.on_classes:
            raise DataError(
                f"local recoding needs models that judge each class by its records; {model.describe()} does not."
            )
    base, member = bottom(keys, codes, dict(sensitive or {}), people=people)
    measure = objective.of(base)
    if not isinstance(measure, KeyLosses):
        raise DataError(f"local recoding needs an objective key by key, such as loss; got {objective.describe()}.")
    node, into = base.at(solution.levels)
    kept = np.ones(len(node.sizes), dtype=np.bool_)
    kept[into[member[solution.suppressed_records]]] = False
    hidden = ~kept[into]
    number = np.where(kept, np.cumsum(kept) - 1, NO_REGION)
    shown = np.column_stack([node.shown(at) for at in range(len(keys))])[kept]
    parting = _Parting(base, models, measure, suppressed, number[into], np.asarray(solution.levels, dtype=np.int64))
    parting.run(len(shown))
    extra = measure.extra(node, ~kept) if hidden.any() else measure.nothing
    lost = tuple(more - saved for more, saved in zip(extra, parting.saved, strict=True))
    return LocalRecoding(
        start=np.asarray(solution.levels, dtype=np.int64),
        roots=shown,
        value=measure.least(solution.levels, None, lost),
        **parting.tree(),
    )


class _Parting:
    """Round by round all regions of the round before are parted together, those that can be.

    saved : for each key, by how much its loss has fallen
    """

    def __init__(
        self,
        base: Node,
        models: Sequence[PrivacyModel],
        measure: KeyLosses,
        suppressed: Suppressed,
        region: IntArray,
        start: IntArray,
    ) -> None:
        """region : shape (c,), the root of each class of `base`, NO_REGION where it is suppressed"""
        self._base, self._models, self._suppressed = base, models, suppressed
        self._leaves = [base.shown(at) for at in range(len(base.keys))]
        self._spared = [measure.spared(at) for at in range(len(base.keys))]
        self._weights = np.array([key.weight for key in base.keys])
        self._region, self._start = region.astype(np.int64), start
        self.saved = np.zeros(len(base.keys))
        self._rounds: list[dict[str, IntArray]] = []

    def run(self, roots: int) -> None:
        none = np.full(roots, NO_REGION)
        parent, group, levels = none, none, np.tile(self._start, (roots, 1))
        first = 0  # the number of the round's first region
        while not self._rounds or len(parent):
            by, breaks, saved = self._choice(first, levels)
            self._rounds.append({"parent": parent, "group": group, "levels": levels, "by": by, "breaks": breaks})
            self.saved += saved
            parent, group, levels = self._part(first, levels, by)
            first += len(by)

    def tree(self) -> dict[str, Any]:
        return {name: np.concatenate([each[name] for each in self._rounds]) for name in self._rounds[0]}

    def _choice(self, first: int, levels: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """For each region of the round the key by which it is parted and the models that other keys break; and what is
        saved by it of each key's loss."""
        count, keys = levels.shape
        breaks = np.full((count, keys), -1)
        gains = np.full((count, keys), -np.inf)
        those = np.flatnonzero(self._region >= first)
        for key in range(keys):
            finer = those[levels[self._region[those] - first, key] > 0]
            if not len(finer):
                continue
            at = self._region[finer] - first
            breaks[:, key] = self._broken(finer, at, self._groups(finer, key, levels[at, key] - 1), count)
            leaf, level = self._leaves[key][finer], levels[at, key]
            less = self._spared[key][level - 1, leaf] - self._spared[key][level, leaf]
            able = (levels[:, key] > 0) & (breaks[:, key] < 0)
            gains[able, key] = np.bincount(at, less * self._base.sizes[finer], count)[able]
        weighted = gains * np.where(self._weights > 0, self._weights, 1.0)
        weighted[:, self._weights == 0] = np.minimum(weighted[:, self._weights == 0], 0.0)
        most = weighted.max(axis=1, initial=-np.inf)
        able = np.isfinite(most)
        close = weighted >= np.where(able, most - _TIE * np.abs(most), 0.0)[:, None]
        by = np.where(able, close.argmax(axis=1), WHOLE)
        rows = np.flatnonzero(able)
        saved = np.bincount(by[rows], gains[rows, by[rows]], keys)
        return by.astype(np.int64), breaks, saved.astype(np.float64)

    def _part(self, first: int, levels: IntArray, by: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Of the parts of the round's regions: the region that each is part of, its group and its levels."""
        moving = np.flatnonzero(self._region >= first)
        moving = moving[by[self._region[moving] - first] != WHOLE]
        at = self._region[moving] - first
        group = np.zeros(len(moving), dtype=np.int64)
        for key in range(levels.shape[1]):
            mine = by[at] == key
            group[mine] = self._groups(moving[mine], key, levels[at[mine], key] - 1)
        width = int(group.max(initial=0)) + 1
        cells, part = np.unique(at * width + group, return_inverse=True)
        self._region[moving] = first + len(by) + part
        parent, group = np.divmod(cells, width)
        finer = levels[parent]
        finer[np.arange(len(parent)), by[parent]] -= 1
        return parent + first, group, finer

    def _groups(self, classes: IntArray, key: int, levels: IntArray) -> IntArray:
        return np.asarray(self._base.keys[key].levels[levels, self._leaves[key][classes]], dtype=np.int64)

    def _broken(self, classes: IntArray, at: IntArray, group: IntArray, count: int) -> IntArray:
        """Shape (count,), the first model that a part of each region breaks, -1 for none.

        classes   : those of `base` that are parted; at : the region of each in its round; group : which part it is in
        """
        width = int(group.max()) + 1
        cell = np.where(self._region == NO_REGION, _HIDDEN, _OTHERS)
        cell[classes] = at * width + group
        cells, into = np.unique(cell, return_inverse=True)
        file = ReleasedFile(_united(self._base, into, len(cells)), cells != _HIDDEN, self._suppressed)
        part = cells >= 0
        broken = np.full(count, -1)
        for number in reversed(range(len(self._models))):
            broken[cells[self._models[number].failing(file) & part] // width] = number
        return broken


def _united(base: Node, into: IntArray, classes: int) -> Node:
    """The classes of `base` united at levels of their own, with what models on classes look at."""
    nothing = np.zeros((classes, 0), dtype=np.uint64)
    return replace(base, words=nothing, population=None, unknown=NO_CLASS).united(into, classes)


def shares_by_level(levels: IntArray, kept: BoolArray, depth: int) -> tuple[float, ...]:
    """The share of the kept records at each level of a key, from 0 to `depth`. All 0 where none is kept."""
    counts = np.bincount(levels[kept], minlength=depth + 1)
    return tuple((counts / max(int(kept.sum()), 1)).tolist())
