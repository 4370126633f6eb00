"""The files of a table outside any release: one CSV file of all its cells, or in a folder one for each linked table.

In the one file, a cell of a table that leaves out a dimension stands at that dimension's total, and cells that tables
share stand once. In a folder, a file bears the names of its table's dimensions, and has no column for the others.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sluice.custody.durable import refuse_to_overwrite, replace
from sluice.errors import DataError
from sluice.publication.pattern_file import Pattern, read_pattern
from sluice.publication.published_table import OWN_COLUMNS, PublishedTable, published_table
from sluice.publication.published_table_files import to_csv
from sluice.tabular.model.cells import Cells, in_tables, levels_of
from sluice.tabular.model.dimension import Dimension
from tasks.release.tables.published_cells import PublishedCells
from tasks.workbench.tabular_file import errors_of, read_text, refuse_unfit_csv

Tables = Sequence[Sequence[str]]

_COLUMNS = ("status", "value")


def refuse_taken_names(dimensions: Sequence[Dimension]) -> None:
    """Raise DataError for a dimension that bears the name of another column of its file."""
    taken = sorted({dimension.name for dimension in dimensions} & set(OWN_COLUMNS))
    if taken:
        raise DataError(f"a dimension must not be named {taken[0]}: the pattern has a column of that name.")


def refuse_unfit_output(
    output: Path,
    inputs: Sequence[Path | None],
    dimensions: Sequence[Dimension],
    tables: Tables | None,
    option: str = "--output",
) -> None:
    """Raise DataError for a place where the cells cannot be written; `option` names it."""
    inputs = [file for given in inputs if given for file in (given.iterdir() if given.is_dir() else [given])]
    if not output.is_dir():
        if output.suffix != ".csv":
            raise DataError(f"{option} {output}: must end in .csv, or be a folder, which must be there")
        refuse_unfit_csv(output, inputs, option)
        return
    names = [_file_name(table) for table in _tables(dimensions, tables)]
    for name in names:
        if not re.fullmatch(r"[\w .-]+\.csv", name):
            raise DataError(f"{option} {output}: '{name}' cannot be the name of a file. Name one .csv file for all.")
        if names.count(name) > 1:
            raise DataError(f"{option} {output}: two tables would be written to {name}. Name one .csv file for all.")
        refuse_to_overwrite(output / name, inputs)


def write_cells(
    output: Path, cells: Cells, published: PublishedCells, tables: Tables | None, tell_primary: bool = False
) -> list[Path]:
    """Write what is published of the cells, and nothing else; the files."""
    if not output.is_dir():
        replace(output, to_csv(table_of(cells, published, tell_primary)), 0o644)
        return [output]
    written = []
    for table in _tables(cells.dimensions, tables):
        place = output / _file_name(table)
        replace(place, to_csv(table_of(cells, published, tell_primary, table)), 0o644)
        written.append(place)
    return written


def table_of(
    cells: Cells, published: PublishedCells, tell_primary: bool = False, table: Sequence[str] | None = None
) -> PublishedTable:
    """What is published of one table, or of all cells when none is given."""
    return published_table(
        cells,
        published.status,
        "" if table is None else "-".join(table),
        [dimension.name for dimension in cells.dimensions] if table is None else table,
        value=published.value,
        interval=published.interval,
        synthetic=published.synthetic,
        tell_primary=tell_primary,
    )


def read_cells(source: Path, dimensions: Sequence[Dimension], tables: Tables | None) -> Pattern:
    """The pattern in a file, or in a folder that `write_cells` filled.

    raises : DataError, which names it, also for cells of no table: what these tell would not be looked at
    """
    if not source.exists() and not source.suffix:
        raise DataError(f"{source}: no such file or folder.")
    with errors_of(source):
        pattern = read_pattern(pd.concat(_texts(source, dimensions, tables), ignore_index=True), dimensions)
        others = np.flatnonzero(~in_tables(dimensions, pattern.codes, tables))
        if len(others):
            raise DataError(
                f"holds {len(others):,} cells that are in none of the tables, such as {pattern.name(int(others[0]))}. "
                "Name all tables of which it has cells."
            )
        return pattern


def _texts(source: Path, dimensions: Sequence[Dimension], tables: Tables | None) -> Iterator[pd.DataFrame]:
    """The columns of a pattern as text, missing values as empty ones; cells that tables share once."""
    if not source.is_dir():
        yield read_text(source, [*(dimension.name for dimension in dimensions), *_COLUMNS])
        return
    totals = {dimension.name: dimension.codes[0] for dimension in dimensions}
    frames = []
    for table in _tables(dimensions, tables):
        levels = levels_of(dimensions, table)
        own = [dimension.name for dimension, level in zip(dimensions, levels, strict=True) if level]
        others = {name: total for name, total in totals.items() if name not in own}
        frames.append(read_text(source / _file_name(table), [*own, *_COLUMNS]).assign(**others))
    yield pd.concat(frames, ignore_index=True).drop_duplicates()


def _tables(dimensions: Sequence[Dimension], tables: Tables | None) -> Tables:
    return tables or [[dimension.name for dimension in dimensions]]


def _file_name(table: Sequence[str]) -> str:
    return f"{'-'.join(table).replace(':', ' to level ')}.csv"
