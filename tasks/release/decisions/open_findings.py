"""Open findings: what keeps a release back until people decide on it, and what comes of their decisions.

A release whose worst deciding finding is REVIEW needs a decision: somebody in a role of the policy's
`approvals.decides` accepts each such finding for this release, or refuses one. With the last acceptance its dossier and
report are made anew, which name the findings as accepted, and its approvals are asked for: they are bound to what was
accepted, too. Where an acceptance ends before the publication, the release needs a decision again, and then approvals.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from policies.acceptances import (
    NOTHING_DECIDED,
    FindingDecision,
    FindingDecisions,
    decisions_on_findings,
    finding_predicate,
    finding_sha256,
    latest_day,
    needs_decision,
    refuse_thin_reason,
)
from policies.approvals import Subject
from policies.decision_table import DECISIONS
from policies.key_history import key_history
from sluice.custody.clock import refuse_wrong_clock
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State, Who
from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Finding, Verdict, codes_of, decide
from tasks.release.decisions.signing_in import Credentials, Request, account, act, refuse_unseen, refuse_unverifiable
from tasks.release.decisions.under_review import UnderReview
from tasks.release.run_notes import notes

if TYPE_CHECKING:
    from sluice.report.dossier import Dossier

_SHORTEST_ID = 8  # characters of a finding's SHA-256 that name it


def opened(case: UnderReview) -> Entry | None:
    """The evaluation that left findings open, among those since the data were received last."""
    received = last(case.entries, State.RECEIVED)
    since = [entry for entry in case.entries if received is None or entry.seq > received.seq]
    return last([entry for entry in since if "open" in entry.body], State.EVALUATED)


def decided(case: UnderReview) -> FindingDecisions:
    """What was decided on the findings of a release, as far as it holds at the time of `case`."""
    evaluated = opened(case)
    if evaluated is None:
        return NOTHING_DECIDED
    bound, now = Subject(**evaluated.body["subject"]), case.subject
    if bound.model_copy(update={"report": now.report, "dossier": now.dossier}) != now:  # other files or documents
        return NOTHING_DECIDED
    since = [entry for entry in case.entries if entry.seq > evaluated.seq]
    return decisions_on_findings(
        since, bound.digest(), case.policy.approvals, case.submitters, case.office.roster, case.now, case.office.id
    )


def left_open(case: UnderReview) -> Mapping[str, str]:
    """The findings on which nobody decided yet, or not any more: SHA-256 -> code."""
    evaluated = opened(case)
    if evaluated is None:
        return {}
    accepted = decided(case).accepted
    return {sha256: code for sha256, code in evaluated.body["open"].items() if sha256 not in accepted}


def open_codes(findings: list[Finding]) -> dict[str, str]:
    """What the ledger keeps of the findings that need a decision: SHA-256 -> code. No figure, no name of data."""
    return {finding_sha256(each): each.code or each.rule for each in findings if needs_decision(each)}


@dataclass(frozen=True)
class OpenFinding:
    """One that is for people to decide."""

    id: str  # SHA-256
    finding: Finding  # marked with its acceptance, where there is one

    @property
    def short(self) -> str:
        """Enough of the id to name it in a command."""
        return self.id[:_SHORTEST_ID]


def open_findings(case: UnderReview) -> list[OpenFinding]:
    """The findings that need, or needed, a decision; each with its acceptance where that holds.

    raises : SluiceError when the vault does not hold the dossier as it was
    """
    evaluated = opened(case)
    if evaluated is None:
        return []
    found = [each for each in _dossier(case, evaluated).findings if needs_decision(each)]
    return [OpenFinding(finding_sha256(each), each) for each in decided(case).apply(found)]


def decide_finding(
    workspace: Workspace,
    release_id: str,
    decision: FindingDecision,
    named: str,
    credentials: Credentials,
    reason: str,
    until: date | None = None,
    seen: str | None = None,
) -> str | Request:
    """Record what one person decides on a finding, and what comes of it.

    named  : the finding: its code, its rule, or the first characters of its SHA-256
    reason : the public reads it, where the finding is accepted
    until  : last day of the acceptance; None: as long as the policy's approvals hold
    seen   : the digest of what its giver had before them, where a page says so; None: of what is open now
    returns: a sentence on where the release stands now; what is to be signed, where that is all that is asked
    raises : SluiceError when it could not count
    """
    refuse_unseen("reason", reason)
    with locked(notes(workspace) / f"{release_id}.lock"):  # two who decide at once: one after the other
        rule, case = DECISIONS[decision], UnderReview.of(workspace, release_id)
        rule.check_state(release_id, workspace.ledger.state(release_id))
        refuse_thin_reason(reason)
        if decision == "accept_finding":
            refuse_wrong_clock(workspace.ledger)  # a refusal is safe at any time
        evaluated = opened(case)
        if evaluated is None:
            raise SluiceError(f"{release_id} was not judged by this version: run sluice release FILE again")
        bound = Subject(**evaluated.body["subject"])
        if seen not in (None, bound.digest()):
            raise SluiceError(f"{release_id} was judged again since you read it: look at it once more, then decide")
        chosen = _named(case, evaluated, named)
        if chosen.finding.accepted and decision == "accept_finding":
            return f"{release_id}: this finding is accepted already, by {chosen.finding.accepted.says}"

        def day(at: str) -> str | None:
            if decision == "refuse_finding":
                return None
            most = latest_day(datetime.fromisoformat(at), case.policy.approvals)
            if until is not None and not datetime.now(UTC).date() <= until <= most:
                raise SluiceError(f"until must be a day from today to {most}; got {until}", field="until")
            return (until or most).isoformat()

        said = act(
            case.office.roster, case.identity, credentials, rule.predicate,
            lambda words, at, salt: finding_predicate(
                case.office.id, release_id, decision, bound.digest(), chosen.id, day(at), words, at, salt
            ),
            bound.model_dump(exclude_none=True), reason, workspace.vault,
        )  # fmt: skip
        if isinstance(said, Request):
            return said
        refuse_unverifiable(said, key_history(case.office.rosters))
        rule.check_person(release_id, said.person, Who.DECIDES if case.decides(said.person) else Who.ON_ROSTER)
        body = {
            **said.body,
            "decision": decision,
            "subject": bound.digest(),
            "finding": chosen.id,
            "code": chosen.finding.code or chosen.finding.rule,
            "until": day(said.body["said_at"]),
        }
        entry = workspace.ledger.append(release_id, rule.event, said.person, body, rule.states)
        if why := decided(UnderReview.of(workspace, release_id)).void.get(entry.seq):
            raise SluiceError(f"the decision counts for nothing: {why}")
        settle_findings(workspace, release_id)
    return _stands(workspace, release_id)


def settle_findings(workspace: Workspace, release_id: str) -> State | None:
    """Bring a release that needs a decision to where the decisions on its findings lead; the state that it has then.

    Refused: it goes back to its submitter. All accepted: its dossier and report are made anew, and people are asked to
    approve. Called by whoever decides, and by a run that finds that it was interrupted.
    """
    state = workspace.ledger.state(release_id)
    if state is not State.NEEDS_DECISION:
        return state
    case = UnderReview.of(workspace, release_id)
    evaluated, now = opened(case), decided(case)
    if evaluated is None:
        return state
    refused = [sha256 for sha256 in evaluated.body["open"] if sha256 in now.refused]
    if refused:
        says = "; ".join(f"{now.refused[each]} refused {evaluated.body['open'][each]}" for each in refused)
        workspace.ledger.append(release_id, State.CHANGES_REQUESTED, now.refused[refused[0]], {"says": f"{says}."})
        return State.CHANGES_REQUESTED
    if left_open(case):
        return state
    _ask_for_approvals(case, evaluated, now)
    return State.PENDING_REVIEW


def _ask_for_approvals(case: UnderReview, evaluated: Entry, now: FindingDecisions) -> None:
    from sluice.report.headline import headline  # and what draws the report, which other decisions need not wait for
    from tasks.release.stored_dossier import keep_reported

    open_dossier = _dossier(case, evaluated)
    findings = tuple(now.apply(open_dossier.findings))
    if decide(findings) is not Verdict.PASS:
        raise SluiceError(f"{case.id} does not meet its policy, whatever was accepted: run sluice release FILE again")
    dossier = open_dossier.model_copy(update={"findings": findings, "verdict": Verdict.PASS})
    kept = keep_reported(case.workspace, dossier).kept
    accepted = codes_of(finding for finding in findings if finding.accepted)
    body = {"verdict": Verdict.PASS.name, "says": headline(dossier), "further_reasons": [], "codes": [], **kept}
    ledger, who = case.workspace.ledger, account()
    subject = {**dossier.hashes, **kept}
    ledger.append(case.id, State.EVALUATED, who, {**body, "subject": subject, "accepted": accepted})
    ledger.append(case.id, State.PENDING_REVIEW, who, body)


def _dossier(case: UnderReview, evaluated: Entry) -> "Dossier":
    from sluice.report.dossier import Dossier

    return Dossier.model_validate_json(case.workspace.vault.verify(evaluated.body["dossier"], ".json").read_bytes())


def _named(case: UnderReview, evaluated: Entry, named: str) -> OpenFinding:
    """The open finding that is meant. Raises SluiceError for another, or for several."""
    found = open_findings(case)
    meant = [each for each in found if len(named) >= _SHORTEST_ID and each.id.startswith(named)]
    meant = meant or [each for each in found if named in (each.finding.code, each.finding.rule)]
    if len(meant) == 1:
        return meant[0]
    listed = "; ".join(f"{each.short} ({each.finding.code or each.finding.rule})" for each in meant or found)
    if meant:
        raise SluiceError(f"several open findings are called '{named}'. Name one of them: {listed}")
    others = {(each.rule, each.code): each for each in _dossier(case, evaluated).findings}
    other = next((each for (rule, code), each in others.items() if named in (rule, code)), None)
    if other is not None:
        raise SluiceError(f"'{named}' is not open: its verdict is {other.verdict.name}. Open: {listed}")
    raise SluiceError(f"no open finding is called '{named}'. Open: {listed}")


def _stands(workspace: Workspace, release_id: str) -> str:
    """Where a release stands after a decision, in a sentence."""
    state, left = workspace.ledger.state(release_id), left_open(UnderReview.of(workspace, release_id))
    if state is State.CHANGES_REQUESTED:
        return f"{release_id}: a finding is refused; the release goes back to who submitted it."
    if state is State.NEEDS_DECISION:
        return f"{release_id}: {len(left)} more must be decided: {', '.join(dict.fromkeys(left.values()))}."
    return f"{release_id}: all findings are accepted; now people must approve it. See: sluice review {release_id}"
