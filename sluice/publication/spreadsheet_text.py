"""Texts that a spreadsheet would run as formulas, and the form of them that it shows as they are.

Source: OWASP, "CSV Injection": a cell is a formula by its first character, = + - @ or a tab or line end, in full width,
too, and a quote in front makes it a text. A spreadsheet that takes another separator than the comma splits a cell at
that: so each part counts, and gets a quote of its own. The quote is undone by `as_it_was`, so nothing is lost by it.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_SPLITS = r"[;|\t\r\n]"  # where a spreadsheet of another country, or one that is told so, begins a new cell
_BLANKS = r"(?:[^\S\t\r\n]|\ufeff)*"  # within a part: behind a tab or a line end the next one begins
_BEGINS = rf"{_BLANKS}[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]"
_FORMULA = re.compile(rf"(?:^|{_SPLITS})(?:{_BEGINS})")
_TO_QUOTE = re.compile(rf"(^|{_SPLITS})(?={_BEGINS}|')")  # a quote that is there already gets a second one
_QUOTED = re.compile(rf"(^|{_SPLITS})'(?={_BEGINS}|')")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take it, or a part of it, for a formula."""
    return _FORMULA.search(text) is not None


def as_text(text: str) -> str:
    """The form that a spreadsheet shows as it is. Different texts have different forms."""
    return _TO_QUOTE.sub(r"\1'", text)


def as_it_was(text: str) -> str:
    """The text whose form `as_text` gave."""
    return _QUOTED.sub(r"\1", text)


def columns_with_formulas(frame: "pd.DataFrame") -> list[str]:
    """Columns that have a formula for a name, or for a text or category that a record has."""
    return [
        str(name)
        for name in frame.columns
        if is_formula(str(name))
        or (frame[name].dtype.kind == "O" and any(is_formula(str(text)) for text in frame[name].dropna().unique()))
    ]


def escaped_frame(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The same records with names and texts in that form; numbers and dates stay what they are."""
    import pandas as pd  # which whoever only verifies a folder need not load

    forms: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.rename_categories([as_text(str(each)) for each in column.cat.categories])
        elif column.dtype.kind == "O":
            column = column.map(lambda text: as_text(str(text)), na_action="ignore")
        forms[as_text(str(name))] = column
    return pd.DataFrame(forms, index=frame.index)


def escaped_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The Table Schema of a file whose texts are in that form, and that says so."""
    return {**schema, "fields": [_escaped_field(field) for field in schema["fields"]]}


def _escaped_field(field: Mapping[str, Any]) -> dict[str, Any]:
    changed = {**field, "name": as_text(field["name"])}
    if "categories" in field:
        changed["categories"] = [
            {**each, "value": as_text(each["value"])} if isinstance(each, dict) else as_text(each)
            for each in field["categories"]
        ]
    if "sluice:hierarchy" in field:
        changed["sluice:hierarchy"] = [
            {"sum": as_text(each["sum"]), "parts": [*map(as_text, each["parts"])]} for each in field["sluice:hierarchy"]
        ]
    if "enum" in field.get("constraints", {}):
        changed["constraints"] = {**field["constraints"], "enum": [*map(as_text, field["constraints"]["enum"])]}
    return changed
