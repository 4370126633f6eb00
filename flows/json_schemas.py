"""The documents that people write, each with the place of its JSON Schema below the project's root."""

from pydantic import BaseModel

from policies.policy import Policy
from schemas.contract import Contract
from sluice.sources.connections import Connections
from tasks.release.records.definition import RecordsDefinition
from tasks.release.tables.definition import TablesDefinition
from tasks.tuning.space import SpaceOfPlans

DOCUMENTS: dict[str, type[BaseModel]] = {
    "schemas/contract.schema.json": Contract,
    "policies/policy.schema.json": Policy,
    "deployments/release.schema.json": RecordsDefinition,
    "deployments/tuning.schema.json": SpaceOfPlans,
    "deployments/tables.schema.json": TablesDefinition,
    "deployments/connections.schema.json": Connections,
}
