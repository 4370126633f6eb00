"""The JSON Schema of a document, for editors that complete and check YAML while it is typed."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sluice.custody.durable import replace

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_HIERARCHY_FILE = {
    "type": "object",
    "title": "HierarchyFile",
    "description": "a CSV file beside the contract: one leaf a row with its ever wider groups, no header",
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "additionalProperties": False,
}


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of what a person may write, which for a hierarchy is its rows or the file that holds them."""
    schema = model.model_json_schema(mode="validation")
    definitions = schema.get("$defs", {})
    if "Hierarchy" in definitions:
        definitions["Hierarchy"] = {"anyOf": [definitions["Hierarchy"], _HIERARCHY_FILE]}
    return {"$schema": _DIALECT, **schema}


def write_json_schema(model: type[BaseModel], path: Path) -> None:
    """Write the JSON Schema of a document model; the same model gives the same bytes."""
    replace(path, f"{json.dumps(json_schema(model), indent=2, ensure_ascii=False)}\n".encode(), 0o644)
