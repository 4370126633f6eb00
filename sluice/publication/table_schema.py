"""The Table Schema of a published file: what a data user's tools read about its columns.

Source: the Data Package standard, version 2 (datapackage.org): Table Schema. Custom properties, which the standard
allows, are `unit` and those that begin with `sluice:`.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable, Variables

_TYPE = {
    Kind.CONTINUOUS: "number",
    Kind.INTEGER: "integer",
    Kind.ORDINAL: "string",
    Kind.NOMINAL: "string",
    Kind.BINARY: "string",
    Kind.DATE: "date",
    Kind.TEXT: "string",
    Kind.ITEMS: "list",
}
_KIND = {
    "number": Kind.CONTINUOUS,
    "integer": Kind.INTEGER,
    "string": Kind.TEXT,
    "date": Kind.DATE,
    "datetime": Kind.DATE,
    "list": Kind.ITEMS,
}
_NO_VALUE = {"number": ["nan"], "integer": ["nan"], "date": ["NaT"], "datetime": ["NaT"]}


def table_schema(
    variables: Variables, what_was_done: Mapping[str, Sequence[str]], with_time: Collection[str] = ()
) -> dict[str, Any]:
    """The schema of a file with these columns in their order.

    what_was_done : variable -> sentences on its masking or protection
    with_time     : dates that are written with a time of day
    """
    fields = []
    for column, variable in variables.items():
        kind = "datetime" if column in with_time else _TYPE[variable.kind]
        fields.append(_field(variable, kind, what_was_done.get(column, ())))
    return {"fields": fields, "missingValues": [""]}


def in_binary(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a Parquet file with the same columns.

    What is null there, pandas and what reads by it hold as nan or NaT, of whole numbers, too; these count as missing.
    """
    fields = [
        field | {"missingValues": ["", *_NO_VALUE[field["type"]]]} if field["type"] in _NO_VALUE else field
        for field in schema["fields"]
    ]
    return {**schema, "fields": fields}


def variables_of(schema: Mapping[str, Any]) -> dict[str, Variable]:
    """The variables that a schema of `table_schema` describes, as far as a reader of the file needs them.

    Raises DataError for a schema in another form.
    """
    try:
        return {field["name"]: _variable(field) for field in schema["fields"]}
    except (KeyError, TypeError, ValueError):
        raise DataError("datapackage.json describes a file in no form that this version knows") from None


def _variable(field: Mapping[str, Any]) -> Variable:
    listed = field.get("categories")
    values = [each["value"] if isinstance(each, dict) else each for each in listed or ()]
    labels = {each["value"]: each["label"] for each in listed or () if isinstance(each, dict) and "label" in each}
    labels |= field.get("sluice:labels", {})
    kind = _KIND[field["type"]]
    if listed is not None:
        kind = Kind.ORDINAL if field.get("categoriesOrdered") else Kind.NOMINAL
    return Variable(
        name=field["name"],
        kind=kind,
        description=field.get("description", ""),
        unit=field.get("unit"),
        categories=tuple(values) if listed is not None else None,
        labels=labels,
        separator=field.get("delimiter"),
        nullable=True,
    )


def _field(variable: Variable, kind: str, sentences: Sequence[str]) -> dict[str, Any]:
    field: dict[str, Any] = {"name": variable.name, "type": kind}
    if variable.description:
        field["description"] = variable.description
    if variable.unit:
        field["unit"] = variable.unit
    if variable.universe:
        field["sluice:universe"] = variable.universe
    if variable.categories is not None:
        field["categories"] = _categories(variable.categories, variable.labels)
        field["categoriesOrdered"] = variable.kind is Kind.ORDINAL
    elif variable.kind.is_numeric and variable.labels_of_values:
        field["sluice:labels"] = variable.labels_of_values
    if variable.kind is Kind.ITEMS:
        field |= {"itemType": "string", "delimiter": variable.between_items}
    if variable.items is not None:
        field["sluice:items"] = list(variable.items)
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
