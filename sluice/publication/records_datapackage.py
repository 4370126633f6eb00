"""The Data Package descriptor of a release of records."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sluice.ground.variables import Variables
from sluice.publication.datapackage import PublishedFile, datapackage
from sluice.publication.table_schema import table_schema


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
