"""The JSON Schema of a document, for editors that complete and check YAML while it is typed."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from schemas.declared_hierarchy import hierarchy_forms
from sluice.ground.durable import replace

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of what a person may write, which for a hierarchy is any of its forms."""
    schema = model.model_json_schema(mode="validation")
    definitions = schema.get("$defs", {})
    if "Hierarchy" in definitions:
        definitions["Hierarchy"] = {"anyOf": hierarchy_forms()}
    return {"$schema": _DIALECT, **schema}


def write_json_schema(model: type[BaseModel], path: Path) -> None:
    """Write the JSON Schema of a document model; the same model gives the same bytes."""
    replace(path, f"{json.dumps(json_schema(model), indent=2, ensure_ascii=False)}\n".encode(), 0o644)
