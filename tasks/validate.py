"""Validate: the data are what their contract says, record by record and as a whole."""

from collections.abc import Sequence

from schemas.checks.expectations_run import check_batch, check_sql, runs_at_source
from schemas.checks.frame_check import check_frame
from schemas.checks.profile import Profile
from schemas.checks.sentinels import check_sentinels
from sluice.custody.states import State
from sluice.sources.sources import SqlSource
from sluice.verdict import Finding, Verdict, decide
from tasks.release.findings import findings_of
from tasks.release.release import DocumentedRelease
from tasks.step import step


@step
def validate(release: DocumentedRelease) -> list[Finding]:
    """The findings of the contract; the state becomes `validated` when nothing in them stands against going on."""
    findings = [
        *findings_of("contract", "contract", lambda: check_frame(release.read_staged(), release.product.contract)),
        *findings_of("sentinels", "contract", lambda: check_sentinels(release.read_staged(), release.product.contract)),
        *findings_of("expectations", "contract", lambda: _expectations(release)),
    ]
    if is_sound(findings):
        release.record(State.VALIDATED, checks=len(findings))
    return findings


def is_sound(findings: Sequence[Finding]) -> bool:
    """Whether masking may begin: data that broke their contract would make every later figure meaningless."""
    return decide(findings) is Verdict.PASS


def _expectations(release: DocumentedRelease) -> list[Finding]:
    """Great Expectations, in the warehouse where it can, on the staged batch where it cannot."""
    source, contract = release.product.definition.source, release.product.contract
    docs = release.product.workspace.data_docs / release.product.definition.name
    earlier = _last_published_profile(release)
    if not isinstance(source, SqlSource) or not runs_at_source(source.connection_url()):
        return check_batch(contract, release.read_staged(), profile=earlier, docs=docs)
    findings = check_sql(contract, source.connection_url(), source.table, source.query, profile=earlier, docs=docs)
    if contract.freshness or contract.drift:
        # The source may have been loaded anew since it was read. What is released is what was staged; all other
        # checks of the staged batch are made record by record in any case.
        staged = check_batch(contract, release.read_staged(), profile=earlier)
        findings += [finding for finding in staged if finding.rule in ("freshness", "drift")]
    return findings


def _last_published_profile(release: DocumentedRelease) -> Profile | None:
    ledger = release.product.workspace.ledger
    published = [
        entry
        for entry in ledger.entries()
        if entry.event == State.PUBLISHED and entry.body["definition"] == release.product.definition.name
    ]
    if not published:
        return None
    kept = release.vault.verify(published[-1].body["profile"], ".json")
    return Profile.model_validate_json(kept.read_bytes())
