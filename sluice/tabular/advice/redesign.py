"""Table redesign: which coarser table would need less suppression, and what it gives up.

Source: Hundepool and others (2012), section 4.4, table redesign. The order of the advice is this project's own: what a
change spares (sensitive cells, and sums that hold a single one, which each call for a second suppression) for each cell
that it gives up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from sluice.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Codes, Contributions, Integers, equations_of, keys_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import SensitivityRule

Tables = Sequence[Sequence[str]]

_LOOKED_AT = 40  # merges that are worked out to the end, of each dimension


@dataclass(frozen=True, eq=False)
class Coarsening:
    """One change of one dimension.

    axis      : which dimension
    says      : the change, in words
    dimension : after it
    of_cell   : shape (codes,), the new code of the cells of each old one, -1 where they go
    of_leaf   : shape (codes,), the new leaf of the records of each old leaf; -1 for other codes
    withheld  : whether the total of the dimension is kept from the public
    """

    axis: int
    says: str
    dimension: Dimension
    of_cell: Codes
    of_leaf: Codes
    withheld: bool = False


@dataclass(frozen=True, eq=False)
class Redesign:
    """What a change is worth; each pair is before and after.

    sensitive : sensitive cells
    single    : published sums with exactly one sensitive cell
    cells     : published cells
    """

    change: Coarsening
    sensitive: tuple[int, int]
    single: tuple[int, int]
    cells: tuple[int, int]

    @property
    def spared(self) -> int:
        """Sensitive cells, and sums with a single one, that go."""
        return self.sensitive[0] - self.sensitive[1] + self.single[0] - self.single[1]

    @property
    def given_up(self) -> int:
        """Published cells that go."""
        return self.cells[0] - self.cells[1]

    @property
    def says(self) -> str:
        """The advice in words."""
        return (
            f"{self.change.says}: {self.sensitive[0] - self.sensitive[1]} of {self.sensitive[0]} sensitive cells go, "
            f"and {self.single[0] - self.single[1]} of {self.single[0]} sums with a single one; {self.given_up} of "
            f"{self.cells[0]} cells fewer"
        )


def redesigns(
    cells: Cells, rules: Sequence[SensitivityRule], adjacent: bool = False, tables: Tables | None = None
) -> list[Redesign]:
    """Every change that spares something, the one first that spares most for each cell that it gives up.

    adjacent : merge only codes that stand beside each other, as with size classes
    tables   : the dimensions of each of several linked tables, as in `equations_of`
    cost     : O(cells) for each pair of siblings, and a new table for 40 merges and all other changes of each dimension
    """
    before = _figures(cells, rules)
    found = [
        Redesign(change, *((old, new) for old, new in zip(before, _figures(after, rules), strict=True)))
        for change in _changes(cells, rules, adjacent)
        for after in [coarser(cells, change, tables)]
        if len(after)
    ]
    useful = [redesign for redesign in found if redesign.spared > 0]
    return sorted(useful, key=lambda r: (-r.spared / max(r.given_up, 1), -r.spared, r.change.says))


def greedy_redesign(
    cells: Cells,
    rules: Sequence[SensitivityRule],
    steps: int,
    adjacent: bool = False,
    tables: Tables | None = None,
) -> tuple[list[Redesign], Cells]:
    """The best change, then the best of the table that this makes, and so on; and the last table.

    Ends early where nothing is sensitive or no change spares anything. Raises DataError for steps below 1.
    """
    if steps < 1:
        raise DataError(f"steps of a redesign must be 1 or more; got {steps}.")
    taken: list[Redesign] = []
    while len(taken) < steps:
        best = redesigns(cells, rules, adjacent, tables)
        if not best:
            break
        taken.append(best[0])
        cells = coarser(cells, best[0].change, tables)
    return taken, cells


def merge(cells: Cells, axis: int, codes: tuple[int, int]) -> Coarsening:
    """Put two codes, by position, into one. Raises DataError unless they are siblings in every grouping, and alike."""
    dimension = cells.dimensions[axis]
    one, other = sorted(codes)
    names = dimension.codes[one], dimension.codes[other]
    if (one, other) not in set(_siblings(dimension, adjacent=False)):
        raise DataError(f"'{names[0]}' and '{names[1]}' of '{dimension.name}' are no siblings that could be merged.")
    says = f"merge {dimension.name} {names[0]} and {names[1]}"
    alone = [group for group, parts in dimension.sums if set(parts) == {one, other}]
    into = alone[0] if alone else one
    parts = dict(dimension.sums)
    sums = [(group, tuple(part for part in parts if part != other)) for group, parts in dimension.sums]
    if alone:  # they are all of a group: its parts go, and it stands for them everywhere
        sums = [(g, tuple(into if part == one else part for part in p)) for g, p in sums if g != into]
    if one in parts:
        sums = [(g, p) for g, p in sums if g not in (one, other)] + [(into, parts[one] + parts[other])]
    gone = {other, one} if alone else {other}
    leaf = np.arange(len(dimension.codes))
    leaf[[one, other]] = into
    return _coarsening(
        dimension, axis, says, sums, gone, leaf, {} if alone else {one: "+".join(names)}, {} if alone else {other: one}
    )


def drop_groups(cells: Cells, axis: int, level: int) -> Coarsening:
    """Leave out the groups of a level, counted from the total as 0; what they hold stays, under the level above."""
    dimension = cells.dimensions[axis]
    parts_of = dict(dimension.sums)
    gone = {group for group in parts_of if group and dimension.depth[group] == level}
    if not gone:
        raise DataError(f"level {level} of '{dimension.name}' has no groups below the total.")

    def kept(parts: tuple[int, ...]) -> Iterator[int]:
        for part in parts:
            yield from kept(parts_of[part]) if part in gone else (part,)

    sums = [(group, tuple(kept(parts))) for group, parts in dimension.sums if group not in gone]
    says = f"drop the groups of level {level} of {dimension.name}"
    return _coarsening(dimension, axis, says, sums, gone, np.arange(len(dimension.codes)))


def end_at(cells: Cells, axis: int, level: int) -> Coarsening:
    """Leave out all codes below a level, counted from the total as 0. Raises DataError with several groupings."""
    dimension = cells.dimensions[axis]
    part_of = [part for _, parts in dimension.sums for part in parts]
    if len(part_of) > len(set(part_of)):
        raise DataError(f"'{dimension.name}' has several groupings of its leaves, so they cannot go.")
    gone = set(np.flatnonzero(dimension.depth > level).tolist())
    if not gone or level < 1:
        raise DataError(f"'{dimension.name}' cannot end at level {level}; its levels go to {dimension.depth.max()}.")
    above = {part: group for group, parts in dimension.sums for part in parts}
    leaf = np.arange(len(dimension.codes))
    for code in range(len(leaf)):
        while leaf[code] in gone:
            leaf[code] = above[int(leaf[code])]
    sums = [(group, parts) for group, parts in dimension.sums if not set(parts) & gone]
    return _coarsening(dimension, axis, f"end {dimension.name} at level {level}", sums, gone, leaf)


def withhold_total(cells: Cells, axis: int) -> Coarsening:
    """Keep the cells at the total of a dimension from the public; sensitive ones must be protected all the same."""
    dimension = cells.dimensions[axis]
    every = np.arange(len(dimension.codes), dtype=np.int32)
    return Coarsening(axis, f"do not publish the total of {dimension.name}", dimension, every, every, withheld=True)


def coarser(cells: Cells, change: Coarsening, tables: Tables | None = None) -> Cells:
    """The cells of the changed table.

    Exact where the cells that are put together list all their contributors; where lists are cut off, contributors are
    taken as few and the largest contributions as large as they may be, so that no sensitive cell passes for a safe one.
    With the records at hand, aggregate their leaves `change.of_leaf[leaves]` for exact figures.
    """
    moved = change.of_cell[cells.codes[:, change.axis]]
    if change.withheld:
        return replace(cells, published=cells.published & (cells.codes[:, change.axis] != 0))
    left = np.flatnonzero(moved >= 0)
    dimensions = (*cells.dimensions[: change.axis], change.dimension, *cells.dimensions[change.axis + 1 :])
    codes = cells.codes[left].copy()
    codes[:, change.axis] = moved[left]
    keys = keys_of(dimensions, codes)
    order = np.argsort(keys, kind="stable")
    new = np.r_[True, keys[order][1:] != keys[order][:-1]][: len(order)]
    first = left[order[new]]
    second = np.full(len(first), -1)
    second[np.cumsum(new)[~new] - 1] = left[order[~new]]
    both = second >= 0
    sizes = cells.total if cells.sizes is None else cells.sizes
    contributors, largest, owners = cells.contributors[first], cells.largest[first], cells.owners[first]
    contributors[both], largest[both], owners[both] = _together(cells, sizes, first[both], second[both])

    def added(values: Integers) -> Integers:
        return np.asarray(values[first] + np.where(both, values[second], 0))

    made = codes[order[new]]
    return Cells(
        dimensions=dimensions,
        codes=made,
        total=added(cells.total),
        contributors=contributors,
        largest=largest,
        owners=owners,
        equations=equations_of(dimensions, made, tables),
        published=cells.published[first] & (~both | cells.published[second]),
        decimals=cells.decimals,
        sizes=None if cells.sizes is None else added(cells.sizes),
    )


def _together(cells: Cells, sizes: Integers, one: Integers, other: Integers) -> tuple[Integers, Integers, Integers]:
    """Contributors, largest contributions and owners of unions of two cells; bounds where lists are cut off."""
    kept = cells.largest.shape[1]
    largest, owners = (cells.largest[one], cells.largest[other]), (cells.owners[one], cells.owners[other])
    there = tuple((o >= 0) | (x > 0) for o, x in zip(owners, largest, strict=True))
    tails = []
    for at, x in zip((one, other), largest, strict=True):
        cut = cells.contributors[at] > kept
        tails.append(np.where(cut, np.minimum(x[:, -1], np.maximum(sizes[at] - x.sum(axis=1), 0)), 0))
    same = (owners[0][:, :, None] == owners[1][:, None, :]) & (owners[0] >= 0)[:, :, None]
    twice = same.any(axis=2)
    first = largest[0] + np.where(twice, (same * largest[1][:, None, :]).sum(axis=2), tails[1][:, None])
    second = np.where(same.any(axis=1), 0, largest[1] + tails[0][:, None])
    unlisted = np.repeat((tails[0] + tails[1])[:, None], kept, axis=1)
    found = np.hstack([np.where(there[0], first, 0), np.where(there[1], second, 0), unlisted])
    whose = np.hstack([owners[0], np.where(same.any(axis=1), -1, owners[1]), np.full_like(owners[0], -1)])
    order = np.argsort(-found, axis=1, kind="stable")[:, :kept]
    most = np.minimum(np.take_along_axis(found, order, axis=1), (sizes[one] + sizes[other])[:, None])
    listed = there[0].sum(axis=1) + there[1].sum(axis=1) - twice.sum(axis=1)
    counts = np.maximum(cells.contributors[one], cells.contributors[other])
    named = np.where(most > 0, np.take_along_axis(whose, order, axis=1), -1)
    return np.maximum(counts, listed), most, named


def _changes(cells: Cells, rules: Sequence[SensitivityRule], adjacent: bool) -> Iterator[Coarsening]:
    sensitive = _sensitive(rules, cells.contributions)
    for axis, dimension in enumerate(cells.dimensions):
        several = len({p for _, parts in dimension.sums for p in parts}) < sum(len(p) for _, p in dimension.sums)
        pairs = []
        for pair in _siblings(dimension, adjacent):
            change = merge(cells, axis, pair)
            gone, lost = _quick(cells, rules, sensitive, change, pair)
            if gone > 0:
                pairs.append((-gone / max(lost, 1), pair, change))
        for _, _, change in sorted(pairs, key=lambda each: each[:2])[:_LOOKED_AT]:
            yield change
        groups = {int(dimension.depth[group]) for group, _ in dimension.sums if group}
        yield from (drop_groups(cells, axis, level) for level in sorted(groups - {0}))
        if not several:
            yield from (end_at(cells, axis, level) for level in range(1, int(dimension.depth.max())))
        yield withhold_total(cells, axis)


def _quick(
    cells: Cells, rules: Sequence[SensitivityRule], sensitive: Booleans, change: Coarsening, pair: tuple[int, int]
) -> tuple[int, int]:
    """How many sensitive cells and how many cells go with a merge."""
    at = [np.flatnonzero(cells.codes[:, change.axis] == code) for code in pair]
    before = sum(int(sensitive[cell].sum()) for cell in at)
    if change.of_cell[pair[0]] < 0:
        return before, len(at[0]) + len(at[1])
    others = np.delete(np.arange(len(cells.dimensions)), change.axis)
    dimensions = [cells.dimensions[axis] for axis in others] or [cells.dimensions[change.axis]]
    one, other = (keys_of(dimensions, cells.codes[cell][:, others]) if len(others) else cell * 0 for cell in at)
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    one, other = at[0][first], at[1][second]
    sizes = cells.total if cells.sizes is None else cells.sizes
    contributors, largest, _ = _together(cells, sizes, one, other)
    union = _sensitive(rules, Contributions(sizes[one] + sizes[other], contributors, largest))
    return int(sensitive[one].sum() + sensitive[other].sum() - union.sum()), len(one)


def _figures(cells: Cells, rules: Sequence[SensitivityRule]) -> tuple[int, int, int]:
    """Sensitive cells, published sums with a single one, published cells."""
    sensitive = _sensitive(rules, cells.contributions)
    inside = abs(cells.equations)
    single = (inside @ sensitive == 1) & (inside @ ~cells.published == 0)
    return int(sensitive.sum()), int(single.sum()), int(cells.published.sum())


def _sensitive(rules: Sequence[SensitivityRule], contributions: Contributions) -> Booleans:
    found = np.zeros(len(contributions.total), dtype=bool)
    for rule in rules:
        found |= rule.sensitive(contributions)
    return found


def _siblings(dimension: Dimension, adjacent: bool) -> list[tuple[int, int]]:
    """Pairs that may be merged: parts of the same groups, both leaves or both groups, and not all of the total."""
    groups = dict.fromkeys(group for group, _ in dimension.sums)
    within: dict[int, set[int]] = {}
    for number, (_, parts) in enumerate(dimension.sums):
        for part in parts:
            within.setdefault(part, set()).add(number)
    found: dict[tuple[int, int], None] = {}
    for group, parts in dimension.sums:
        if group == 0 and len(parts) == 2:
            continue
        for one, other in pairwise(parts) if adjacent else combinations(parts, 2):
            if within[one] == within[other] and (one in groups) == (other in groups):
                found[min(one, other), max(one, other)] = None
    return list(found)


def _coarsening(
    dimension: Dimension,
    axis: int,
    says: str,
    sums: list[tuple[int, tuple[int, ...]]],
    gone: set[int],
    leaf: Integers,
    renamed: dict[int, str] | None = None,
    merged: dict[int, int] | None = None,
) -> Coarsening:
    """The dimension without the codes that are gone, and where the others stand in it."""
    left = [code for code in range(len(dimension.codes)) if code not in gone]
    place = np.full(len(dimension.codes), -1, dtype=np.int32)
    place[left] = np.arange(len(left))
    codes = tuple((renamed or {}).get(code, dimension.codes[code]) for code in left)
    of_leaf = np.full(len(dimension.codes), -1, dtype=np.int32)
    of_leaf[dimension.leaves] = place[leaf[dimension.leaves]]
    new = tuple((int(place[group]), tuple(int(place[part]) for part in parts)) for group, parts in sums)
    for code, into in (merged or {}).items():
        place[code] = place[into]
    return Coarsening(axis, says, Dimension(dimension.name, codes, new), place, of_leaf)
