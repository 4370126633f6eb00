"""The files of a release of tables: written once, and read back as a data user would before anybody may have them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sluice.publication.datapackage import tables_datapackage
from sluice.publication.manifest import PublishedFile
from sluice.publication.published_table import PublishedTable, discrepancies, published_table
from sluice.publication.published_table_files import read_csv, read_parquet, to_csv, to_parquet
from sluice.publication.sdmx import read_sdmx_csv, sdmx_structure, to_sdmx_csv
from sluice.publication.tables_codebook import TablesCodebook
from sluice.report.dossier import Dossier
from sluice.tabular.model.cells import Cells, axes_of
from tasks.release.tables.published_cells import PublishedCells, TablesDocuments

_SDMX = ".sdmx.csv"
_READ: dict[str, Callable[..., PublishedTable]] = {_SDMX: read_sdmx_csv, ".csv": read_csv, ".parquet": read_parquet}


def table_files(
    documents: TablesDocuments, measures: Mapping[str, Cells], published: PublishedCells
) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file: one table in each, in all forms that the definition asks for.

    measures : column of the values -> the cells, of each measure
    """
    form, cells = documents.definition.form, next(iter(measures.values()))
    for table in _published_tables(documents, measures, published):
        yield f"{table.name}.csv", to_csv(table, escaped=_is_escaped(documents))
        yield f"{table.name}.parquet", to_parquet(table)
        if form.sdmx_dataflow:
            in_sdmx = to_sdmx_csv(table, form.sdmx_dataflow, form.time_period, cells.dimensions)
            yield f"{table.name}.sdmx.csv", in_sdmx


def _is_escaped(documents: TablesDocuments) -> bool:
    """Whether codes of the CSV files are in the form that spreadsheets show; those of SDMX-CSV are for programs."""
    return documents.policy.formula_cells == "escape"


def _published_tables(
    documents: TablesDocuments, measures: Mapping[str, Cells], published: PublishedCells
) -> Iterator[PublishedTable]:
    form, cells = documents.definition.form, next(iter(measures.values()))
    for table in documents.definition.tables:
        yield published_table(
            cells,
            published.status,
            table.name,
            table.dimensions,
            measures=measures,
            value=published.value,
            interval=published.interval,
            synthetic=published.synthetic,
            tell_primary=form.tell_primary,
            tell_contributors=documents.definition.tells_contributors,
            tell_totals=True,
        )


def tables_as_written(
    documents: TablesDocuments, measures: Mapping[str, Cells], place: Callable[[str], Path]
) -> tuple[PublishedTable, ...]:
    """The tables as a data user reads them from their CSV files.

    measures : column of the values -> the cells, of each measure
    place    : name of a file -> where it lies
    """
    found, cells = [], next(iter(measures.values()))
    for table in documents.definition.tables:
        axes = [cells.dimensions[axis] for axis in axes_of(cells, table.dimensions)]
        content = place(f"{table.name}.csv").read_bytes()
        found.append(read_csv(content, table.name, axes, measures=_decimals(measures), escaped=_is_escaped(documents)))
    return tuple(found)


def _decimals(measures: Mapping[str, Cells]) -> dict[str, int]:
    return {column: cells.decimals for column, cells in measures.items()}


def table_descriptor(
    documents: TablesDocuments, book: TablesCodebook, files: Sequence[PublishedFile]
) -> dict[str, Any]:
    """The Data Package descriptor of the release."""
    tables = []
    for table in book.tables:
        own = [file for file in files if file.path in {f"{table.name}{ending}" for ending in _READ}]
        rows = {f"{table.name}.csv", f"{table.name}.parquet"}  # SDMX-CSV has columns of its own
        sized = [f.model_copy(update={"rows": len(table.codes) if f.path in rows else None}) for f in own]
        tables.append((table, sized))
    return tables_datapackage(
        documents.definition.name,
        book.title,
        book.dataset,
        tables,
        book.measure,
        unit=book.unit,
        protection=book.protection,
        withheld=book.withheld,
        description=book.description,
        escaped=_is_escaped(documents),
        license_=book.license,
        meanings=book.meanings,
    )


def table_codebook(
    documents: TablesDocuments,
    tables: tuple[PublishedTable, ...],
    dossier: Dossier,
    files: Sequence[PublishedFile],
    at: datetime,
) -> TablesCodebook:
    """What is known of the tables as they are published. at : when the publication began"""
    definition, contract = documents.definition, documents.contract
    measure, unit = measure_in_words(documents)
    return TablesCodebook(
        release=dossier.release,
        title=definition.title,
        dataset=contract.dataset,
        description=contract.description,
        published=at.isoformat(),
        software=f"Sluice {dossier.versions['sluice']}",
        files=tuple(file.path for file in files),
        publisher=definition.publisher,
        doi=definition.doi,
        license=definition.license,
        study=contract.study,
        tables=tables,
        measure=measure,
        unit=unit,
        meanings=contract.by_name,
        protection=tuple(dossier.plan),
        withheld=tuple(
            f"{each.variable}: {', '.join([*each.withheld, *(f'level {level}' for level in each.withheld_levels)])}"
            for each in definition.dimensions
            if each.withheld or each.withheld_levels
        ),
    )


def measure_in_words(documents: TablesDocuments) -> tuple[str, str | None]:
    """What is added up, and its unit; of several measures each with its unit, and none."""
    definition, contract = documents.definition, documents.contract
    units = {name: contract.by_name[name].unit for name in definition.measures}
    if units:
        said = [f"{name} ({unit})" if unit else name for name, unit in units.items()]
        return f"{', '.join(said[:-1])} and {said[-1]}", None
    measure = definition.measure.variable
    return measure or "number of records", contract.by_name[measure].unit if measure else None


def table_structure(
    documents: TablesDocuments, cells: Cells, published: PublishedCells, release: str, at: datetime
) -> bytes:
    """The structure of the SDMX-CSV files, for the dataflow that the definition names."""
    definition, contract = documents.definition, documents.contract
    form, (measure, unit) = definition.form, measure_in_words(documents)
    assert form.sdmx_dataflow is not None
    return sdmx_structure(
        release,
        at,
        cells.dimensions,
        form.sdmx_dataflow,
        definition.title,
        f"{measure}{f', in {unit}' if unit else ''}",
        time=form.time_period is not None,
        further=[
            *(["lower", "upper"] if published.interval else []),
            *(["synthetic"] if published.synthetic is not None else []),
        ],
        labels={each.name: contract.by_name[each.name].labels for each in cells.dimensions},
    )


def problems_of(
    documents: TablesDocuments, files: Mapping[str, Path], measures: Mapping[str, Cells], published: PublishedCells
) -> list[str]:
    """What is wrong with the files, in words without values; nothing when each tells what its cells' status allows.

    files    : name -> where it lies
    measures : column of the values -> the cells, of each measure
    """
    problems, left = [], dict(files)
    cells = next(iter(measures.values()))
    for table in documents.definition.tables:
        for ending, read in _READ.items():
            path = left.pop(f"{table.name}{ending}", None)
            if path is None:
                continue
            axes = [cells.dimensions[axis] for axis in axes_of(cells, table.dimensions)]
            further: dict[str, Any] = {"measures": _decimals(measures)}
            if ending == _SDMX:
                further = {"decimals": cells.decimals, "of_dataflow": cells.dimensions}
            further |= {"escaped": _is_escaped(documents)} if ending == ".csv" else {}
            content = read(path.read_bytes(), path.name, axes, **further)
            for measure, of in zip(content.measures, measures.values(), strict=True):
                wrong = discrepancies(
                    content.of(measure),
                    of,
                    published.status,
                    dimensions=table.dimensions,
                    value=published.value,
                    interval=published.interval,
                    synthetic=published.synthetic,
                    tell_primary=documents.definition.form.tell_primary,
                    tell_contributors=ending != _SDMX and documents.definition.tells_contributors,
                )
                column = f", {measure.name}" if len(measures) > 1 else ""
                problems += [f"{table.name}{ending}{column}: {problem}" for problem in wrong]
        if f"{table.name}.csv" not in files:
            problems.append(f"{table.name}.csv is missing")
    return problems + [f"{file} belongs to no table" for file in left]
