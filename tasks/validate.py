"""Validate: the data are what their contract says, record by record and as a whole."""

from collections.abc import Sequence

from schemas.checks.expectations_run import check_batch
from schemas.checks.frame_check import check_frame
from schemas.checks.profile import Profile
from schemas.checks.sentinels import check_sentinels
from sluice.custody.editions import before, line_of
from sluice.custody.ledger import last
from sluice.custody.states import State
from sluice.ground.verdict import Finding, Verdict, decide
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
    """Great Expectations, on the records that were staged: what is released is what is checked."""
    docs = release.product.workspace.data_docs / release.product.definition.name
    earlier = _profile_before(release)
    return check_batch(release.product.contract, release.read_staged(), profile=earlier, docs=docs)


def _profile_before(release: DocumentedRelease) -> Profile | None:
    """Of the edition on the shelf that comes before this one; what was withdrawn is nothing to be like."""
    earlier = before(*line_of(release.product.workspace.ledger.histories(), release.id))
    published = last(earlier.entries, State.PUBLISHED) if earlier else None
    if published is None:
        return None
    kept = release.vault.verify(published.body["profile"], ".json")
    return Profile.model_validate_json(kept.read_bytes())
