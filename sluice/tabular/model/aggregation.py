"""From records to the cells of a table.

What a cell needs of its contributors (their number, their sum, the largest few) adds up over cells that share none. So
contributors who have records in one cell of the lowest level only, the great majority, are summed there once, and their
sums are added up level by level; the others' records are gone through again for each combination of levels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sluice.errors import DataError, did_you_mean
from sluice.tabular.model.cells import (
    Booleans,
    Cells,
    Codes,
    Integers,
    Table,
    equations_of,
    in_tables,
    keys_of,
    levels_of,
)
from sluice.tabular.model.dimension import Dimension, Positions

LARGEST_KEPT = 5  # the rules that people use look at three

Levels = tuple[Positions, ...]  # for each dimension, the code that holds each leaf; see `Dimension.columns`


@dataclass(frozen=True, eq=False)
class Contributed:
    """Who contributes what to which cell: n pairs of a cell and a contributor, each once.

    cell   : shape (n,), its key; see `keys_of`
    owner  : shape (n,), the contributor, as a number of 0 or more
    share  : shape (n,), its part of the total, weighted if the table is
    value  : shape (n,), the same without weight; its size is what the rules compare
    weight : shape (n,), for how many contributors it counts, in units of `CellSums.unit`; None: each for one
    """

    cell: Integers
    owner: Integers
    share: Integers
    value: Integers
    weight: Integers | None = None

    def __len__(self) -> int:
        return len(self.cell)


@dataclass(frozen=True, eq=False)
class CellSums:
    """What m cells have, in a form that adds up over cells that share no contributor.

    cell         : shape (m,), keys in rising order
    total        : shape (m,); `sizes` without signs
    contributors : shape (m,), in units of weight
    size, owner  : shape (m, t), the largest sizes in falling order and whose they are; -1 where there are fewer
    weight       : shape (m, t); None: 1 each
    """

    cell: Integers
    total: Integers
    sizes: Integers
    contributors: Integers
    size: Integers
    owner: Integers
    weight: Integers | None = None

    def moved(self, cell: Integers, inside: Booleans) -> "CellSums":
        """The sums of the cells inside, as parts of other cells."""
        return CellSums(
            cell[inside],
            self.total[inside],
            self.sizes[inside],
            self.contributors[inside],
            self.size[inside],
            self.owner[inside],
            None if self.weight is None else self.weight[inside],
        )


def aggregate(
    dimensions: Sequence[Dimension],
    leaves: Codes,
    contributor: Integers,
    value: Integers,
    kept: int = LARGEST_KEPT,
    *,
    weighted: Integers | None = None,
    weight: Integers | None = None,
    unit: int = 1,
    tables: Sequence[Table] | None = None,
    withheld: Mapping[str, Sequence[str | int]] | None = None,
    decimals: int = 0,
) -> Cells:
    """Every non-empty cell of the tables, with its total, contributors and largest contributions.

    leaves      : shape (n, d), the position of each record's leaf in each dimension
    contributor : shape (n,), whose record it is, as a number of 0 or more; records of one contributor add up
    value       : shape (n,), whole numbers in units of the last decimal
    kept        : how many of the largest contributions of a cell are kept
    weighted    : shape (n,), the record's part of the totals where that is not `value`
    weight      : shape (n,), for how many contributors a record counts, in units of 1 / `unit`; 1 each when not given
    tables      : see `Table`; one table of all dimensions when not given
    withheld    : per dimension the codes, or levels counted from the total as 0, that are not published
    decimals    : of the values
    raises      : DataError for a dimension, code or level that there is not, or totals that are too large
    cost        : O(n log n), and for each combination of levels O(m log m) of m: the cells of the lowest level, and the
                  records of contributors who are in several of these
    """
    if np.abs(value if weighted is None else weighted).sum(dtype=np.float64) >= 2**62:
        raise DataError("the totals are too large for whole numbers of 64 bits; give fewer decimals.")
    lowest = _contributed(keys_of(dimensions, leaves), contributor, value, weighted, weight)
    owners, cells_of = np.unique(lowest.owner, return_counts=True)
    several = cells_of[np.searchsorted(owners, lowest.owner)] > 1
    once, again = _chosen(lowest, ~several), _chosen(lowest, several)
    codes = codes_of(dimensions, again.cell)

    def sums_of_several(levels: Levels) -> CellSums:
        cell, inside = cells_at(dimensions, codes, levels)
        weight = None if again.weight is None else again.weight[inside]
        moved = _contributed(cell[inside], again.owner[inside], again.value[inside], again.share[inside], weight)
        return cell_sums(moved, kept, unit)

    return cells_from(
        dimensions,
        cell_sums(once, kept, unit),
        sums_of_several,
        unit,
        tables=tables,
        withheld=withheld,
        decimals=decimals,
    )


def cells_from(
    dimensions: Sequence[Dimension],
    once: CellSums,
    several: Callable[[Levels], CellSums],
    unit: int = 1,
    *,
    tables: Sequence[Table] | None = None,
    withheld: Mapping[str, Sequence[str | int]] | None = None,
    decimals: int = 0,
) -> Cells:
    """The cells of the tables, of sums at the lowest level.

    once    : by the contributors who are in one cell of the lowest level only
    several : what the other contributors have in the cells of a combination of levels
    """
    codes = codes_of(dimensions, once.cell)
    parts = []
    for levels in combinations(dimensions, tables):
        cell, inside = cells_at(dimensions, codes, levels)
        parts.append(_added([once.moved(cell, inside), several(levels)]))
    made = _together(parts)
    order = np.argsort(made.cell, kind="stable")
    order = order[in_tables(dimensions, codes_of(dimensions, made.cell[order]), tables)]
    codes = codes_of(dimensions, made.cell[order])
    largest, owners = _expanded(made, unit)
    signed = bool((made.sizes != made.total).any())
    return Cells(
        dimensions=tuple(dimensions),
        codes=codes,
        total=made.total[order],
        contributors=np.maximum(made.contributors[order] // unit, 1),
        largest=largest[order],
        owners=owners[order],
        equations=equations_of(dimensions, codes, tables),
        published=_published(dimensions, codes, withheld or {}),
        decimals=decimals,
        sizes=made.sizes[order] if signed else None,
    )


def combinations(dimensions: Sequence[Dimension], tables: Sequence[Table] | None = None) -> list[Levels]:
    """Every combination of levels that a table has, once. Raises DataError for a dimension that there is not."""
    # The first column of a dimension is its total: codes that hold as many leaves come after it.
    highest = [[int(d.levels[column[column >= 0]].min()) for column in d.columns] for d in dimensions]
    chosen: set[tuple[int, ...]] = set()
    for table in tables or [[dimension.name for dimension in dimensions]]:
        levels = levels_of(dimensions, table)
        chosen |= set(
            product(
                *([at for at, level in enumerate(high) if level <= levels[axis]] for axis, high in enumerate(highest))
            )
        )
    return [tuple(d.columns[at] for d, at in zip(dimensions, choice, strict=True)) for choice in sorted(chosen)]


def cell_sums(given: Contributed, kept: int, unit: int = 1) -> CellSums:
    """The sums of cells whose contributors are given each once."""
    order = np.lexsort((given.owner, -np.abs(given.value), given.cell))
    cell, starts = _groups(given.cell[order])
    share, size = given.share[order], np.abs(given.value[order])
    weight = None if given.weight is None else given.weight[order]
    first = _first(starts, len(order), kept)
    counted = np.diff(np.r_[starts, len(order)]) * unit if weight is None else _summed(weight, starts)
    return CellSums(
        cell=cell,
        total=_summed(share, starts),
        sizes=_summed(np.abs(share), starts),
        contributors=counted,
        size=np.where(first < 0, 0, size[first]) if len(order) else first,
        owner=np.where(first < 0, -1, given.owner[order][first]) if len(order) else first,
        weight=None if weight is None else np.where(first < 0, 0, weight[first]) if len(order) else first,
    )


def _contributed(
    cell: Integers, contributor: Integers, value: Integers, weighted: Integers | None, weight: Integers | None
) -> Contributed:
    """The records of each contributor in each cell added up; of the weights the smallest."""
    order = np.lexsort((contributor, cell))
    cell, contributor = cell[order], contributor[order]
    starts = np.flatnonzero(np.r_[True, (cell[1:] != cell[:-1]) | (contributor[1:] != contributor[:-1])][: len(cell)])
    summed = _summed(value[order], starts)
    return Contributed(
        cell[starts],
        contributor[starts],
        share=summed if weighted is None else _summed(weighted[order], starts),
        value=summed,
        weight=None if weight is None else np.minimum.reduceat(weight[order], starts) if len(starts) else weight,
    )


def _added(parts: Sequence[CellSums]) -> CellSums:
    """The sums of cells that have parts in several, none of which share a contributor."""
    all_ = _together([part for part in parts if len(part.cell)] or list(parts[:1]))
    if not len(all_.cell):
        return all_
    order = np.argsort(all_.cell, kind="stable")
    cell, starts = _groups(all_.cell[order])
    kept = all_.size.shape[1]
    has = (all_.owner >= 0).ravel()
    largest = Contributed(
        np.repeat(all_.cell, kept)[has],
        all_.owner.ravel()[has],
        share=all_.size.ravel()[has],
        value=all_.size.ravel()[has],
        weight=None if all_.weight is None else all_.weight.ravel()[has],
    )
    of_largest = cell_sums(largest, kept)
    return CellSums(
        cell,
        _summed(all_.total[order], starts),
        _summed(all_.sizes[order], starts),
        _summed(all_.contributors[order], starts),
        of_largest.size,
        of_largest.owner,
        of_largest.weight,
    )


def _together(parts: Sequence[CellSums]) -> CellSums:
    return CellSums(
        np.concatenate([part.cell for part in parts]),
        np.concatenate([part.total for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.contributors for part in parts]),
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.owner for part in parts]),
        None if parts[0].weight is None else np.concatenate([p.weight for p in parts if p.weight is not None]),
    )


def _expanded(made: CellSums, unit: int) -> tuple[Integers, Integers]:
    """The largest contributions, each as many times as its weight says; the k-th is the average over the k-th unit."""
    if made.weight is None:
        return made.size, made.owner
    kept = made.size.shape[1]
    until = np.cumsum(made.weight, axis=1)
    since = until - made.weight
    size, owner = np.zeros_like(made.size), np.full_like(made.owner, -1)
    for rank in range(kept):
        low, high = rank * unit, (rank + 1) * unit
        part = np.clip(np.minimum(until, high) - np.maximum(since, low), 0, None)
        whole, rest = made.size // unit * part, made.size % unit * part
        size[:, rank] = whole.sum(axis=1) + halves_to_even(rest.sum(axis=1), unit)
        begins = (since >= low) & (since < high) & (made.owner >= 0)  # the others' copies in this unit are nobody's
        owner[:, rank] = np.where(begins.any(axis=1), made.owner[np.arange(len(owner)), begins.argmax(axis=1)], -1)
    return size, owner


def halves_to_even(numerator: Integers, denominator: int) -> Integers:
    """numerator / denominator, rounded to whole numbers; exactly half goes to the even one."""
    whole, rest = np.divmod(numerator, denominator)
    up = (2 * rest > denominator) | ((2 * rest == denominator) & (whole % 2 == 1))
    return np.asarray(whole + up, dtype=np.int64)


def _chosen(given: Contributed, which: Booleans) -> Contributed:
    weight = None if given.weight is None else given.weight[which]
    return Contributed(given.cell[which], given.owner[which], given.share[which], given.value[which], weight)


def codes_of(dimensions: Sequence[Dimension], keys: Integers) -> Codes:
    sizes = tuple(len(dimension.codes) for dimension in dimensions)
    return np.column_stack(np.unravel_index(keys, sizes)).astype(np.int32)


def cells_at(dimensions: Sequence[Dimension], codes: Codes, levels: Levels) -> tuple[Integers, Booleans]:
    """The cell that holds each leaf cell at a combination of levels, and whether there is one."""
    held = np.column_stack([column[codes[:, axis]] for axis, column in enumerate(levels)])
    return keys_of(dimensions, np.maximum(held, 0)), np.asarray((held >= 0).all(axis=1))


def _groups(ordered: Integers) -> tuple[Integers, Integers]:
    """Each value of an ordered array once, and where it begins."""
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    return ordered[starts], starts


def _first(starts: Integers, count: int, kept: int) -> Integers:
    """Shape (groups, kept): positions of each group's first entries, -1 where it has fewer."""
    at = starts[:, None] + np.arange(kept)
    return np.where(at < np.r_[starts[1:], count][: len(starts), None], at, -1)


def _summed(values: Integers, starts: Integers) -> Integers:
    return np.add.reduceat(values, starts) if len(starts) else values[:0]


def _published(dimensions: Sequence[Dimension], codes: Codes, withheld: Mapping[str, Sequence[str | int]]) -> Booleans:
    by_name = {dimension.name: axis for axis, dimension in enumerate(dimensions)}
    published = np.ones(len(codes), dtype=bool)
    for name, given in withheld.items():
        if name not in by_name:
            raise DataError(f"withheld names the dimension '{name}', which there is not.{did_you_mean(name, by_name)}")
        axis = by_name[name]
        dimension = dimensions[axis]
        hidden = np.zeros(len(dimension.codes), dtype=bool)
        for each in given:
            if isinstance(each, int):
                if not (dimension.depth == each).any():
                    deepest = int(dimension.depth.max())
                    raise DataError(f"withheld of '{name}': its levels go from 0 to {deepest}; got {each}.")
                hidden |= dimension.depth == each
            elif each in dimension.position:
                hidden[dimension.position[each]] = True
            else:
                hint = did_you_mean(each, dimension.codes)
                raise DataError(f"withheld of '{name}' names '{each}', which is no code of its hierarchy.{hint}")
        published &= ~hidden[codes[:, axis]]
    return published
