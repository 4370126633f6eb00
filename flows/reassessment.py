"""Reassessment: whether what is public would pass today, by the policies in force and the attacks that are known now.

Nothing is published, changed or taken back by it. It reads what the vault keeps: staged data, masked file and seed; of
a release of which any of these is gone nothing is known. Each result is a remark in the ledger.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from inspect import unwrap
from typing import Any

from policies.policy import Policy
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import IN_DOUBT, REASSESSED, State, TransitionError, state_of
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import document_sha256
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict, codes_of, decide, keeping_back
from sluice.software_version import versions
from tasks.failure import explain
from tasks.record_steps import check, evaluate
from tasks.release.decisions.office import open_office
from tasks.release.decisions.open_findings import decided
from tasks.release.decisions.signing_in import account
from tasks.release.decisions.under_review import UnderReview
from tasks.release.documented_release import Release
from tasks.release.editions.earlier_releases import is_out_of_reach
from tasks.release.products import release_as_judged
from tasks.release.records.record_product import Records
from tasks.release.records.release_comparison import masked_again
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import (
    MethodStatement,
    ProtectedTables,
    request_of,
    staged_and_published_cells,
)
from tasks.table_audit import audit
from tasks.table_protection import altered

_SAYS = Sentences(
    "reassessment",
    policy_lost="Its policy is lost, or of another version of Sluice, so nobody can judge it any more.",
    deleted="Its data were deleted by its policy's retention, so nobody can judge it any more.",
    not_any_more="It cannot be judged any more: {why}",
    failed="It could not be judged: {why}",
)

_PUBLIC = (State.PUBLISHED, State.SUPERSEDED)
_FURTHER = 5  # reasons beside the first in the ledger


@dataclass(frozen=True)
class Reassessment:
    """What became of one release.

    policy  : by which it was judged now, in words
    reasons : of what keeps it from passing, the worst first
    news    : whether that was not known before
    since   : how many other releases were published after it
    """

    release: str
    state: State
    policy: str
    verdict: Verdict
    reasons: tuple[str, ...]
    news: bool
    since: int

    @property
    def says(self) -> str:
        return self.reasons[0] if self.reasons else "It would pass today."


def reassess(workspace: Workspace, wanted: Collection[str] = (), trial: Policy | None = None) -> Iterator[Reassessment]:
    """Judge again what is public, each by the policy of its name that is in force, or else by its own.

    wanted  : ids; none: all
    trial   : a policy to judge by in their place: all releases of a policy of that name or one that cannot be read, or
              those wanted. Where it is not the one in force, nothing is recorded
    raises  : SluiceError for an unknown id, and when the ledger is not whole
    cost    : of masking and judging each release
    """
    if problems := workspace.ledger.verify():
        raise SluiceError(f"the ledger is not whole, so what is public is unknown: {'; '.join(problems)}")
    histories = workspace.ledger.histories()
    public = {name: entries for name, entries in histories.items() if _state(entries) in _PUBLIC}
    for name in wanted:
        if name not in public:
            raise SluiceError(f"no release '{name}' is public.{did_you_mean(name, public)} See: sluice ledger status")
    for name, entries in public.items():
        if wanted and name not in wanted:
            continue
        received = last(entries, State.RECEIVED)
        assert received is not None
        since = sum(_published_at(other) > _published_at(entries) for other in public.values())
        try:
            own = _policy(workspace, received.body["policy"])
        except (SluiceError, ValueError):  # of this one release: the others are judged all the same
            lost = [_unknown(_SAYS.policy_lost())]
            sha256 = received.body["policy"]
            yield _concluded(workspace, entries, "that cannot be read", sha256, lost, since, recorded=trial is None)
            continue
        if trial is not None and trial.name != own.name and not wanted:
            continue
        in_force = _in_force(workspace, own.name)
        policy = trial or in_force or own
        found = _judged(workspace, entries, policy)
        recorded = trial is None or (in_force is not None and document_sha256(trial) == document_sha256(in_force))
        called = f"'{policy.name}', version {policy.version}"
        yield _concluded(workspace, entries, called, document_sha256(policy), found, since, recorded)


def _judged(workspace: Workspace, entries: Sequence[Entry], policy: Policy) -> list[Finding]:
    """The findings that decide, with the waivers of today and what people accepted for the publication, where it is
    found again as it was; one UNKNOWN where it cannot be judged any more."""
    if is_out_of_reach(workspace, entries):
        return [_unknown(_SAYS.deleted())]
    try:
        release = release_as_judged(workspace, entries)
        release = replace(release, product=replace(release.product, policy=policy))
        findings = _records(release) if isinstance(release.product, Records) else _tables(release)
    except SluiceError as error:
        return [_unknown(_SAYS.not_any_more(why=str(error)))]
    except Exception as error:  # of a library: its text may hold values
        return [_unknown(_SAYS.failed(why=explain(error)))]
    case = UnderReview.of(workspace, release.id, last(entries, State.PUBLISHING))
    return decided(case).apply(release.product.waived(findings, datetime.now(UTC).date()))


def _records(release: Release[Any]) -> list[Finding]:
    """The steps themselves, without what records their failures: these would be none of the release's."""
    masked = masked_again(release)
    found: list[Finding] = [*unwrap(check)(release, masked), *unwrap(evaluate)(release, masked).findings]
    return found


def _tables(release: Release[Any]) -> list[Finding]:
    staged, cells, _ = staged_and_published_cells(release)
    masked = last(release.entries(), State.MASKED)
    assert masked is not None
    method, statement = release.product.definition.protection, None
    if not isinstance(method, SecondarySuppression):
        statement = MethodStatement.of(altered(release, cells, request_of(release, cells), method))
    files = json.loads(release.vault.verify(masked.body["data"], ".json").read_bytes())
    body = masked.body
    protected = ProtectedTables(body["data"], files, body["published_cells"], statement, body.get("proofs"))
    found: list[Finding] = [*unwrap(audit)(release, staged, protected).findings]
    return found


def _unknown(says: Saying) -> Finding:
    return Finding(rule="reassessment", verdict=Verdict.UNKNOWN, stage="masked", **as_fields(says))


def _concluded(
    workspace: Workspace,
    entries: Sequence[Entry],
    called: str,
    policy: str,
    findings: Sequence[Finding],
    since: int,
    recorded: bool,
) -> Reassessment:
    verdict = decide(findings)
    against = keeping_back(findings)
    reasons = tuple(finding.says for finding in against)
    release, state = entries[0].release, _state(entries)
    assert state is not None
    found = Reassessment(release, state, called, verdict, reasons, news=False, since=since)
    body = {
        "verdict_now": verdict.name,
        "says": found.says,
        "further_reasons": list(reasons[1 : 1 + _FURTHER]),
        "policy": policy,
    }
    before = next((entry for entry in reversed(entries) if entry.event in (REASSESSED, IN_DOUBT)), None)
    known = before is not None and all(before.body[name] == body[name] for name in body)
    found = replace(found, news=verdict is not Verdict.PASS and not known)
    if recorded:
        event = IN_DOUBT if found.news else REASSESSED
        remark = {**body, "codes": codes_of(against), "published_since": since, "versions": versions()}
        with suppress(TransitionError):  # it was withdrawn meanwhile
            workspace.ledger.append(release, event, account(), remark, _PUBLIC)
    return found


def _policy(workspace: Workspace, sha256: str) -> Policy:
    return Policy.model_validate_json(workspace.vault.verify(sha256, ".json").read_bytes())


def _in_force(workspace: Workspace, name: str) -> Policy | None:
    office = open_office(workspace)
    held = office.in_force.get(("policy", name)) if office else None
    return _policy(workspace, held.adoption.sha256) if held else None


def _state(entries: Sequence[Entry]) -> State | None:
    return state_of(entry.event for entry in entries)


def _published_at(entries: Sequence[Entry]) -> int:
    published = last(entries, State.PUBLISHED)
    return published.seq if published else 0
