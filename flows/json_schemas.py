"""The documents that people write, each with the place of its JSON Schema below the project's root.

The JSON Schema of a document, for editors that complete and check YAML while it is typed.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from policies.policy import Policy
from schemas.contract import Contract
from schemas.declared_hierarchy import hierarchy_forms
from sluice.ground.durable import replace
from sluice.sources.connections import Connections
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.tables.definition import TablesDefinition
from tasks.tuning.space import SpaceOfPlans

_DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS: dict[str, type[BaseModel]] = {
    "schemas/contract.schema.json": Contract,
    "policies/policy.schema.json": Policy,
    "deployments/release.schema.json": RecordsDefinition,
    "deployments/tuning.schema.json": SpaceOfPlans,
    "deployments/tables.schema.json": TablesDefinition,
    "deployments/connections.schema.json": Connections,
}


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
