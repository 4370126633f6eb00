"""From records to the cells of a table.

What a cell needs of its contributors (their number, their sum, the largest few) adds up over cells that share none. So
contributors who have records in one cell of the lowest level only, the great majority, are summed there once, and their
sums are added up level by level; the others' records are gone through again for each combination of levels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from sluice.ground.errors import DataError, did_you_mean
from sluice.tabular.model.cell_sums import (
    CellSums,
    add_up,
    cell_sums,
    concatenate,
    expand,
    select,
    shares_of,
)
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
    lowest = shares_of(keys_of(dimensions, leaves), contributor, value, weighted, weight)
    owners, cells_of = np.unique(lowest.owner, return_counts=True)
    several = cells_of[np.searchsorted(owners, lowest.owner)] > 1
    once, again = select(lowest, ~several), select(lowest, several)
    codes = codes_of(dimensions, again.cell)

    def sums_of_several(levels: Levels) -> CellSums:
        cell, inside = cells_at(dimensions, codes, levels)
        weight = None if again.weight is None else again.weight[inside]
        moved = shares_of(cell[inside], again.owner[inside], again.value[inside], again.share[inside], weight)
        return cell_sums(moved, kept, unit)

    made = cells_from(
        dimensions,
        cell_sums(once, kept, unit),
        sums_of_several,
        unit,
        tables=tables,
        withheld=withheld,
        decimals=decimals,
    )
    if weight is None:
        return made
    known = aggregate(dimensions, leaves, contributor, value if weighted is None else weighted, kept, tables=tables)
    return replace(made, weighted=known.own_parts)


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
        parts.append(add_up([once.moved(cell, inside), several(levels)]))
    made = concatenate(parts)
    order = np.argsort(made.cell, kind="stable")
    order = order[in_tables(dimensions, codes_of(dimensions, made.cell[order]), tables)]
    codes = codes_of(dimensions, made.cell[order])
    largest, owners = expand(made, unit)
    signed = bool((made.sizes != made.total).any())
    return Cells(
        dimensions=tuple(dimensions),
        codes=codes,
        total=made.total[order],
        contributors=np.maximum(made.contributors[order] // unit, 1),
        largest=largest[order],
        owners=owners[order],
        equations=equations_of(dimensions, codes, tables),
        published=published_of(dimensions, codes, withheld or {}),
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


def codes_of(dimensions: Sequence[Dimension], keys: Integers) -> Codes:
    """Shape (c, d): the codes of cells by their keys, of shape (c,); the reverse of `keys_of`."""
    sizes = tuple(len(dimension.codes) for dimension in dimensions)
    return np.column_stack(np.unravel_index(keys, sizes)).astype(np.int32)


def cells_at(dimensions: Sequence[Dimension], codes: Codes, levels: Levels) -> tuple[Integers, Booleans]:
    """The cell that holds each leaf cell at a combination of levels, and whether there is one."""
    held = np.column_stack([column[codes[:, axis]] for axis, column in enumerate(levels)])
    return keys_of(dimensions, np.maximum(held, 0)), np.asarray((held >= 0).all(axis=1))


def published_of(
    dimensions: Sequence[Dimension], codes: Codes, withheld: Mapping[str, Sequence[str | int]]
) -> Booleans:
    """Shape (c,): which cells are not withheld, see `aggregate`. Raises DataError for a code or level there is not."""
    by_name = {dimension.name: axis for axis, dimension in enumerate(dimensions)}
    published = np.ones(len(codes), dtype=bool)
    for name, given in withheld.items():
        if name not in by_name:
            raise DataError(f"withheld names the dimension '{name}', which there is not.", came=name, allowed=by_name)
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
                raise DataError(f"withheld of '{name}' names '{each}', which is not a code of its hierarchy.{hint}")
        published &= ~hidden[codes[:, axis]]
    return published
