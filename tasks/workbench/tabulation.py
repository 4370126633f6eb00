"""The cells of a file of records, outside any release; a dimension without a hierarchy has the codes of its column."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from policies.table_attackers import TableAttackers
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DataError
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, refuse_hidden_ties
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.workbench.tabular_file import errors_of, read_text, table_source, with_points

_TOTAL = "Total"


@dataclass(frozen=True, eq=False)
class Tabulated:
    """The cells of a file of records, and how many records were left out or added up on the way.

    alike : names of contributors that are those of others but for capital letters, and count as others
    """

    cells: Cells
    left_out: int
    added_up: int
    alike: int = 0


def tabulate(
    source: Path,
    dimensions: Sequence[Dimension],
    measure: Measure,
    rules: Sequence[SensitivityRule],
    tables: Sequence[Sequence[str]] | None = None,
    coalition: int = 1,
) -> Tabulated:
    """The cells of a file of records: CSV in memory, Parquet by DuckDB, whatever its size. Raises DataError."""
    refuse_hidden_ties(dimensions, tables)
    kept = max(LARGEST_KEPT, coalition, *(rule.largest_needed for rule in rules))
    table_source(source)  # refuses other files
    with errors_of(source):
        if source.suffix == ".parquet":
            from sluice.sources.table_cells import aggregate_file

            with tempfile.TemporaryDirectory() as folder:
                made = aggregate_file(
                    source, dimensions, measure, tables=tables, kept=kept, scratch=Path(folder) / "spilled"
                )
            return Tabulated(made.cells, made.left_out, made.added_up, made.alike)
        records = records_of(records_in(source, dimensions, measure), dimensions, measure)
        return Tabulated(records.cells(dimensions, kept, tables), records.left_out, records.added_up, records.alike)


def refuse_no_rules(rules: Sequence[SensitivityRule]) -> None:
    """Raise DataError where nothing says which cells are sensitive."""
    if not rules:
        raise DataError("no rule says which cells are sensitive; give at least one, such as p_percent=10.")


def attackers(measure: Measure, coalition: int) -> Assumptions:
    """What those know who read the table, as the policy of a release assumes it where it says no more.

    coalition : contributors who pool what they know
    raises    : DocumentError for more than a policy allows
    """
    return parse_document(TableAttackers, {"coalition": coalition}, "attackers").assumptions(measure)


def records_in(source: Path, dimensions: Sequence[Dimension], measure: Measure) -> pd.DataFrame:
    """The columns of a file of records that its table is made of. Raises DataError."""
    columns = list(dict.fromkeys([*(d.name for d in dimensions), *measure.columns]))
    frame = pd.concat(table_source(source).batches(columns), ignore_index=True)
    return with_points(frame, [name for name in (measure.value, measure.weight) if name is not None])


def dimension_in(source: Path, name: str, totals: bool = False) -> Dimension:
    """The codes of a column of a file, or of those CSV files of a folder that have it, below their 'Total'.

    totals : the file holds the cells of a table, the total too
    raises : DataError, which names the file, for a column that is absent, or cells without the total
    """
    files = sorted(source.glob("*.csv")) if source.is_dir() else [source]
    if source.is_dir():
        files = [file for file in files if name in table_source(file).column_names()]
    with errors_of(source):
        codes = {code for file in files for code in read_text(file, [name])[name].unique()} - {""}
        if totals and _TOTAL not in codes:
            raise DataError(f"no cell is the '{_TOTAL}' of '{name}'; give its hierarchy: --hierarchy {name}=FILE")
        return Dimension.flat(name, sorted(codes - {_TOTAL} if totals else codes))
