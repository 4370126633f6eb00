"""The Data Package descriptor: what a data user's tools read about a published data set, of records or of tables.

Source: the Data Package standard, version 2 (datapackage.org): Data Package and Data Resource. Custom properties, which
the standard allows, are `rows` and those that begin with `sluice:`.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from sluice.ground.variables import Kind, Variable, Variables
from sluice.publication.license import is_address, license_address
from sluice.publication.manifest import PublishedFile
from sluice.publication.published_table import PUBLISHED, SUPPRESSED, WORDS, PublishedTable, ValueColumn
from sluice.publication.spreadsheet_text import escaped_schema
from sluice.publication.table_schema import in_binary, table_schema
from sluice.tabular.model.cells import Status
from sluice.tabular.model.dimension import Dimension

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"

MEDIATYPE = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html",
    "json": "application/json",
    "dta": "application/x-stata-dta",
    "sav": "application/x-spss-sav",
}
_ESCAPED = "A text that a spreadsheet would take for a formula has ' in front; so has one that begins with '."
_TABULAR = ("csv", "parquet")  # what the standard's tools read as tables


def datapackage(
    name: str,
    title: str,
    dataset: str,
    parts: Sequence[tuple[Mapping[str, Any], Sequence[PublishedFile]]],
    description: str = "",
    *,
    not_released: Sequence[Mapping[str, Any]] = (),
    parameters: Sequence[Mapping[str, Any]] = (),
    not_published: Sequence[str] = (),
    escaped: bool = False,
    license_: str | None = None,
) -> dict[str, Any]:
    """The descriptor of a release, ready for `datapackage.json`.

    parts         : Table Schemas (see `table_schema`), each with the files that it describes: those that have `rows`
    not_released  : variables that were taken out, and why
    parameters    : of masking steps that an analyst has to correct for, such as PRAM's matrices
    not_published : sentences on marginals that are not published, so that nobody takes them for empty
    escaped       : whether texts of CSV files are in the form that spreadsheets show, see `spreadsheet_text`
    license_      : as `known_license` gives it
    """
    package: dict[str, Any] = {"$schema": PROFILE, "name": _slug(name), "title": title}
    if description:
        package["description"] = description
    if license_:
        named = {} if is_address(license_) else {"name": license_}
        package["licenses"] = [{**named, "path": license_address(license_)}]
    package["sluice:dataset"] = dataset
    if not_released:
        package["sluice:notReleased"] = list(not_released)
    if parameters:
        package["sluice:parameters"] = [dict(each) for each in parameters]
    package["resources"] = [_resource(file, schema, escaped) for schema, files in parts for file in files]
    if not_published:
        package["sluice:notPublished"] = list(not_published)
    return package


def as_json(package: Mapping[str, Any]) -> bytes:
    """The content of `datapackage.json`."""
    return json.dumps(package, indent=2, ensure_ascii=False).encode()


def _resource(file: PublishedFile, schema: Mapping[str, Any], escaped: bool) -> dict[str, Any]:
    ending = PurePosixPath(file.path).suffix.removeprefix(".").lower()
    resource: dict[str, Any] = {"name": _slug(file.path), "path": file.path}
    if ending:
        resource["format"] = ending
    if ending in MEDIATYPE:
        resource["mediatype"] = MEDIATYPE[ending]
    if ending in ("csv", "html", "json"):
        resource["encoding"] = "utf-8"
    if ending != "parquet":  # whose bytes frictionless does not count, and takes the count for wrong
        resource["bytes"] = file.bytes
    resource["hash"] = f"sha256:{file.sha256}"
    if file.rows is not None and ending in _TABULAR:
        resource |= {"type": "table", "rows": file.rows}
        resource["schema"] = in_binary(schema) if ending == "parquet" else escaped_schema(schema) if escaped else schema
        if escaped and ending == "csv":
            resource["sluice:escaped"] = _ESCAPED
    elif file.rows is not None:
        resource["type"] = "file"  # else frictionless looks for a reader that it does not bring
    return resource


def _slug(text: str) -> str:
    """The standard's form of a name: lower-case letters, digits, '.', '-' and '_'."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "data"


def records_datapackage(
    name: str,
    title: str,
    dataset: str,
    variables: Variables,
    what_was_done: Mapping[str, Sequence[str]],
    files: Sequence[PublishedFile],
    description: str = "",
    parameters: Sequence[Mapping[str, Any]] = (),
    with_time: Collection[str] = (),
    escaped: bool = False,
    license_: str | None = None,
) -> dict[str, Any]:
    """The descriptor of a release of records, ready for `datapackage.json`.

    variables     : those released, in the order of the files' columns
    what_was_done : variable -> sentences on its masking; a variable that was not released is listed apart
    files         : those with `rows` are tables of `variables`
    parameters    : of masking steps that an analyst has to correct for, such as PRAM's matrices
    with_time     : dates that are written with a time of day, see `columns_with_time`
    escaped       : whether texts of the CSV are in the form that spreadsheets show, see `spreadsheet_text`
    license_      : as `known_license` gives it
    """
    removed = [
        {"name": column, "sluice:maskedBy": list(sentences)}
        for column, sentences in what_was_done.items()
        if column not in variables
    ]
    parts = [(table_schema(variables, what_was_done, with_time), files)]
    return datapackage(
        name,
        title,
        dataset,
        parts,
        description,
        not_released=removed,
        parameters=parameters,
        escaped=escaped,
        license_=license_,
    )


_MEANING = {
    PUBLISHED: "the value is published",
    WORDS[Status.PRIMARY]: "suppressed: the value would reveal too much about a contributor",
    WORDS[Status.SECONDARY]: "suppressed: with the value, another suppressed one could be worked out",
    SUPPRESSED: "suppressed: to keep confidential what contributors reported",
}


def tables_datapackage(
    name: str,
    title: str,
    dataset: str,
    tables: Sequence[tuple[PublishedTable, Sequence[PublishedFile]]],
    measure: str,
    unit: str | None = None,
    protection: Sequence[str] = (),
    withheld: Sequence[str] = (),
    description: str = "",
    escaped: bool = False,
    license_: str | None = None,
    meanings: Variables | None = None,
) -> dict[str, Any]:
    """The descriptor of one or more tables, each with its files, ready for `datapackage.json`.

    tables     : at least one; a file with `rows` has the columns of its table, others (SDMX-CSV) are only listed
    measure    : what the values are, in words
    protection : sentences on how the table was protected
    withheld   : sentences on the marginals that are not published, so that nobody takes them for empty
    escaped    : whether codes of CSV files are in the form that spreadsheets show, see `spreadsheet_text`
    license_   : as `known_license` gives it
    meanings   : of the dimensions, and of several measures, as the contract describes and labels them
    """
    parts = [(_schema(table, measure, unit, protection, meanings or {}), files) for table, files in tables]
    return datapackage(
        name, title, dataset, parts, description, not_published=withheld, escaped=escaped, license_=license_
    )


def _schema(
    table: PublishedTable, measure: str, unit: str | None, protection: Sequence[str], meanings: Variables
) -> dict[str, Any]:
    done = dict.fromkeys((each.name for each in table.measures), protection)
    schema = table_schema(table_variables(table, measure, unit, meanings), done)
    for field, dimension in zip(schema["fields"], table.dimensions, strict=False):  # the first columns
        field["sluice:hierarchy"] = _hierarchy(dimension)
    return schema


def table_variables(table: PublishedTable, measure: str, unit: str | None, meanings: Variables) -> dict[str, Variable]:
    """The columns of a table's files as variables, in their order; arguments as in `tables_datapackage`."""
    number = Kind.CONTINUOUS if table.decimals else Kind.INTEGER
    words = tuple(word for word in _MEANING if word in set(table.status))
    variables = [
        *(_dimension(dimension, meanings.get(dimension.name)) for dimension in table.dimensions),
        Variable(
            name="status",
            kind=Kind.NOMINAL,
            description="What became of the cell. A cell that is not listed is empty or not published.",
            categories=words,
            labels={word: _MEANING[word] for word in words},
        ),
        *(
            _values(each, meanings.get(each.name))
            if table.others
            else Variable(name=each.name, kind=number, description=measure, unit=unit, nullable=True)
            for each in table.measures
        ),
    ]
    further = {
        "contributors": ("How many contributed to the cell; empty where the value is suppressed", Kind.INTEGER, None),
        "lower": ("The suppressed value is this or more", number, unit),
        "upper": ("The suppressed value is this or less", number, unit),
        "synthetic": (
            "Not the suppressed value, but a synthetic one, drawn from what is published alone: with it the table is "
            "complete and adds up",
            number,
            unit,
        ),
    }
    for column, (says, kind, of) in further.items():
        if column in table.columns:
            variables.append(Variable(name=column, kind=kind, description=says, unit=of, nullable=True))
    if table.is_total is not None:
        says = "1: the row is a sum of other rows. 0: it is not. Add up rows with 0 alone"
        variables.append(Variable(name="is_total", kind=Kind.INTEGER, description=says, minimum=0, maximum=1))
    return {variable.name: variable for variable in variables}


def _values(column: ValueColumn, known: Variable | None) -> Variable:
    """One of several measures, as the contract describes it."""
    return Variable(
        name=column.name,
        kind=Kind.CONTINUOUS if column.decimals else Kind.INTEGER,
        description=(known.description if known is not None else "") or column.name,
        unit=known.unit if known is not None else None,
        nullable=True,
    )


def _dimension(dimension: Dimension, known: Variable | None) -> Variable:
    meaning, labels = (known.description, known.labels) if known is not None else ("", {})
    return Variable(
        name=dimension.name,
        kind=Kind.NOMINAL,
        description=meaning,
        categories=dimension.codes,
        labels={code: labels[code] for code in dimension.codes if code in labels},
    )


def _hierarchy(dimension: Dimension) -> list[dict[str, Any]]:
    """Which code is the sum of which others; a code with two entries is a sum in two groupings."""
    codes = dimension.codes
    return [{"sum": codes[group], "parts": [codes[part] for part in parts]} for group, parts in dimension.sums]
