"""Acceptances: the findings that need a decision, and what people in a role of the policy decided on them.

A finding with the verdict `REVIEW` is accepted for one release, with a reason and until a day, or refused. The word is
bound to the SHA-256 of everything that was judged and to that of the finding. It is void when any of it changed, when
its day is over, when its giver is the submitter, is in no role that decides or is no longer on the roster, or when it
is not what its giver signed. What fails, or could not be judged, nobody accepts here: a failing rule takes a waiver of
the policy.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args

from policies.acts import KNOWN_BY, digest_of_words, said_at, verified_person
from policies.approvals import Approvals
from policies.decision_table import FINDING_PREDICATE
from policies.people import Roster, at_least, folded
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.envelope import CLOCK_SKEW
from sluice.custody.states import FINDING_DECIDED
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Acceptance, Finding, Verdict
from sluice.ground.visible_text import as_prose

FindingDecision = Literal["accept_finding", "refuse_finding"]

SHORTEST_REASON = 20  # characters, as of a waiver

_JUDGED = {
    "rule", "verdict", "says", "code", "data", "notes", "scope", "stage", "observed", "limit", "attempted", "completed",
    "withheld",
}  # fmt: skip


@dataclass(frozen=True)
class FindingDecisions:
    """What was decided on the findings that one evaluation left open.

    accepted : SHA-256 of a finding -> the first acceptance of it that holds
    refused  : SHA-256 of a finding -> who refused it
    void     : number of a row in the ledger -> why it counts for nothing
    """

    accepted: Mapping[str, Acceptance]
    refused: Mapping[str, str]
    void: Mapping[int, str]

    def apply(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings, each that needs a decision and is accepted marked with it."""
        return [
            finding.model_copy(update={"accepted": self.accepted.get(finding_sha256(finding))})
            if needs_decision(finding)
            else finding.model_copy(update={"accepted": None})
            for finding in findings
        ]


NOTHING_DECIDED = FindingDecisions({}, {}, {})


def needs_decision(finding: Finding) -> bool:
    """Whether it is for people to decide: `REVIEW`, deciding, and under no waiver."""
    return finding.binding and finding.verdict is Verdict.REVIEW and not finding.waiver


def finding_sha256(finding: Finding) -> str:
    """Of what was found: rule, scope, figures and words; not of the advice on it, nor of what excuses it."""
    return hashlib.sha256(finding.model_dump_json(include=_JUDGED).encode()).hexdigest()


def finding_predicate(
    office: str,
    release: str,
    decision: str,
    subject: str,
    finding: str,
    until: str | None,
    reason: str,
    at: str,
    salt: str,
) -> dict[str, Any]:
    """What somebody signs who decides on a finding.

    subject : the digest of everything that was judged
    finding : as `finding_sha256`
    until   : ISO 8601, last day of an acceptance; None: it is refused
    at      : ISO 8601, when it was said
    salt    : of the reason, see `digest_of_words`
    """
    return {
        "office": office,
        "release": release,
        "decision": decision,
        "subject": subject,
        "finding": finding,
        "until": until,
        "comment_sha256": digest_of_words(reason, salt),
        "at": at,
    }


def refuse_thin_reason(reason: str, least: int = SHORTEST_REASON) -> None:
    """Raise SluiceError for a reason that no reader years later could do anything with."""
    if len(reason.strip()) < least:
        raise SluiceError(
            f"the reason must say why, for a reader years later, in at least {least} characters; got "
            f"{len(reason.strip())}",
            field="reason",
        )
    as_prose(reason)


def decisions_on_findings(
    entries: Sequence[Entry],
    subject: str,
    approvals: Approvals,
    submitters: Collection[str],
    roster: Roster,
    now: datetime,
    office: str,
) -> FindingDecisions:
    """What the decisions among a release's ledger entries amount to.

    entries    : of one release since the evaluation that left the findings open, in order. The body of one has
                 `decision`, `subject` (a digest), `finding`, `until`, `comment` (the reason), `identity`, `account`,
                 `said_at` and, where it was signed, `envelope`
    subject    : the digest of what was evaluated
    submitters : names or accounts, in any spelling: the owner and whoever ran the release
    now        : with a time zone
    cost       : a verification of a signature for each decision, some 0.2 ms
    """
    submitted = {folded(roster.person(each) or each) for each in submitters}
    accepted: dict[str, Acceptance] = {}
    refused: dict[str, str] = {}
    void: dict[int, str] = {}
    for entry in entries:
        if entry.event != FINDING_DECIDED:
            continue
        if why := _void_because(entry, subject, approvals, submitted, roster, now, office):
            void[entry.seq] = why
            continue
        body, who = entry.body, str(roster.person(entry.actor))
        if body["decision"] == "refuse_finding":
            refused.setdefault(body["finding"], who)
            continue
        until = date.fromisoformat(body["until"])
        accepted.setdefault(
            body["finding"], Acceptance(by=who, at=entry.at, until=until, reason=" ".join(body["comment"].split()))
        )
    return FindingDecisions(accepted, refused, void)


def _void_because(
    entry: Entry,
    subject: str,
    approvals: Approvals,
    submitted: Collection[str],
    roster: Roster,
    now: datetime,
    office: str,
) -> str:
    """Why a decision does not count; empty where it does."""
    body, who = entry.body, roster.person(entry.actor)
    if body.get("decision") not in get_args(FindingDecision):
        return "it is not a known decision on a finding"
    if who is None:
        return "its giver is not on the roster"
    if folded(who) in submitted:
        return "the submitter cannot decide on what was found"
    if body.get("subject") != subject:
        return "it was given to another file, document or report"
    if not {*approvals.decides} & {*roster.people[who].roles}:
        return f"its giver is in no role that decides on findings: {', '.join(approvals.decides)}"
    if not at_least(body.get("identity"), approvals.identity):
        return f"the policy asks for people known by {KNOWN_BY[approvals.identity]}"
    predicate = finding_predicate(
        office, entry.release, body["decision"], subject, body.get("finding", ""), body.get("until"),
        body.get("comment", ""), body.get("said_at", ""), body.get("salt", ""),
    )  # fmt: skip
    try:
        refuse_thin_reason(body.get("comment", ""))
        verified_person(entry, roster, FINDING_PREDICATE, predicate)
        given = said_at(entry)
        until = None if body["decision"] == "refuse_finding" else date.fromisoformat(str(body.get("until")))
    except (SluiceError, ValueError) as error:
        return str(error)
    if not roster.people[who].counts(now):
        return "its giver is on the roster, but no more at this time"
    if given > now + CLOCK_SKEW:
        return "it is dated in the future"
    if until is not None and until > latest_day(given, approvals):
        return f"it holds longer than the {approvals.valid_days} days of the policy's approvals"
    if until is not None and now.date() > until:
        return f"it expired on {until}"
    return ""


def latest_day(given: datetime, approvals: Approvals) -> date:
    """The last day until which an acceptance of that time may hold."""
    return given.date() + timedelta(days=approvals.valid_days)
