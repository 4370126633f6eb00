"""The files of a release of tables: written once, and read back as a data user would before anybody may have them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sluice.publication.datapackage import PublishedFile
from sluice.publication.sdmx_csv import read_sdmx_csv, to_sdmx_csv
from sluice.publication.table_datapackage import table_datapackage
from sluice.publication.table_publication import (
    PublishedTable,
    axes_of,
    discrepancies,
    published_table,
    read_csv,
    read_parquet,
    to_csv,
    to_parquet,
)
from sluice.tabular.model.cells import Cells
from tasks.case import Case
from tasks.shown import Shown

_READ = {".sdmx.csv": read_sdmx_csv, ".csv": read_csv, ".parquet": read_parquet}


def table_files(case: Case, cells: Cells, shown: Shown) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file: one table in each, in all forms that the definition asks for."""
    form = case.definition.form
    for told in _told(case, cells, shown):
        yield f"{told.name}.csv", to_csv(told)
        yield f"{told.name}.parquet", to_parquet(told)
        if form.sdmx_dataflow:
            yield f"{told.name}.sdmx.csv", to_sdmx_csv(told, form.sdmx_dataflow, form.time_period)


def _told(case: Case, cells: Cells, shown: Shown) -> Iterator[PublishedTable]:
    form = case.definition.form
    for table in case.definition.tables:
        yield published_table(
            cells,
            shown.status,
            table.name,
            table.dimensions,
            value=shown.value,
            interval=shown.interval,
            tell_primary=form.tell_primary,
            tell_contributors=form.tell_contributors and case.definition.measure.variable is not None,
        )


def table_descriptor(
    case: Case, cells: Cells, shown: Shown, files: Sequence[PublishedFile], protection: Sequence[str]
) -> dict[str, Any]:
    """The Data Package descriptor of the release; `protection` are sentences on how it was protected."""
    definition, measure = case.definition, case.definition.measure.variable
    tables = []
    for told in _told(case, cells, shown):
        own = [file for file in files if file.path in {f"{told.name}{ending}" for ending in _READ}]
        rows = {f"{told.name}.csv", f"{told.name}.parquet"}  # SDMX-CSV has columns of its own
        sized = [f.model_copy(update={"rows": len(told.codes) if f.path in rows else None}) for f in own]
        tables.append((told, sized))
    return table_datapackage(
        definition.name,
        definition.title,
        case.contract.dataset,
        tables,
        measure or "number of records",
        unit=case.contract.by_name[measure].unit if measure else None,
        protection=protection,
        withheld=[
            f"{each.variable}: {', '.join([*each.withheld, *(f'level {level}' for level in each.withheld_levels)])}"
            for each in definition.dimensions
            if each.withheld or each.withheld_levels
        ],
        description=case.contract.description,
    )


def problems_of(case: Case, files: Mapping[str, Path], cells: Cells, shown: Shown) -> list[str]:
    """What is wrong with the files, in words without values; nothing when each tells what its cells' status allows.

    files : name -> where it lies
    """
    problems, left = [], dict(files)
    for table in case.definition.tables:
        for ending, read in _READ.items():
            path = left.pop(f"{table.name}{ending}", None)
            if path is None:
                continue
            axes = [cells.dimensions[axis] for axis in axes_of(cells, table.dimensions)]
            told = read(path.read_bytes(), path.name, axes, cells.decimals)
            wrong = discrepancies(
                told, cells, shown.status, table=table.dimensions, value=shown.value, interval=shown.interval
            )
            problems += [f"{table.name}{ending}: {problem}" for problem in wrong]
        if f"{table.name}.csv" not in files:
            problems.append(f"{table.name}.csv is missing")
    return problems + [f"{file} belongs to no table" for file in left]
