"""The cells of tables from records in a file, added up by DuckDB: more records than fit into memory.

The same cells as `tabular.model.records` makes in memory, in the same way: contributors who are in one cell of the
lowest level only are summed there once; the others are gone through for each combination of levels. The vault keeps
them as NumPy's arrays, a file without anything that runs when it is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from sluice.ground.errors import DataError
from sluice.settings import settings
from sluice.sources.record_query import RecordQuery, text
from sluice.sources.tabular_source import missing_file
from sluice.tabular.model.aggregation import LARGEST_KEPT, Levels, cells_at, cells_from, codes_of
from sluice.tabular.model.cell_sums import CellSums
from sluice.tabular.model.cells import Cells, OwnParts, Table, equations_of
from sluice.tabular.model.column_values import duplicates, too_large
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import NOBODY, Asking, Measure, Requested

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, eq=False)
class FileCells:
    """The cells, and how they came about.

    records  : in the cells
    left_out : records that had no value
    added_up : records that were added to another of the same contributor in the same cell of the lowest level
    asking   : numbers of those who asked for protection, where that was asked for
    alike    : names of contributors that are those of others but for capital letters
    respelled : names of contributors that were read as what they look like
    joined   : names of contributors that were taken for others, which differ in capital letters alone
    """

    cells: Cells
    records: int
    left_out: int
    added_up: int
    asking: Asking = NOBODY
    alike: int = 0
    respelled: int = 0
    joined: int = 0


def aggregate_file(
    source: Path,
    dimensions: Sequence[Dimension],
    measure: Measure,
    *,
    scratch: Path,
    tables: Sequence[Table] | None = None,
    withheld: Mapping[str, Sequence[str | int]] | None = None,
    kept: int = LARGEST_KEPT,
    requested: Requested | None = None,
) -> FileCells:
    """Every non-empty cell of the tables, from a Parquet or CSV file of records.

    source  : with a column of text for each dimension, bearing its name, and the columns of the measure
    scratch : what does not fit into memory waits in files next to it
    tables, withheld, kept : see `aggregate`
    requested : how a record says that its contributor asked for protection
    raises  : DataError, see `records_of`
    cost    : O(n) of disk and at most the memory of the settings for n records; the cells themselves must fit in
    """
    if not source.is_file():
        raise missing_file(source)
    import duckdb  # which a file of records does not need

    limits = settings().duckdb(scratch.parent)
    with duckdb.connect(config=limits) as engine:
        engine.execute("SET enable_progress_bar = false")  # it writes to standard output, where JSON may be awaited
        path = text(str(source))
        form = "header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"'"
        read = f"read_parquet({path})" if source.suffix == ".parquet" else f"read_csv({path}, {form})"
        try:
            engine.execute(f"CREATE VIEW source AS SELECT * FROM {read}")
            return aggregate_table(
                engine,
                "source",
                dimensions,
                measure,
                tables=tables,
                withheld=withheld,
                kept=kept,
                requested=requested,
            )
        except duckdb.OutOfMemoryException:
            raise DataError(
                f"{source}: cannot be added up within {limits['memory_limit']} of memory (SLUICE_MEMORY) and the disk "
                f"of {scratch}"
            ) from None
        except (duckdb.ConversionException, duckdb.OutOfRangeException):
            raise DataError(f"{source}: {too_large(measure.value or 'the count')}") from None
        except duckdb.Error:
            raise DataError(f"{source}: cannot be read as a table of records") from None


def aggregate_table(
    engine: "duckdb.DuckDBPyConnection",
    table: str,
    dimensions: Sequence[Dimension],
    measure: Measure,
    *,
    tables: Sequence[Table] | None = None,
    withheld: Mapping[str, Sequence[str | int]] | None = None,
    kept: int = LARGEST_KEPT,
    requested: Requested | None = None,
) -> FileCells:
    """The same for a table or view of a DuckDB database; makes temporary tables there."""
    query = RecordQuery(engine, table, dimensions, measure)
    query.check()
    sums, cells = _added_up(query, tables, withheld, kept)
    asking = NOBODY
    if requested:
        asking = Asking(*(tuple(query.owners_with(requested.column, each)) if each else () for each in requested.texts))
    if query.weighted:
        exact = RecordQuery(
            engine, table, dimensions, replace(measure, weight_rule="gconfid_exact", decimals=query.decimals)
        )
        exact.check()
        cells = replace(cells, weighted=_added_up(exact, tables, withheld, kept)[1].own_parts)
    return FileCells(
        cells, query.records, query.left_out, sums.added_up, asking, query.alike, query.respelled, query.joined
    )


def _added_up(
    query: RecordQuery, tables: Sequence[Table] | None, withheld: Mapping[str, Sequence[str | int]] | None, kept: int
) -> "tuple[_Sums, Cells]":
    sums = _Sums(query)
    sums.add_up_lowest()
    once, several = sums.split(kept)
    return sums, cells_from(
        query.dimensions, once, several, query.unit, tables=tables, withheld=withheld, decimals=query.decimals
    )


class _Sums:
    """The records added up by contributor and cell, in temporary tables."""

    def __init__(self, query: RecordQuery) -> None:
        self.query, self.run = query, query.engine.execute
        self.added_up = 0

    def add_up_lowest(self) -> None:
        """Temporary table `sluice_pairs`: what each contributor has in each cell of the lowest level."""
        query = self.query
        joins, places, stride = [], [], 1
        for axis, dimension in reversed(list(enumerate(query.dimensions))):
            leaves = pa.table(
                {
                    "code": [dimension.codes[leaf] for leaf in dimension.leaves],
                    "place": dimension.leaves.astype(np.int64) * stride,
                }
            )
            query.engine.register(f"sluice_leaves_{axis}", leaves)
            joins.append(f"JOIN sluice_leaves_{axis} AS l{axis} ON l{axis}.code = d{axis}")
            places.append(f"l{axis}.place")
            stride *= len(dimension.codes)
        lowest = f"(SELECT {' + '.join(places)} AS cell, rows.* FROM ({query.rows}) AS rows {' '.join(joins)})"
        if query.alone:
            weight = ", weighted, weight" if query.weighted else ""
            made = f"SELECT cell, owner, value{weight} FROM {lowest}"
        else:
            made = f"SELECT cell, owner, {self._added} FROM {lowest} GROUP BY cell, owner"
        self.run(f"CREATE OR REPLACE TEMP TABLE sluice_pairs AS {made}")
        measure = query.measure
        if measure.contributor is None:
            return
        pairs = "sluice_pairs" if measure.holding is None else f"(SELECT DISTINCT cell, own FROM {lowest})"
        found = self.run(f"SELECT count(*) FROM {pairs}").fetchone()
        self.added_up = query.records - (found or (0,))[0]
        if self.added_up and measure.duplicates == "refuse":
            raise duplicates(measure.contributor, self.added_up)

    @property
    def _added(self) -> str:
        """How the records of one contributor in one cell are added up; of their weights the smallest counts."""
        weighted = ", sum(weighted)::BIGINT AS weighted, min(weight) AS weight" if self.query.weighted else ""
        return f"sum(value)::BIGINT AS value{weighted}"

    def split(self, kept: int) -> tuple[CellSums, Any]:
        """The sums of those who are in one cell of the lowest level, and how to get those of the others."""
        run = self.run
        possible = "false" if self.query.alone else "true"
        run(
            f"""CREATE OR REPLACE TEMP TABLE sluice_several AS
            SELECT owner FROM sluice_pairs WHERE {possible} GROUP BY owner HAVING count(*) > 1"""
        )
        of_one_cell = self._sums("sluice_pairs ANTI JOIN sluice_several USING (owner)", "cell", kept)
        run(f"CREATE OR REPLACE TEMP TABLE sluice_once AS {of_one_cell}")
        # Names are numbered in their order, so that ties are decided as they are in memory.
        # Weighted, records are added up twice, with other largest ones: so that numbers agree, all have one.
        number = "owner" if self.query.numbered else "row_number() OVER (ORDER BY owner) - 1"
        listed = "SELECT owner FROM sluice_several UNION SELECT unnest(largest).owner FROM sluice_once"
        everybody = listed if self.query.measure.weight is None else "SELECT DISTINCT owner FROM sluice_pairs"
        run(f"CREATE OR REPLACE TEMP TABLE sluice_numbers AS SELECT owner, {number} AS number FROM ({everybody})")
        run(
            """CREATE OR REPLACE TEMP TABLE sluice_again AS SELECT * EXCLUDE (owner, number), number AS owner
            FROM sluice_pairs SEMI JOIN sluice_several USING (owner) JOIN sluice_numbers USING (owner)"""
        )
        run("DROP TABLE sluice_pairs")
        once = self._fetched("sluice_once", "JOIN sluice_numbers AS n ON n.owner = each.owner", "number", kept)
        leaf_cells = np.asarray(
            run("SELECT DISTINCT cell FROM sluice_again ORDER BY cell").fetchnumpy()["cell"], dtype=np.int64
        )
        codes = codes_of(self.query.dimensions, leaf_cells)

        def several(levels: Levels) -> CellSums:
            target, inside = cells_at(self.query.dimensions, codes, levels)
            moved = {"cell": leaf_cells[inside], "target": target[inside]}
            self.query.engine.register("sluice_moved", pa.table(moved))
            summed = (
                f"(SELECT target, owner, {self._added} FROM sluice_again JOIN sluice_moved USING (cell) "
                "GROUP BY target, owner)"
            )
            run(f"CREATE OR REPLACE TEMP TABLE sluice_higher AS {self._sums(summed, 'target', kept)}")
            return self._fetched("sluice_higher", "", "each.owner", kept)

        return once, several

    def _sums(self, pairs: str, cell: str, kept: int) -> str:
        """The SQL of `cell_sums`: the largest first, of equal ones that with the smallest owner."""
        share, weight = ("weighted", "weight") if self.query.weighted else ("value", f"{self.query.unit}")
        return f"""SELECT {cell} AS cell, sum({share})::BIGINT AS total, sum(abs({share}))::BIGINT AS sizes,
            sum({weight})::BIGINT AS contributors,
            min({{'size': -abs(value), 'owner': owner, 'weight': {weight}}}, {kept}) AS largest
            FROM {pairs} GROUP BY {cell}"""

    def _fetched(self, table: str, join: str, owner: str, kept: int) -> CellSums:
        run = self.run
        sums = run(f"SELECT cell, total, sizes, contributors FROM {table} ORDER BY cell").fetchnumpy()
        columns = {name: np.asarray(column, dtype=np.int64) for name, column in sums.items()}
        each = (
            f"SELECT cell, rank, -each.size AS size, {owner} AS owner, each.weight AS weight FROM (SELECT cell, "
            f"unnest(largest) AS each, generate_subscripts(largest, 1) AS rank FROM {table}) {join}"
        )
        entries = {name: np.asarray(column, dtype=np.int64) for name, column in run(each).fetchnumpy().items()}
        shape = (len(columns["cell"]), kept)
        at = np.searchsorted(columns["cell"], entries["cell"]), entries["rank"] - 1
        size, number, weight = np.zeros(shape, dtype=np.int64), np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
        size[at], number[at], weight[at] = entries["size"], entries["owner"], entries["weight"]
        return CellSums(**columns, size=size, owner=number, weight=weight if self.query.weighted else None)


_ARRAYS = ("codes", "total", "contributors", "largest", "owners", "published")


def cells_bytes(*measures: tuple[Cells, Asking]) -> bytes:
    """The cells without dimensions and equations, which the documents tell; the same cells give the same bytes.

    measures : of each its cells, and the numbers of the contributors who asked for protection
    """
    held = BytesIO()
    arrays: dict[str, Any] = {}
    for place, (cells, asking) in enumerate(measures):
        of = {"decimals": np.int64(cells.decimals)} | {name: getattr(cells, name) for name in _ARRAYS}
        if cells.sizes is not None:
            of["sizes"] = cells.sizes
        if cells.weighted is not None:
            of |= {f"weighted_{name}": array for name, array in cells.weighted._asdict().items()}
        of["asking"], of["asking_before"] = (np.array(each, dtype=np.int64) for each in asking)
        arrays |= {f"{_prefix(place)}{name}": array for name, array in of.items()}
    np.savez_compressed(held, allow_pickle=False, **arrays)
    return held.getvalue()


def _prefix(place: int) -> str:
    """Of the arrays of a measure by its place; the first has none, as in files of one measure."""
    return f"{place}." if place else ""


def read_cells(path: Path, dimensions: Sequence[Dimension], tables: Sequence[Sequence[str]], place: int = 0) -> Cells:
    """The cells that `cells_bytes` wrote, of these dimensions and tables. Raises DataError for another file.

    place : of the measure among several
    """
    of = _prefix(place)
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[f"{of}{name}"] for name in _ARRAYS}
            decimals, sizes = int(held[f"{of}decimals"]), held.get(f"{of}sizes")
            weighted = None
            if f"{of}weighted_owners" in held:
                weighted = OwnParts(**{name: held[f"{of}weighted_{name}"] for name in OwnParts._fields})
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        raise DataError(f"{path}: holds no cells of tables") from None
    return Cells(
        dimensions=tuple(dimensions),
        equations=equations_of(dimensions, arrays["codes"], tables),
        decimals=decimals,
        sizes=sizes,
        weighted=weighted,
        **arrays,
    )


def read_asking(path: Path, place: int = 0) -> Asking:
    """Who asked for protection, by number, as `cells_bytes` wrote it."""
    with np.load(path, allow_pickle=False) as held:
        return Asking(*(tuple(held[f"{_prefix(place)}{name}"].tolist()) for name in ("asking", "asking_before")))
