"""The states of a release: which may follow which, by what, who may bring it about, and who is to be told.

All of it stands in one table, `TRANSITIONS`; the drawing and the table of docs/architecture.md are made from it by
`as_markdown`. A run that stopped before review starts again at `received`. An approval that expired or was voided sends
an approved release back to `pending_review`. A publication that was interrupted is taken up again. Of the editions of
one name on one shelf only the latest is `published`; `sluice.custody.edition_order` says which one is.
"""

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from sluice.ground.errors import SluiceError, did_you_mean


class State(StrEnum):
    RECEIVED = "received"
    VALIDATED = "validated"
    MASKED = "masked"
    EVALUATED = "evaluated"
    BLOCKED = "blocked"
    NEEDS_DECISION = "needs_decision"  # on findings, before anybody can approve
    PENDING_REVIEW = "pending_review"
    CHANGES_REQUESTED = "changes_requested"
    REJECTED = "rejected"
    APPROVED = "approved"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"  # still on the shelf; a later edition is current
    OVERTAKEN = "overtaken"  # never published: newer data of the same period were

    @property
    def words(self) -> str:
        """As people read it."""
        return "needs a decision" if self is State.NEEDS_DECISION else self.value.replace("_", " ")

    @property
    def stands(self) -> str:
        """What a release of it does: 'is pending review', 'needs a decision'."""
        return self.words if self is State.NEEDS_DECISION else f"is {self.words}"


JUDGEMENTS = (State.EVALUATED, State.BLOCKED, State.NEEDS_DECISION, State.PENDING_REVIEW, "note")
"""Events whose body may hold a verdict; a note that does is of a rehearsal in which nothing was masked."""

REINSTATED = "reinstated"  # the event that makes a superseded edition the current one again


class TransitionError(SluiceError):
    """An event that may not happen to a release in its present state."""


class Who(StrEnum):
    """What somebody is to a release; of several that fit, the first."""

    RUN = "the run"  # the flow, under whatever account
    SUBMITTER = "submitter"  # the definition's owner, and whoever ran the release
    HEAD = "head"  # of the office
    IN_ROLE = "in a role of the policy"  # one that it asks of approvers
    DECIDES = "in a role that decides on findings"  # beside what else they are to it
    ON_ROSTER = "others on the roster"


NOT_THE_SUBMITTER = frozenset({Who.HEAD, Who.IN_ROLE, Who.DECIDES, Who.ON_ROSTER})
PEOPLE = NOT_THE_SUBMITTER | {Who.SUBMITTER}


@dataclass(frozen=True)
class Transition:
    """An action that takes a release from some states to another; None is a release of which nothing was recorded."""

    action: str  # the command of a person, or the step of a run
    before: frozenset[State | None]
    after: State | None  # None: it stays in its state
    by: frozenset[Who]
    once: str = ""  # what else it takes
    tells: frozenset[Who] = frozenset()
    event: str = ""  # what the ledger calls it, where not by the state after: a remark, or a way back to a state

    @property
    def recorded(self) -> str | None:
        """The event by which the ledger has it; None: none is recorded, or a remark that nobody is told of."""
        return self.event or self.after


_UNJUDGED = frozenset({None, State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED, State.BLOCKED})
_UNDECIDED = frozenset({State.PENDING_REVIEW, State.APPROVED})
_OPEN = frozenset({State.NEEDS_DECISION})
IN_DOUBT, REASSESSED = "in_doubt", "reassessed"  # remarks on what is public
_RUN, _SUBMITTER, _DECIDES = frozenset({Who.RUN}), frozenset({Who.SUBMITTER}), frozenset({Who.DECIDES})

TRANSITIONS: tuple[Transition, ...] = (
    Transition(
        "release", _UNJUDGED | {State.OVERTAKEN}, State.RECEIVED, _RUN, "contract and policy are adopted"
    ),
    Transition("validate", frozenset({State.RECEIVED}), State.VALIDATED, _RUN),
    Transition("mask", frozenset({State.VALIDATED}), State.MASKED, _RUN),
    Transition("decide", frozenset({State.MASKED}), State.EVALUATED, _RUN),
    Transition("decide", _UNJUDGED - {None, State.BLOCKED}, State.BLOCKED, _RUN, "the policy is not met", _SUBMITTER),
    Transition(
        "decide", frozenset({State.EVALUATED}), State.PENDING_REVIEW, _RUN, "the policy is met", NOT_THE_SUBMITTER
    ),
    Transition(
        "decide", frozenset({State.EVALUATED}), State.NEEDS_DECISION, _RUN, "what was found needs a decision",
        _DECIDES | _SUBMITTER,
    ),
    Transition("accept-finding", _OPEN, None, _DECIDES),
    Transition("refuse-finding", _OPEN, State.CHANGES_REQUESTED, _DECIDES, "one person refuses one", _SUBMITTER),
    Transition("accepted", _OPEN, State.EVALUATED, _RUN, "all of them are accepted"),
    Transition(
        "accepted", _UNDECIDED, State.NEEDS_DECISION, _RUN, "an acceptance expired or was voided", _DECIDES | _SUBMITTER
    ),
    Transition("approve", _UNDECIDED, None, NOT_THE_SUBMITTER),
    Transition("conflicted", _UNDECIDED, None, NOT_THE_SUBMITTER),
    Transition(
        "reject", _UNDECIDED, State.REJECTED, PEOPLE, "more refuse than approve, or the submitter does", _SUBMITTER
    ),
    Transition(
        "request-changes", _UNDECIDED, State.CHANGES_REQUESTED, PEOPLE,
        "more refuse than approve, or the submitter does", _SUBMITTER,
    ),
    Transition(
        "approved", frozenset({State.PENDING_REVIEW}), State.APPROVED, _RUN, "all approve whom the policy asks for",
        _SUBMITTER,
    ),
    Transition(
        "approved", frozenset({State.APPROVED}), State.PENDING_REVIEW, _RUN, "an approval expired or was voided",
        NOT_THE_SUBMITTER,
    ),
    Transition("publish", frozenset({State.APPROVED, State.PUBLISHING}), State.PUBLISHING, _RUN),
    Transition("publish", frozenset({State.PUBLISHING}), State.PUBLISHED, _RUN, "what was approved lies there", PEOPLE),
    Transition("settle", frozenset({State.PUBLISHED}), State.SUPERSEDED, _RUN, "a later edition is published"),
    Transition(
        "settle", frozenset({State.SUPERSEDED}), State.PUBLISHED, _RUN, "all later editions are withdrawn", PEOPLE,
        event=REINSTATED,
    ),
    Transition(
        "settle", _UNDECIDED | _OPEN, State.OVERTAKEN, _RUN, "newer data of the same period are published", _SUBMITTER
    ),
    Transition(
        "withdraw", frozenset({State.PUBLISHED, State.SUPERSEDED}), State.WITHDRAWN, PEOPLE,
        "2 people ask, one of them the head or in a role of the policy", PEOPLE,
    ),
    Transition(
        "reassess", frozenset({State.PUBLISHED, State.SUPERSEDED}), None, _RUN, "it would not pass any more", PEOPLE,
        IN_DOUBT,
    ),
    Transition(
        "end-series", frozenset({State.PUBLISHED, State.SUPERSEDED}), None, PEOPLE, "the policy knows series", PEOPLE
    ),
)  # fmt: skip


def allowed(action: str) -> Mapping[State | None, frozenset[Who]]:
    """In which states an action is possible, and to whom."""
    return {state: each.by for each in TRANSITIONS if each.action == action for state in each.before}


_FROM: Mapping[str, frozenset[State | None]] = {
    event: frozenset(before for each in TRANSITIONS if each.recorded == event for before in each.before)
    for event in (*State, REINSTATED)
}
REACHED_FROM: Mapping[State, frozenset[State | None]] = {state: _FROM[state] for state in State}
"""By the event that bears the state's name."""

DECISION_PREDICATE = "urn:sluice:decision:1"  # the type of the statement that people sign who decide on a release

# Events that leave the state as it is.
FINDING_DECIDED = "finding_decided"
SERIES_ENDED = "series_ended"
SEED_DESTROYED, PRUNED = "seed_destroyed", "pruned"
LOADING, LOADED, SHOWN, UNLOADED = "loading", "loaded", "shown", "unloaded"
REMARKS: Mapping[str, str] = {
    FINDING_DECIDED: "what one person decided on a finding that needs a decision: accepted until a day, or refused",
    "decision": "what one person decided on the file, its documents and its dossier; the states say what came of it",
    "withdrawal": "one person asks that the release be withdrawn; another must, too",
    SERIES_ENDED: "one person takes back that editions after this one need no decisions of their own",
    "failed": "a step crashed; the body has the step and the type of the exception, not its text",
    "checked": "the published folder was read back",
    "stamped": "a time-stamping authority stamped the manifest, before it was published",
    SEED_DESTROYED: "the file can no longer be made again",
    REASSESSED: "judged again; the body says by which policy, and what would be",
    IN_DOUBT: "judged again, it would not pass any more, or nobody can tell, and that was not known before",
    PRUNED: "objects of the vault are deleted by a rule of retention; the body names them, and is recorded before",
    "restarted": "its run was lost, and another one was started in its place; the body names both",
    LOADING: "its tables begin to be written into a schema of a public database; the body names them and their views",
    LOADED: "they were read back there; no view shows them yet",
    SHOWN: "views were swapped there, to tables of this release or, where it names none, to nothing",
    UNLOADED: "they were dropped there, after the release was withdrawn, or are gone with the database",
    "note": "a remark of a person",
}

OFFICE = "@office"  # stands in the place of a release's id; no definition can have this name
# Its events: acts by which people, policies and contracts come to count. They have no states.
FOUNDED, ADOPTED = "founded", "adopted"
OFFICE_EVENTS: Mapping[str, str] = {
    FOUNDED: "the head of the office brings its first roster and documents",
    ADOPTED: "one person adopts documents of the office",
}

SEARCHES = "@searches"  # stands there, too, for searches of plans, of which each trial meets the gate outside a release
# Its events. They have no states.
SEARCH_BEGUN, SEARCH_ENDED = "search_begun", "search_ended"
SEARCH_EVENTS: Mapping[str, str] = {
    SEARCH_BEGUN: "a search of plans begins on some data; the body says how many trials it may take",
    SEARCH_ENDED: "it ended, or was stopped; the body says how many trials it took",
}
VAULT = "@vault"  # and there, for what lies in the vault and belongs to no release
VAULT_EVENTS: Mapping[str, str] = {PRUNED: "objects that belong to no release are deleted; the body names them"}
WITHOUT_STATES = (OFFICE, SEARCHES, VAULT)

REMARKS_TELL: Mapping[str, frozenset[Who]] = {
    "failed": frozenset({Who.SUBMITTER, Who.HEAD}),
    FINDING_DECIDED: _SUBMITTER,
    "withdrawal": NOT_THE_SUBMITTER,
    SERIES_ENDED: PEOPLE,
}
"""Who is to be told of an event that leaves the state as it is."""

EVENTS: tuple[str, ...] = (*(state.value for state in State), REINSTATED, *REMARKS)


def following(state: State | None, event: str) -> State | None:
    """The state after `event`. Raises TransitionError when the event is unknown or may not happen in `state`."""
    if event in REMARKS:
        return state
    if event not in EVENTS:
        raise TransitionError(
            f"no event of a release is named '{event}'.{did_you_mean(event, EVENTS)} Known: {', '.join(EVENTS)}."
        )
    if state not in _FROM[event]:
        by_a_run = event in (State.VALIDATED, State.MASKED, State.EVALUATED)
        raise TransitionError(
            f"a release that is {in_words([state])} cannot become {event}; only one that is "
            f"{in_words(_FROM[event])} can." + (" Is another run of it under way?" if by_a_run else "")
        )
    return State.PUBLISHED if event == REINSTATED else State(event)


def state_of(events: Iterable[str]) -> State | None:
    """The state that a release's events add up to, first to last; None without any. Raises TransitionError."""
    return _sum_of(tuple(events))


@lru_cache(maxsize=1 << 12)
def _sum_of(events: tuple[str, ...]) -> State | None:
    """Of thousands of releases most had the same events."""
    state: State | None = None
    for event in events:
        state = following(state, event)
    return state


def refuse_in_searches(event: str) -> None:
    """Raise TransitionError for an event that may not happen to a search."""
    if event not in SEARCH_EVENTS:
        raise TransitionError(f"no event of a search is named '{event}'. Known: {', '.join(SEARCH_EVENTS)}.")


def refuse_in_vault(event: str) -> None:
    """Raise TransitionError for an event that may not happen to what belongs to no release."""
    if event not in VAULT_EVENTS:
        raise TransitionError(f"no event of a vault is named '{event}'. Known: {', '.join(VAULT_EVENTS)}.")


def refuse_in_office(event: str, founded: bool) -> None:
    """Raise TransitionError for an event that may not happen to the office: it is founded first, and once."""
    if event not in OFFICE_EVENTS:
        raise TransitionError(f"no event of an office is named '{event}'. Known: {', '.join(OFFICE_EVENTS)}.")
    if (event == FOUNDED) == founded:
        raise TransitionError(f"the office was {'' if founded else 'not '}founded{' already' if founded else ' yet'}.")


def tells(event: str) -> frozenset[Who]:
    """Who is to be told of an event."""
    by_state = {who for each in TRANSITIONS if each.recorded == event for who in each.tells}
    return REMARKS_TELL.get(event, frozenset()) | by_state


def told_of(event: str) -> str:
    """Who is to be told of an event, in words; empty: nobody."""
    return _listed(tells(event))


def as_markdown() -> str:
    """The table, for docs/architecture.md."""
    rows = [
        f"| `{each.action}` | {in_words(each.before)} | {in_words([each.after]) if each.after else 'what it was'} "
        f"| {_listed(each.by)} | {each.once} | {_listed(each.tells)} |"
        for each in TRANSITIONS
    ]
    head = ["| action | on a release that is | makes it | may be done by | when | told |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _listed(people: AbstractSet[Who]) -> str:
    if people >= NOT_THE_SUBMITTER:
        return "anybody on the roster" + ("" if Who.SUBMITTER in people else " but the submitter")
    return ", ".join(who for who in Who if who in people)


def _in_order(states: Collection[State | None]) -> list[State | None]:
    return [state for state in (None, *State) if state in states]


def in_words(states: Collection[State | None]) -> str:
    """The states as 'masked, evaluated or blocked', in the order of a release's life."""
    words = [state.value if state else "new" for state in _in_order(states)]
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
