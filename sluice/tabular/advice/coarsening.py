"""Coarser tables: one change of one dimension, and the cells of the table that it makes.

Source: Hundepool and others (2012), section 4.4, table redesign.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells, Codes, Integers, OwnParts, equations_of, keys_of
from sluice.tabular.model.dimension import Dimension

Tables = Sequence[Sequence[str]]


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


def merge(cells: Cells, axis: int, codes: tuple[int, int]) -> Coarsening:
    """Put two codes, by position, into one. Raises DataError unless they are siblings in every grouping, and alike."""
    dimension = cells.dimensions[axis]
    one, other = sorted(codes)
    names = dimension.codes[one], dimension.codes[other]
    if (one, other) not in set(siblings(dimension, ordered=False)):
        raise DataError(f"'{names[0]}' and '{names[1]}' of '{dimension.name}' are not siblings that could be merged.")
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

    def united(seen: Cells) -> OwnParts:
        parts = OwnParts(seen.contributors[first], seen.largest[first], seen.owners[first])
        for part, of_pairs in zip(parts, united_pairs(seen, sizes, first[both], second[both]), strict=True):
            part[both] = of_pairs
        return parts

    def added(values: Integers) -> Integers:
        return np.asarray(values[first] + np.where(both, values[second], 0))

    made = codes[order[new]]
    return Cells(
        dimensions=dimensions,
        codes=made,
        total=added(cells.total),
        **united(cells)._asdict(),
        equations=equations_of(dimensions, made, tables),
        published=cells.published[first] & (~both | cells.published[second]),
        decimals=cells.decimals,
        sizes=None if cells.sizes is None else added(cells.sizes),
        weighted=None if cells.weighted is None else united(cells.to_contributors),
    )


def united_pairs(cells: Cells, sizes: Integers, one: Integers, other: Integers) -> tuple[Integers, Integers, Integers]:
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


def siblings(dimension: Dimension, ordered: bool) -> list[tuple[int, int]]:
    """Pairs that may be merged: parts of the same groups, both leaves or both groups, and not all of the total.

    ordered : only neighbours, as with size classes
    """
    groups = dict.fromkeys(group for group, _ in dimension.sums)
    within: dict[int, set[int]] = {}
    for number, (_, parts) in enumerate(dimension.sums):
        for part in parts:
            within.setdefault(part, set()).add(number)
    found: dict[tuple[int, int], None] = {}
    for group, parts in dimension.sums:
        if group == 0 and len(parts) == 2:
            continue
        for one, other in pairwise(parts) if ordered else combinations(parts, 2):
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
