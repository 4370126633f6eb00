"""The table of decisions: what people of the roster may decide on a release, in one place for command, desk and ledger.

Who may take one, in which states, what comes of it and who is told says the action of the same name in the table of
states (`sluice.custody.states`); what else belongs to it says its row here. A new decision is a row of each.

What people decide for the office has no state of a release: it counts once people have said the same on the same terms.
Its rows say who they are, how many, and what comes of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from policies.people import HEAD
from sluice.custody.states import (
    ADOPTED,
    DECISION_PREDICATE,
    FINDING_DECIDED,
    FOUNDED,
    SERIES_ENDED,
    TRANSITIONS,
    State,
    Who,
    allowed,
)
from sluice.ground.errors import SluiceError

DECISION, WITHDRAWAL = "decision", "withdrawal"  # events in the ledger
FINDING_PREDICATE = "urn:sluice:finding-decision:1"  # the type of what people sign who decide on a finding


@dataclass(frozen=True)
class DecisionRule:
    """One decision, as a person of the roster may take it.

    name        : as forms and the ledger have it; the command, and the action in the table of states, have dashes
    event       : by which the ledger has one person's word; what came of it is an event of its own
    predicate   : the type of the statement that is signed
    label       : what the desk calls it, and `meaning`, what it says there it comes to; empty: not to be chosen there
    help        : of a command that takes nothing but what every decision takes
    says_why    : whether a reason must be given
    people      : how many must say so before it has its effect; 0: as many as the policy asks for
    not_now     : why it cannot be taken in another state, and `hints`, what can be done then
    not_theirs  : why somebody may not take it in any state
    """

    name: str
    event: str
    predicate: str
    label: str
    meaning: str
    help: str
    says_why: bool
    people: int
    not_now: str
    hints: Mapping[State, str] = field(default_factory=dict)
    not_theirs: str = "'{person}' submitted {release} and cannot approve it; another person must."

    @property
    def action(self) -> str:
        return self.name.replace("_", "-")

    @property
    def states(self) -> Mapping[State | None, frozenset[Who]]:
        """In which states it may be taken, and by whom."""
        return allowed(self.action)

    @property
    def outcome(self) -> State | None:
        """What the release comes to be by it; None: what it was, or what others decide, too."""
        return next((each.after for each in TRANSITIONS if each.action == self.action), None)

    def check_state(self, release: str, state: State | None) -> None:
        """Raise SluiceError, with the reason, where nobody may take it now."""
        if state not in self.states:
            hint = self.hints.get(state, "") if state else ""
            says = f"{self.not_now}{hint}"
            stands = state.stands if state else "is new"
            raise SluiceError(says.format(release=release, stands=stands))

    def check_person(self, release: str, person: str, relation: Who) -> None:
        """Raise SluiceError where somebody may not take it, in whatever state."""
        if not any(relation in may for may in self.states.values()):
            raise SluiceError(self.not_theirs.format(release=release, person=person))

    def can(self, state: State | None, relation: Who) -> bool:
        """Whether somebody who is this to a release may take it now."""
        return relation in self.states.get(state, ())


def _on_review(name: str, label: str, meaning: str, says_why: bool, help_: str = "") -> DecisionRule:
    not_now = "{release} {stands}; only a release that is pending review can be decided on."
    hints = {
        State.BLOCKED: " What was found, and what may help: sluice review {release}",
        State.NEEDS_DECISION: " What was found needs a decision first: sluice review {release}",
    }
    return DecisionRule(name, DECISION, DECISION_PREDICATE, label, meaning, help_, says_why, 0, not_now, hints)


def _on_finding(name: str, label: str, meaning: str, people: int) -> DecisionRule:
    return DecisionRule(
        name, FINDING_DECIDED, FINDING_PREDICATE, label, meaning, "", True, people,
        "{release} {stands}; only findings of a release that needs a decision can be decided on.",
        {State.BLOCKED: " What fails, or could not be judged, is not for people to accept: sluice review {release}"},
        "'{person}' cannot decide on the findings of {release}: that takes somebody other than its submitter, in a "
        "role of the policy's approvals.decides.",
    )  # fmt: skip


_TAKEN_BACK = " Whoever submitted it takes it back: sluice request-changes {release}"

DECISIONS: Mapping[str, DecisionRule] = {
    rule.name: rule
    for rule in (
        _on_review("approve", "Approve", "exactly these files may be published, by exactly these documents", False),
        _on_review(
            "request_changes", "Ask for changes", "it goes back to who submitted it, with what has to change", True,
            "Send the release back to its owner, with what has to change.",
        ),
        _on_review(
            "reject", "Reject", "it must never be published", True,
            "Decide that the release must never be published. Other documents or data make another release.",
        ),
        _on_review(
            "conflicted", "Stand aside", "I must not judge this release; somebody else decides in my place", True,
            "Say that you must not judge this release; somebody else decides in your place.",
        ),
        _on_finding(
            "accept_finding", "Accept it for this release",
            "the finding keeps this release back no more; the public reads who accepted it, until when, and why", 1,
        ),
        _on_finding(
            "refuse_finding", "Refuse it", "the release goes back to who submitted it, with what has to change", 1
        ),
        DecisionRule(
            "withdraw", WITHDRAWAL, "urn:sluice:withdrawal:1", "Ask for the withdrawal", "", "", False, 2,
            "{release} {stands}; only a published release can be withdrawn.",
            dict.fromkeys((State.PENDING_REVIEW, State.APPROVED), _TAKEN_BACK),
        ),
        DecisionRule(
            "end_series", SERIES_ENDED, "urn:sluice:series-end:1", "", "", "", False, 1,
            "{release} is not a published edition of a series, so no series can be ended",
        ),
    )
}  # fmt: skip
"""In the order in which the desk offers them."""

ON_REVIEW = tuple(name for name, rule in DECISIONS.items() if rule.event == DECISION)


@dataclass(frozen=True)
class OfficeRule:
    """One decision of the office: that it is founded, or that a document or key counts from then on.

    name   : 'found', or the kind of what is adopted
    event  : by which the ledger has one person's word
    role   : that one of those who say so must have
    people : how many must say so, within `LAPSES_AFTER` of each other
    effect : what comes of it
    """

    name: str
    event: str
    role: str
    people: int
    effect: str


OFFICE_DECISIONS: Mapping[str, OfficeRule] = {
    rule.name: rule
    for rule in (
        OfficeRule("found", FOUNDED, HEAD, 1, "the roster and the documents that are brought count; once only"),
        OfficeRule("publisher", ADOPTED, HEAD, 2, "the installation signs by it from then on"),
        OfficeRule("roster", ADOPTED, HEAD, 2, "these people count, each with their roles, keys and days"),
        OfficeRule("policy", ADOPTED, "methodologist", 2, "releases are judged by it"),
        OfficeRule("contract", ADOPTED, "owner", 2, "its data are read and released by it"),
    )
}

LAPSES_AFTER = timedelta(days=30)
"""How long one person's act, an adoption or a withdrawal, waits for the second's."""


def office_table() -> str:
    """The rows of the office as a table in Markdown, for docs/architecture.md."""
    rows = []
    for rule in OFFICE_DECISIONS.values():
        who = f"{rule.people} of the roster, {'one ' * (rule.people > 1)}with the role {rule.role}"
        rows.append(f"| `{rule.name}` | {who} | {rule.effect} |")
    return "\n".join(["| decision | may be taken by | makes |", "|---|---|---|", *rows])
