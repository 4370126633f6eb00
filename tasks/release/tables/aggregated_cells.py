"""A table whose cells come added up already, as agencies hand them over: codes, values, frequencies, the largest few.

Whose the largest contributions are is not told. Each is taken to be of a contributor of its own who is in one cell of
the lowest level only, so that it is found again in the totals by its size. Attacks by contributors who are alone in
several cells, or belong to one holding, need the records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.publication.pattern_file import Pattern, cell_name, read_pattern
from sluice.tabular.model.aggregation import aggregate, published_of
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
from sluice.tabular.model.column_values import numbers, whole_units
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.tables.specification import CellsAddedUp

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WORDS = {
    **dict.fromkeys(("s", "safe", "published", ""), ""),
    **dict.fromkeys(("u", "unsafe", "primary", "sensitive"), "sensitive"),
    **dict.fromkeys(("p", "protected", "not_secondary"), "not_secondary"),
}
_OF_EUROSTAT = {"v": "", "a": "sensitive", "b": "sensitive", "c": "sensitive", "d": "suppress_first"}


@dataclass(frozen=True)
class WantedCells:
    """What the columns of cells are, and what is asked of the cells.

    coalition : contributors who pool what they know
    linked    : the dimensions of each of several tables; None for one of all dimensions
    withheld  : by dimension the codes and levels that are not published
    figures   : whether errors may say by how much a sum does not hold, as of a file that whoever reads them has
    """

    named: CellsAddedUp
    measure: Measure
    rules: Sequence[SensitivityRule]
    coalition: int
    linked: Sequence[Table] | None
    withheld: Mapping[str, Sequence[str | int]]
    figures: bool = True

    @property
    def columns(self) -> list[str]:
        """Those of numbers, and of what was decided."""
        names = (self.named.frequency, *self.named.largest, self.measure.value, self.named.status, self.named.key)
        return list(dict.fromkeys(name for name in names if name is not None))


def cells_added_up(
    frame: pd.DataFrame, dimensions: Sequence[Dimension], wanted: WantedCells
) -> tuple[Cells, tuple[dict[str, str], ...]]:
    """The cells, and what their status asks of single ones, as rows of an a-priori file.

    frame  : of text, a row for each cell, totals too; cells without a row are empty. Where no largest contributions are
             named, one contributor of each cell is taken to have all of it: nobody there knows more of other cells, and
             who has less of it could not tell another's part if readers cannot tell its total to within as much
    raises : DataError for a cell that contradicts itself or its sums, and where the rules ask for more of the largest
             contributions than there are
    cost   : O(n log n) for n cells
    """
    named, rules = wanted.named, wanted.rules
    pattern, count = _totals(frame, dimensions, wanted)
    kept = max(wanted.coalition, 1, *(rule.largest_needed for rule in rules))
    counts = wanted.measure.value is None and not named.largest  # each contributor counts as one
    if wanted.measure.value is not None and not named.largest:
        largest = pattern.value[:, None]
    else:
        largest = (np.arange(kept) < count[:, None]).astype(np.int64) if counts else _largest(frame, pattern, named)
    named.refuse_few_largest(rules, wanted.measure.value is None)
    _refuse_contradictions(pattern, count, largest, len(named.largest))
    stated = _stated(frame, dimensions, named)
    there = count > 0
    largest = _with_the_others(largest, pattern.value, count, kept)
    if wanted.linked is not None and (len(wanted.linked) > 1 or any(":" in name for name in wanted.linked[0])):
        listed = largest.shape[1] if counts else max(len(named.largest), 1)
        cells = _of_linked_tables(pattern, there, largest, listed, wanted, wanted.linked)
    else:
        cells = _with_owners(pattern, there, largest, wanted)
    order = np.searchsorted(np.sort(keys_of(dimensions, pattern.codes)), keys_of(dimensions, cells.codes))
    rows = np.argsort(keys_of(dimensions, pattern.codes))[order]
    _refuse_other_totals(cells, count[rows], largest[rows, : len(named.largest)])
    owners = _owners(cells, largest[rows])
    return (
        Cells(
            dimensions=cells.dimensions,
            codes=cells.codes,
            total=pattern.value[rows],
            contributors=count[rows],
            largest=largest[rows],
            owners=owners,
            equations=cells.equations,
            published=cells.published,
            decimals=pattern.decimals,
        ),
        stated,
    )


def rows_of_cells(frame: pd.DataFrame, cells: Cells) -> Integers:
    """Shape (c,): in which row of the frame each cell stands."""
    dimensions = cells.dimensions
    codes: Codes = np.column_stack(
        [frame[each.name].map(each.position).to_numpy(dtype=np.int32) for each in dimensions]
    )
    given = keys_of(dimensions, codes)
    order = np.argsort(given)
    rows: Integers = order[np.searchsorted(given[order], keys_of(dimensions, cells.codes))]
    return rows


def _totals(frame: pd.DataFrame, dimensions: Sequence[Dimension], wanted: WantedCells) -> tuple[Pattern, Integers]:
    """The cells with their totals, and how many contributors each has."""
    named = wanted.named
    counted = numbers(frame[named.frequency])
    if (counted < 0).any() or (counted != np.rint(counted)).any():
        raise DataError(f"'{named.frequency}', the frequency, must be a whole number of 0 or more in every cell.")
    count: Integers = counted.astype(np.int64)
    value = frame[wanted.measure.value or named.frequency]
    if blank := int(((value == "") & (count > 0)).sum()):
        raise DataError(f"'{value.name}', the value, is missing in {blank:,} cells that have contributors.")
    value = value.where(value != "", "0")  # of a cell that nobody contributes to
    pattern = read_pattern(
        frame[[dimension.name for dimension in dimensions]].assign(status="published", value=value),
        dimensions,
        wanted.measure.decimals,
    )
    pattern.refuse_other_sums(
        equations_of(dimensions, pattern.codes, wanted.linked),
        "Cells must add up, and all cells of a sum be in the file; figures that were rounded one by one do not.",
        figures=wanted.figures,
    )
    if (below := np.flatnonzero(pattern.value < 0)).size:
        raise DataError(
            f"the value of {pattern.name(int(below[0]))} is negative"
            f"{f', and of {len(below) - 1:,} more' if len(below) > 1 else ''}; a table with negative contributions is "
            "protected from its records."
        )
    return pattern, count


def _largest(frame: pd.DataFrame, pattern: Pattern, named: CellsAddedUp) -> NDArray[np.int64]:
    """Shape (n, t), in units of the table."""
    columns = []
    for name in named.largest:
        given = frame[name].where(frame[name] != "", "0")
        columns.append(whole_units(numbers(given), name, pattern.decimals)[0])
    return np.column_stack(columns) if columns else np.zeros((len(frame), 0), dtype=np.int64)


def _with_the_others(largest: NDArray[np.int64], total: Integers, count: Integers, kept: int) -> NDArray[np.int64]:
    """Shape (n, kept): what is left of a cell is shared evenly among the contributors that are not listed."""
    listed = largest.shape[1]
    if listed >= kept:
        return largest
    left, others = total - largest.sum(axis=1), np.maximum(count - listed, 1)
    there = np.arange(listed, kept) < count[:, None]
    return np.hstack([largest, np.where(there, (left // others)[:, None], 0)])


def _refuse_contradictions(pattern: Pattern, count: Integers, largest: NDArray[np.int64], listed: int) -> None:
    def refuse(which: Booleans, says: str) -> None:
        if which.any():
            more = f"; so do {int(which.sum()) - 1:,} other cells" if which.sum() > 1 else ""
            raise DataError(f"{pattern.name(int(np.flatnonzero(which)[0]))} {says}{more}.")

    refuse((count == 0) & (pattern.value != 0), "has a value and no contributor")
    refuse(np.any(np.diff(largest, axis=1) > 0, axis=1), "has largest contributions that do not fall")
    refuse(np.any(largest < 0, axis=1), "has a negative contribution")
    refuse(largest.sum(axis=1) > pattern.value, "has largest contributions of more than its value")
    refuse((largest > 0).sum(axis=1) > count, "has more largest contributions than contributors")
    all_listed = (count > 0) & (count <= largest.shape[1])
    refuse(all_listed & (largest.sum(axis=1) < pattern.value), "has contributions of less than its value, all told")
    if listed:  # each may have been rounded by itself
        most = largest.sum(axis=1) + (count - listed) * largest[:, listed - 1] + count / 2
        refuse(
            (count > listed) & (pattern.value > most), "has a value of more than contributions below the listed ones"
        )


def _refuse_other_totals(cells: Cells, count: Integers, largest: NDArray[np.int64]) -> None:
    """Refuse totals that their parts contradict: as many contributors as they have at most, and as one part at least;
    and of the largest contributions each no smaller than that of a part."""
    for row in range(cells.equations.shape[0]):
        inside = slice(cells.equations.indptr[row], cells.equations.indptr[row + 1])
        members, sign = cells.equations.indices[inside], cells.equations.data[inside]
        total, parts = int(members[sign > 0][0]), members[sign < 0]
        if not count[parts].max(initial=0) <= count[total] <= count[parts].sum():
            raise DataError(f"{cells.name(total)} has another number of contributors than its parts allow.")
        if (largest[total] < largest[parts].max(axis=0, initial=0)).any():
            raise DataError(f"{cells.name(total)} has a largest contribution that is smaller than one of its parts.")


def _stated(frame: pd.DataFrame, dimensions: Sequence[Dimension], named: CellsAddedUp) -> tuple[dict[str, str], ...]:
    if named.status is None:
        return ()
    said = frame[named.status].str.strip()
    known = _WORDS | (_OF_EUROSTAT if {"V", "v"} & {*said} else {})
    if strange := sorted(word for word in said.unique() if word.casefold() not in known):
        raise DataError(
            f"'{named.status}' must be S, U or P (safe, unsafe, protected), or beside V one of A, B, C (unsafe), D "
            f"(secondary); got '{strange[0]}'.",
            came=strange[0],
            allowed=known,
        )
    names = [dimension.name for dimension in dimensions]
    rows = frame[names].assign(status=said.str.casefold().map(known))
    return tuple(
        {str(key): str(text) for key, text in row.items()} for row in rows[rows["status"] != ""].to_dict("records")
    )


def _with_owners(pattern: Pattern, there: Booleans, largest: NDArray[np.int64], wanted: WantedCells) -> Cells:
    """The cells of the largest contributions alone, those of the lowest level each of an owner of its own."""
    dimensions = pattern.dimensions
    inner = there & np.logical_and.reduce(
        [np.isin(pattern.codes[:, axis], each.leaves) for axis, each in enumerate(dimensions)]
    )
    if not inner.any():
        raise DataError("no cell of the lowest level has a contributor.")
    at, rank = np.nonzero(inner[:, None] & ((largest > 0) | (np.arange(largest.shape[1]) == 0)))
    made = aggregate(
        dimensions,
        pattern.codes[at],
        np.arange(len(at), dtype=np.int64),
        largest[at, rank],
        largest.shape[1],
        withheld=wanted.withheld,
        decimals=pattern.decimals,
    )
    given, found = keys_of(dimensions, pattern.codes[there]), keys_of(dimensions, made.codes)
    if absent := np.flatnonzero(~np.isin(found, given)).tolist():
        raise DataError(f"{made.name(absent[0])} has parts and is not in the file.")
    if strange := np.flatnonzero(there)[~np.isin(given, found)].tolist():
        raise DataError(f"{pattern.name(strange[0])} has a value, and none of its parts is in the file.")
    return made


def _of_linked_tables(
    pattern: Pattern,
    there: Booleans,
    largest: NDArray[np.int64],
    listed: int,
    wanted: WantedCells,
    tables: Sequence[Table],
) -> Cells:
    """The cells of several tables; contributions of one size to a total, its part, or two tables' parts are one's own.

    listed : how many of the largest contributions the file tells; sizes of others are not known
    cost   : O(n log n) for n entries of the sums, and for each pair of tables
    """
    dimensions = pattern.dimensions
    keys = keys_of(dimensions, pattern.codes)
    rows = np.flatnonzero(there)
    rows = rows[np.argsort(keys[rows])]
    codes = pattern.codes[rows]
    if outside := np.flatnonzero(~in_tables(dimensions, codes, tables)).tolist():
        raise DataError(
            f"{pattern.name(int(rows[outside[0]]))} is in none of the tables, and so are {len(outside) - 1:,} other "
            "cells. Name all tables of which the file has cells."
        )
    _refuse_absent_totals(pattern, codes, keys[rows])
    equations = equations_of(dimensions, codes, tables)
    totals = equations.indices[equations.data > 0]
    if alone := totals[np.diff(equations.indptr) == 1].tolist():
        raise DataError(f"{pattern.name(int(rows[alone[0]]))} has a value, and none of its parts is in the file.")
    sizes = largest[rows]
    rank = np.arange(sizes.shape[1])
    told = np.where((rank < listed) & ((sizes > 0) | (rank == 0)), sizes, -1)
    same = [_same_sizes(equations, told)]
    same += [_same_sizes_beside(dimensions, codes, told, both) for both in combinations(tables, 2)]
    return Cells(
        dimensions=dimensions,
        codes=codes,
        total=pattern.value[rows],
        contributors=np.ones(len(rows), dtype=np.int64),
        largest=sizes,
        owners=_united(sizes, np.hstack(same)),
        equations=equations,
        published=published_of(dimensions, codes, wanted.withheld),
        decimals=pattern.decimals,
    )


def _refuse_absent_totals(pattern: Pattern, codes: Codes, keys: Integers) -> None:
    """Raise DataError for a cell whose total is not among the cells."""
    dimensions = pattern.dimensions
    for axis, dimension in enumerate(dimensions):
        for group, parts in dimension.sums:
            above = codes[np.isin(codes[:, axis], parts)]
            above[:, axis] = group
            if absent := np.flatnonzero(~np.isin(keys_of(dimensions, above), keys)).tolist():
                name = cell_name(dimensions, above, absent[0])
                raise DataError(f"{name} has parts and is not in the file.")


def _same_sizes(equations: "csr_array", sizes: NDArray[np.int64]) -> Integers:
    """Shape (2, m): contributions, as cell * t + rank, of a total and of one of its parts that are equally large, the
    first of a size with the first; each is one contributor's.

    sizes : shape (c, t), -1 where none is told
    """
    equation = np.repeat(np.arange(equations.shape[0]), np.diff(equations.indptr))
    entry, rank = np.nonzero(sizes[equations.indices] >= 0)
    cell = equations.indices[entry].astype(np.int64)
    found = pd.DataFrame(
        {"equation": equation[entry], "size": sizes[cell, rank], "node": cell * sizes.shape[1] + rank}
    ).assign(total=equations.data[entry] > 0)
    found = found.sort_values(["equation", "node"], kind="stable")
    found["nth"] = found.groupby(["equation", "size", "total"]).cumcount()
    both = found[found["total"]].merge(found[~found["total"]], on=["equation", "size", "nth"])
    return both[["node_x", "node_y"]].to_numpy(dtype=np.int64).T


def _same_sizes_beside(
    dimensions: Sequence[Dimension], codes: Codes, sizes: NDArray[np.int64], tables: Sequence[Table]
) -> Integers:
    """Shape (2, m), as `_same_sizes`: contributions to the lowest cells of two tables, of a size that one contributor
    alone has there, below the lowest total that the tables share: who is in one table is in the other."""
    levels = [levels_of(dimensions, table) for table in tables]
    common = [each.held_at(min(deep)) for each, *deep in zip(dimensions, *levels, strict=True)]
    shared = np.column_stack([held[codes[:, axis]] for axis, held in enumerate(common)])
    frames: list[pd.DataFrame] = []
    for deep in levels:
        lowest = in_tables(dimensions, codes, [tables[len(frames)]])
        for axis, (each, level) in enumerate(zip(dimensions, deep, strict=True)):
            lowest &= (each.levels[codes[:, axis]] == level) | np.isin(codes[:, axis], each.leaves)
        cell, rank = np.nonzero(lowest[:, None] & (sizes > 0))
        found = {"shared": keys_of(dimensions, shared)[cell], "size": sizes[cell, rank]}
        found["node"] = cell * sizes.shape[1] + rank
        frames.append(pd.DataFrame(found))
        frames[-1]["nth"] = frames[-1].groupby(["shared", "size"]).cumcount()
    both = frames[0].merge(frames[1], on=["shared", "size", "nth"])
    return both[["node_x", "node_y"]].to_numpy(dtype=np.int64).T


def _united(sizes: NDArray[np.int64], same: Integers) -> Integers:
    """Shape (c, t): an owner of each contribution, one of those that are the same; nobody is twice in a cell.

    same : shape (2, m), of the columns that are listed
    """
    from scipy.sparse import coo_array  # takes time to load
    from scipy.sparse.csgraph import connected_components

    count = sizes.size
    links = coo_array((np.ones(same.shape[1]), same), shape=(count, count))
    owners: Integers = connected_components(links, directed=False)[1].astype(np.int64).reshape(sizes.shape)
    for rank in range(1, sizes.shape[1]):
        twice = (owners[:, :rank] == owners[:, [rank]]).any(axis=1)
        owners[twice, rank] = np.arange(twice.sum()) + owners.max() + 1
    united: Integers = np.where((sizes > 0) | (np.arange(sizes.shape[1]) == 0), owners, -1)
    return united


def _owners(cells: Cells, largest: NDArray[np.int64]) -> Any:
    """Shape (c, t): of a total, whoever has a part of that size below it; somebody else where nobody has."""
    same = (cells.largest == largest) & (cells.owners >= 0)
    others = np.arange(largest.size).reshape(largest.shape) + int(cells.owners.max(initial=0)) + 1
    return np.where(same, cells.owners, np.where(largest > 0, others, -1))
