"""The manifest: what was published, judged by what, allowed by whom. It is public, so it holds no seed, no place of
the vault, no source and no figure of the original data."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sluice.publication.datapackage import PublishedFile
from sluice.report.dossier import Dossier
from sluice.verdict import Finding, Verdict

FORMAT = 1  # of the manifest itself


class GivenApproval(BaseModel):
    """One person's approval, as it counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: str
    role: str | None = Field(description="the role that it fills; None when it counts by number alone")
    at: str = Field(description="ISO 8601, UTC")
    identity: Literal["account", "declared"] = Field(
        description="account: the name of the system account that gave it; declared: a name that was typed"
    )


def build_manifest(
    dossier: Dossier,
    approvals: Sequence[GivenApproval],
    files: Sequence[PublishedFile],
    ledger_seq: int,
    ledger_hash: str,
) -> dict[str, Any]:
    """The manifest of a release, ready for `manifest.json`.

    dossier                 : what was evaluated and reviewed
    files                   : all published files but the manifest and the checksums
    ledger_seq, ledger_hash : the ledger's last row when it was written; ties the manifest to that history
    """
    return {
        "manifest": FORMAT,
        "release": dossier.release,
        "name": dossier.name,
        "title": dossier.title,
        "dataset": dossier.dataset,
        "contract_version": dossier.contract_version,
        "policy": {"name": dossier.policy, "version": dossier.policy_version},
        "evaluated_at": dossier.evaluated_at,
        "verdict": dossier.verdict.name,
        "findings": summary(dossier.findings),
        "plan": list(dossier.plan),
        "records": dossier.view.records_released,
        "approvals": [approval.model_dump(mode="json") for approval in approvals],
        "hashes": dict(sorted(dossier.hashes.items())),
        "files": [file.model_dump(mode="json") for file in sorted(files, key=lambda file: file.path)],
        "versions": dict(sorted(dossier.versions.items())),
        "ledger": {"seq": ledger_seq, "hash": ledger_hash},
    }


def summary(findings: Sequence[Finding]) -> dict[str, Any]:
    """How many deciding findings ended in which verdict, and every waiver. The figures stay in the dossier."""
    deciding = Counter(finding.verdict for finding in findings if finding.binding)
    waived = [finding for finding in findings if finding.waiver]
    return {
        "deciding": {verdict.name: deciding[verdict] for verdict in Verdict},
        "reported_only": sum(not finding.binding for finding in findings),
        "waived": [{"rule": finding.rule, "scope": finding.scope, "waiver": finding.waiver} for finding in waived],
    }
