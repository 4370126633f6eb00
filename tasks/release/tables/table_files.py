"""The files of a release of tables: written once, and read back as a data user would before anybody may have them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sluice.publication.datapackage import tables_datapackage
from sluice.publication.manifest import PublishedFile
from sluice.publication.published_table import PublishedTable, discrepancies, published_table
from sluice.publication.published_table_files import read_csv, read_parquet, to_csv, to_parquet
from sluice.publication.readme import tables_readme
from sluice.publication.sdmx import read_sdmx_csv, sdmx_structure, to_sdmx_csv
from sluice.tabular.model.cells import Cells, axes_of
from tasks.release.tables.published_cells import PublishedCells, TablesDocuments

_SDMX = ".sdmx.csv"
_READ: dict[str, Callable[..., PublishedTable]] = {_SDMX: read_sdmx_csv, ".csv": read_csv, ".parquet": read_parquet}


def table_files(documents: TablesDocuments, cells: Cells, published: PublishedCells) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file: one table in each, in all forms that the definition asks for."""
    form = documents.definition.form
    for table in _published_tables(documents, cells, published):
        yield f"{table.name}.csv", to_csv(table, escaped=_is_escaped(documents))
        yield f"{table.name}.parquet", to_parquet(table)
        if form.sdmx_dataflow:
            in_sdmx = to_sdmx_csv(table, form.sdmx_dataflow, form.time_period, cells.dimensions)
            yield f"{table.name}.sdmx.csv", in_sdmx


def _is_escaped(documents: TablesDocuments) -> bool:
    """Whether codes of the CSV files are in the form that spreadsheets show; those of SDMX-CSV are for programs."""
    return documents.policy.formula_cells == "escape"


def _published_tables(documents: TablesDocuments, cells: Cells, published: PublishedCells) -> Iterator[PublishedTable]:
    form = documents.definition.form
    for table in documents.definition.tables:
        yield published_table(
            cells,
            published.status,
            table.name,
            table.dimensions,
            value=published.value,
            interval=published.interval,
            synthetic=published.synthetic,
            tell_primary=form.tell_primary,
            tell_contributors=documents.definition.tells_contributors,
        )


def table_descriptor(
    documents: TablesDocuments,
    cells: Cells,
    published: PublishedCells,
    files: Sequence[PublishedFile],
    protection: Sequence[str],
) -> dict[str, Any]:
    """The Data Package descriptor of the release; `protection` are sentences on how it was protected."""
    definition, measure = documents.definition, documents.definition.measure.variable
    tables = []
    for table in _published_tables(documents, cells, published):
        own = [file for file in files if file.path in {f"{table.name}{ending}" for ending in _READ}]
        rows = {f"{table.name}.csv", f"{table.name}.parquet"}  # SDMX-CSV has columns of its own
        sized = [f.model_copy(update={"rows": len(table.codes) if f.path in rows else None}) for f in own]
        tables.append((table, sized))
    return tables_datapackage(
        definition.name,
        definition.title,
        documents.contract.dataset,
        tables,
        measure or "number of records",
        unit=documents.contract.by_name[measure].unit if measure else None,
        protection=protection,
        withheld=[
            f"{each.variable}: {', '.join([*each.withheld, *(f'level {level}' for level in each.withheld_levels)])}"
            for each in definition.dimensions
            if each.withheld or each.withheld_levels
        ],
        description=documents.contract.description,
        escaped=_is_escaped(documents),
        license_=definition.license,
    )


def table_readme(
    documents: TablesDocuments,
    cells: Cells,
    published: PublishedCells,
    release: str,
    protection: Sequence[str],
    at: str,
) -> bytes:
    """The README of the folder: what the columns and codes mean, which are sums, how the tables were protected."""
    definition, measure = documents.definition, documents.definition.measure.variable
    return tables_readme(
        release,
        definition.title,
        measure or "number of records",
        documents.contract.by_name[measure].unit if measure else None,
        [*_published_tables(documents, cells, published)],
        documents.contract.by_name,
        protection,
        definition.publisher,
        definition.license,
        at,
    )


def table_structure(
    documents: TablesDocuments, cells: Cells, published: PublishedCells, release: str, at: datetime
) -> bytes:
    """The structure of the SDMX-CSV files, for the dataflow that the definition names."""
    definition, contract = documents.definition, documents.contract
    form, measure = definition.form, definition.measure.variable
    assert form.sdmx_dataflow is not None
    unit = contract.by_name[measure].unit if measure else None
    return sdmx_structure(
        release,
        at,
        cells.dimensions,
        form.sdmx_dataflow,
        definition.title,
        f"{measure or 'number of records'}{f', in {unit}' if unit else ''}",
        time=form.time_period is not None,
        further=[
            *(["lower", "upper"] if published.interval else []),
            *(["synthetic"] if published.synthetic is not None else []),
        ],
        labels={each.name: contract.by_name[each.name].labels for each in cells.dimensions},
    )


def problems_of(
    documents: TablesDocuments, files: Mapping[str, Path], cells: Cells, published: PublishedCells
) -> list[str]:
    """What is wrong with the files, in words without values; nothing when each tells what its cells' status allows.

    files : name -> where it lies
    """
    problems, left = [], dict(files)
    for table in documents.definition.tables:
        for ending, read in _READ.items():
            path = left.pop(f"{table.name}{ending}", None)
            if path is None:
                continue
            axes = [cells.dimensions[axis] for axis in axes_of(cells, table.dimensions)]
            further: dict[str, Any] = {"of_dataflow": cells.dimensions} if ending == _SDMX else {}
            further |= {"escaped": _is_escaped(documents)} if ending == ".csv" else {}
            content = read(path.read_bytes(), path.name, axes, cells.decimals, **further)
            wrong = discrepancies(
                content,
                cells,
                published.status,
                dimensions=table.dimensions,
                value=published.value,
                interval=published.interval,
                synthetic=published.synthetic,
                tell_primary=documents.definition.form.tell_primary,
                tell_contributors=ending != _SDMX and documents.definition.tells_contributors,
            )
            problems += [f"{table.name}{ending}: {problem}" for problem in wrong]
        if f"{table.name}.csv" not in files:
            problems.append(f"{table.name}.csv is missing")
    return problems + [f"{file} belongs to no table" for file in left]
