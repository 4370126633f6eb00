"""The manifest: what was published, judged by what, allowed by whom. It is public, so it holds no seed, no place of
the vault, no source and no figure of the original data."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict

if TYPE_CHECKING:  # it loads what draws the report, which outsiders who verify do not need
    from sluice.report.dossier import Dossier

FORMAT = 1  # of the manifest itself


class PublishedFile(BaseModel):
    """One file of a release, as published."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1, description="relative to the release's folder")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
    rows: int | None = Field(default=None, ge=0, description="records; None: the file is no table of the variables")


class LedgerHead(BaseModel):
    """The ledger up to the row by which the publication was begun: it ties the manifest to that history.

    The root is that of the Merkle tree over the keyed hashes of these rows (`sluice.custody.ledger_chain`). Who keeps a
    manifest can have the ledger's keeper show that nothing before it was rewritten since.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    seq: int = Field(ge=1, description="number of the last row")
    hash: str = Field(pattern="^[0-9a-f]{64}$", description="of the last row")
    size: int = Field(ge=1, description="how many rows the tree has")
    root: str = Field(pattern="^[0-9a-f]{64}$")


class GivenApproval(BaseModel):
    """One person's approval, as it counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: str
    role: str | None = Field(description="the role that it fills; None when it counts by number alone")
    at: str = Field(description="ISO 8601, UTC")
    identity: Literal["key", "account", "declared"] = Field(
        description="key: it is signed; account: the system account that gave it is on the roster; declared: a name "
        "that was typed"
    )


class AcceptedFinding(BaseModel):
    """A finding that needed a decision, and that a person accepted for this release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    scope: str
    code: str
    by: str
    until: date = Field(description="last day on which it held, of those on which the publication could begin")
    reason: str


def accepted_findings(findings: Sequence[Finding]) -> tuple[AcceptedFinding, ...]:
    """Those that people accepted, in order."""
    return tuple(
        AcceptedFinding(
            rule=each.rule, scope=each.scope, code=each.code, by=said.by, until=said.until, reason=said.reason
        )
        for each in findings
        if (said := each.accepted)
    )


def build_manifest(
    dossier: "Dossier",
    approvals: Sequence[GivenApproval],
    files: Sequence[PublishedFile],
    ledger: LedgerHead,
    series: str | None = None,
) -> dict[str, Any]:
    """The manifest of a release, ready for `manifest.json`.

    dossier : what was evaluated and reviewed
    files   : all published files but those that describe them
    ledger  : as it was when the publication was begun
    series  : the earlier release that the approvals were given to, and with it to this one
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
        "series": series,
        "hashes": dict(sorted(dossier.hashes.items())),
        "files": [file.model_dump(mode="json") for file in sorted(files, key=lambda file: file.path)],
        "versions": dict(sorted(dossier.versions.items())),
        "ledger": ledger.model_dump(),
    }


def read_manifest(content: bytes) -> tuple[dict[str, Any], LedgerHead]:
    """What a manifest says, and the ledger that it was published on. Raises DataError for whatever is none."""
    try:
        manifest = json.loads(content, object_pairs_hook=_without_duplicates)
        if not isinstance(manifest, dict) or not isinstance(manifest.get("release"), str):
            raise ValueError("no release")
        return manifest, LedgerHead.model_validate(manifest.get("ledger"))
    except (ValueError, RecursionError):  # not UTF-8, not JSON, too deep, or another document
        raise DataError(f"is not a manifest of format {FORMAT}") from None


def _without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: two programs may read two things."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice")
    return content


def summary(findings: Sequence[Finding]) -> dict[str, Any]:
    """How many deciding findings ended in which verdict, every waiver, and what people accepted, where they did. The
    figures stay in the dossier."""
    deciding = Counter(finding.verdict for finding in findings if finding.binding)
    waived, accepted = [finding for finding in findings if finding.waiver], accepted_findings(findings)
    return {
        "deciding": {verdict.name: deciding[verdict] for verdict in Verdict},
        "reported_only": sum(not finding.binding for finding in findings),
        "waived": [{"rule": finding.rule, "scope": finding.scope, "waiver": finding.waiver} for finding in waived],
    } | ({"accepted": [each.model_dump(mode="json") for each in accepted]} if accepted else {})
