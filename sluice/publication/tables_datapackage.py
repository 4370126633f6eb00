"""The Data Package descriptor of a release of tables; see `sluice.publication.datapackage` for the standard."""

from collections.abc import Sequence
from typing import Any

from sluice.ground.variables import Kind, Variable
from sluice.publication.datapackage import PublishedFile, datapackage
from sluice.publication.published_table import PUBLISHED, SUPPRESSED, WORDS, PublishedTable
from sluice.publication.table_schema import table_schema
from sluice.tabular.model.cells import Status
from sluice.tabular.model.dimension import Dimension

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
) -> dict[str, Any]:
    """The descriptor of one or more tables, each with its files, ready for `datapackage.json`.

    tables     : at least one; a file with `rows` has the columns of its table, others (SDMX-CSV) are only listed
    measure    : what the values are, in words
    protection : sentences on how the table was protected
    withheld   : sentences on the marginals that are not published, so that nobody takes them for empty
    escaped    : whether codes of CSV files are in the form that spreadsheets show, see `spreadsheet_text`
    license_   : as `known_license` gives it
    """
    parts = [(_schema(table, measure, unit, protection), files) for table, files in tables]
    return datapackage(
        name, title, dataset, parts, description, not_published=withheld, escaped=escaped, license_=license_
    )


def _schema(table: PublishedTable, measure: str, unit: str | None, protection: Sequence[str]) -> dict[str, Any]:
    schema = table_schema(_variables(table, measure, unit), {"value": protection})
    for field, dimension in zip(schema["fields"], table.dimensions, strict=False):  # the first columns
        field["sluice:hierarchy"] = _hierarchy(dimension)
    return schema


def _variables(table: PublishedTable, measure: str, unit: str | None) -> dict[str, Variable]:
    number = Kind.CONTINUOUS if table.decimals else Kind.INTEGER
    words = tuple(word for word in _MEANING if word in set(table.status))
    variables = [
        *(Variable(name=d.name, kind=Kind.NOMINAL, categories=d.codes) for d in table.dimensions),
        Variable(
            name="status",
            kind=Kind.NOMINAL,
            description="What became of the cell. A cell that is not listed is empty or not published.",
            categories=words,
            labels={word: _MEANING[word] for word in words},
        ),
        Variable(name="value", kind=number, description=measure, unit=unit, nullable=True),
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
    return {variable.name: variable for variable in variables}


def _hierarchy(dimension: Dimension) -> list[dict[str, Any]]:
    """Which code is the sum of which others; a code with two entries is a sum in two groupings."""
    codes = dimension.codes
    return [{"sum": codes[group], "parts": [codes[part] for part in parts]} for group, parts in dimension.sums]
