"""A table whose cells come added up already, as agencies hand them over: codes, values, frequencies, the largest few.

Whose the largest contributions are is not told. Each is taken to be of a contributor of its own who is in one cell of
the lowest level only, so that it is found again in the totals by its size. Attacks by contributors who are alone in
several cells, or belong to one holding, need the records.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.publication.pattern_file import Pattern, read_pattern
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Booleans, Cells, Codes, Integers, equations_of, keys_of
from sluice.tabular.model.column_values import numbers, whole_units
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.standalone_table import CellsAddedUp, StandaloneTable

_WORDS = {
    **dict.fromkeys(("s", "safe", "published", ""), ""),
    **dict.fromkeys(("u", "unsafe", "primary", "sensitive"), "sensitive"),
    **dict.fromkeys(("p", "protected", "not_secondary"), "not_secondary"),
}
_OF_EUROSTAT = {"v": "", "a": "sensitive", "b": "sensitive", "c": "sensitive", "d": "suppress_first"}


def cells_added_up(
    frame: pd.DataFrame, dimensions: Sequence[Dimension], table: StandaloneTable
) -> tuple[Cells, tuple[dict[str, str], ...]]:
    """The cells, and what their status asks of single ones, as rows of an a-priori file.

    frame  : of text, a row for each cell, totals too; cells without a row are empty. Where no largest contributions are
             named, one contributor of each cell is taken to have all of it: nobody there knows more of other cells, and
             who has less of it could not tell another's part if readers cannot tell its total to within as much
    raises : DataError for a cell that contradicts itself or its sums, and where the rules ask for more of the largest
             contributions than there are
    cost   : O(n log n) for n cells
    """
    named = table.cells
    assert named is not None
    if table.linked is not None and len(table.linked) > 1:
        raise DataError("cells that are added up already make one table; protect linked tables from their records.")
    pattern, count = _totals(frame, dimensions, table, named)
    rules = table.sensitivity
    kept = max(table.table_attackers.coalition, 1, *(rule.largest_needed for rule in rules))
    counts = table.summed.value is None and not named.largest  # each contributor counts as one
    if table.summed.value is not None and not named.largest:
        largest = pattern.value[:, None]
    else:
        largest = (np.arange(kept) < count[:, None]).astype(np.int64) if counts else _largest(frame, pattern, named)
    for rule in rules:  # a frequency is known whoever is on the list; how far to protect it, the largest one says
        needed = min(rule.largest_needed, 1) if rule.rule == "minimum_frequency" else rule.largest_needed
        if largest.shape[1] < needed:
            raise DataError(
                f"{rule.rule} looks at the {needed} largest contributions of each cell; the file was said to have "
                f"{len(named.largest)} (--largest, cells.largest)."
            )
    _refuse_contradictions(pattern, count, largest, len(named.largest))
    stated = _stated(frame, dimensions, named)
    there = count > 0
    largest = _with_the_others(largest, pattern.value, count, kept)
    cells = _with_owners(pattern, there, largest, table)
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


def _totals(
    frame: pd.DataFrame, dimensions: Sequence[Dimension], table: StandaloneTable, named: CellsAddedUp
) -> tuple[Pattern, Integers]:
    """The cells with their totals, and how many contributors each has."""
    counted = numbers(frame[named.frequency])
    if (counted < 0).any() or (counted != np.rint(counted)).any():
        raise DataError(f"'{named.frequency}', the frequency, must be a whole number of 0 or more in every cell.")
    count: Integers = counted.astype(np.int64)
    value = frame[table.summed.value or named.frequency]
    if blank := int(((value == "") & (count > 0)).sum()):
        raise DataError(f"'{value.name}', the value, is missing in {blank:,} cells that have contributors.")
    value = value.where(value != "", "0")  # of a cell that nobody contributes to
    pattern = read_pattern(
        frame[[dimension.name for dimension in dimensions]].assign(status="published", value=value),
        dimensions,
        table.measure.measure.decimals,
    )
    pattern.refuse_other_sums(
        equations_of(dimensions, pattern.codes, table.linked),
        "Cells must add up, and all cells of a sum be in the file; figures that were rounded one by one do not.",
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


def _with_owners(pattern: Pattern, there: Booleans, largest: NDArray[np.int64], table: StandaloneTable) -> Cells:
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
        withheld=table.withheld,
        decimals=pattern.decimals,
    )
    given, found = keys_of(dimensions, pattern.codes[there]), keys_of(dimensions, made.codes)
    if absent := np.flatnonzero(~np.isin(found, given)).tolist():
        raise DataError(f"{made.name(absent[0])} has parts and is not in the file.")
    if strange := np.flatnonzero(there)[~np.isin(given, found)].tolist():
        raise DataError(f"{pattern.name(strange[0])} has a value, and none of its parts is in the file.")
    return made


def _owners(cells: Cells, largest: NDArray[np.int64]) -> Any:
    """Shape (c, t): of a total, whoever has a part of that size below it; somebody else where nobody has."""
    same = (cells.largest == largest) & (cells.owners >= 0)
    others = np.arange(largest.size).reshape(largest.shape) + int(cells.owners.max(initial=0)) + 1
    return np.where(same, cells.owners, np.where(largest > 0, others, -1))
