"""The Data Package descriptor: what a data user's tools read about a published data set.

Sources: the Data Package standard, version 2 (datapackage.org): Data Package, Data Resource and Table Schema. Custom
properties, which the standard allows, are `unit`, `rows` and those that begin with `sluice:`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sluice.variables import Kind, Variable, Variables

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"

_TYPE = {
    Kind.CONTINUOUS: "number",
    Kind.INTEGER: "integer",
    Kind.ORDINAL: "string",
    Kind.NOMINAL: "string",
    Kind.BINARY: "string",
    Kind.DATE: "date",
    Kind.TEXT: "string",
}
_MEDIATYPE = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html",
    "json": "application/json",
}


class PublishedFile(BaseModel):
    """One file of a release, as published."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1, description="relative to the release's folder")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
    rows: int | None = Field(default=None, ge=0, description="records; None: the file is no table of the variables")


def build_datapackage(
    name: str,
    title: str,
    dataset: str,
    variables: Variables,
    what_was_done: Mapping[str, Sequence[str]],
    resources: Sequence[PublishedFile],
    description: str = "",
    parameters: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The descriptor of a release, ready for `datapackage.json`.

    variables     : those released, in the order of the files' columns
    what_was_done : variable -> sentences on its masking; a variable that was not released is listed apart
    resources     : the files; those with `rows` are tables of `variables`
    parameters    : of masking steps that an analyst has to correct for, such as PRAM's matrices
    """
    schema = {
        "fields": [_field(variable, what_was_done.get(column, ())) for column, variable in variables.items()],
        "missingValues": [""],
    }
    package: dict[str, Any] = {"$schema": PROFILE, "name": _slug(name), "title": title}
    if description:
        package["description"] = description
    package["sluice:dataset"] = dataset
    removed = [
        {"name": column, "sluice:maskedBy": list(sentences)}
        for column, sentences in what_was_done.items()
        if column not in variables
    ]
    if removed:
        package["sluice:notReleased"] = removed
    if parameters:
        package["sluice:parameters"] = [dict(told) for told in parameters]
    package["resources"] = [_resource(file, schema) for file in resources]
    return package


def _resource(file: PublishedFile, schema: dict[str, Any]) -> dict[str, Any]:
    ending = PurePosixPath(file.path).suffix.removeprefix(".").lower()
    resource: dict[str, Any] = {"name": _slug(file.path), "path": file.path}
    if ending:
        resource["format"] = ending
    if ending in _MEDIATYPE:
        resource["mediatype"] = _MEDIATYPE[ending]
    if ending in ("csv", "html", "json"):
        resource["encoding"] = "utf-8"
    resource |= {"bytes": file.bytes, "hash": f"sha256:{file.sha256}"}
    if file.rows is not None:
        resource |= {"type": "table", "rows": file.rows, "schema": schema}
    return resource


def _field(variable: Variable, sentences: Sequence[str]) -> dict[str, Any]:
    field: dict[str, Any] = {"name": variable.name, "type": _TYPE[variable.kind]}
    if variable.description:
        field["description"] = variable.description
    if variable.unit:
        field["unit"] = variable.unit
    if variable.categories is not None:
        field["categories"] = _categories(variable.categories, variable.labels)
        field["categoriesOrdered"] = variable.kind is Kind.ORDINAL
    constraints: dict[str, Any] = {"required": True} if not variable.nullable else {}
    if variable.categories is not None:
        constraints["enum"] = list(variable.categories)  # for readers of version 1, which has no categories
    for bound, value in (("minimum", variable.minimum), ("maximum", variable.maximum)):
        if value is not None and not (isinstance(value, float) and not math.isfinite(value)):
            whole = isinstance(value, float) and variable.kind is Kind.INTEGER and value.is_integer()
            constraints[bound] = int(value) if whole else value
    if constraints:
        field["constraints"] = constraints
    if sentences:
        field["sluice:maskedBy"] = list(sentences)
    return field


def _categories(categories: Sequence[str], labels: Mapping[str, str]) -> list[str] | list[dict[str, str]]:
    """Plain values, or values with labels; the standard wants labels unique, so one given twice carries its value."""
    known = [labels[category] for category in categories if category in labels]
    if not known:
        return list(categories)
    described = []
    for category in categories:
        entry = {"value": category}
        if category in labels:
            label = labels[category]
            entry["label"] = label if known.count(label) == 1 else f"{label} ({category})"
        described.append(entry)
    return described


def _slug(text: str) -> str:
    """The standard's form of a name: lower-case letters, digits, '.', '-' and '_'."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "data"
