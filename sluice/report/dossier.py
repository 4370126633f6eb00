"""The dossier: all that a reviewer is shown of one evaluated release. Aggregates and document texts, no record."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sluice.report.table_dossier import TableSummary
from sluice.risk.reference.curve import Curve
from sluice.utility.variable_summary import VariableSummary
from sluice.verdict import Finding, Verdict


class Dossier(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    release: str = Field(description="id of the release")
    name: str = Field(description="name of the release definition")
    title: str
    dataset: str
    contract_version: str
    policy: str
    policy_version: str
    submitter: str
    evaluated_at: str = Field(description="ISO 8601, UTC")
    verdict: Verdict
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...] = ()
    variables: tuple[VariableSummary, ...] = ()
    plan: tuple[str, ...] = Field(description="one sentence a masking step, in order")
    parameters: tuple[dict[str, Any], ...] = Field(
        default=(), description="of the steps that an analyst of the file has to correct for, such as PRAM's matrices"
    )
    approvals_needed: str = Field(description="in words: how many, which roles, how long an approval holds")
    records_original: int
    records_holdout: int
    records_released: int = Field(default=0, description="0 for tables, which hold none")
    measure: str | None = Field(default=None, description="of tables: what is counted or summed, in words")
    unit: str | None = None
    tables: tuple[TableSummary, ...] = ()
    earlier_attempts: int = Field(description="other releases of the same data that were judged before this one")
    minimum_cell: int = Field(ge=1, description="counts below this are not shown")
    hashes: dict[str, str] = Field(description="SHA-256 of data, csv, contract, policy, plan")
    versions: dict[str, str] = Field(description="Sluice and the libraries that computed the figures")
