"""The states of a release, and which may follow which.

    received -> validated -> masked -> evaluated -> blocked
                                          |
                                          +-> pending_review -> changes_requested
                                                   |        +-> rejected
                                                   +-> approved -> publishing -> published [-> superseded] -> withdrawn

A run that stopped before review starts again at `received`. An approval that expired or was voided sends an approved
release back to `pending_review`. A publication that was interrupted is taken up again.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from sluice.errors import SluiceError, did_you_mean


class State(StrEnum):
    RECEIVED = "received"
    VALIDATED = "validated"
    MASKED = "masked"
    EVALUATED = "evaluated"
    BLOCKED = "blocked"
    PENDING_REVIEW = "pending_review"
    CHANGES_REQUESTED = "changes_requested"
    REJECTED = "rejected"
    APPROVED = "approved"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


class TransitionError(SluiceError):
    """An event that may not happen to a release in its present state."""


# Each state with the states it may be reached from; None is a release that nothing was recorded of.
REACHED_FROM: Mapping[State, frozenset[State | None]] = {
    State.RECEIVED: frozenset(
        {None, State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED, State.BLOCKED}  # a run starts (again)
    ),
    State.VALIDATED: frozenset({State.RECEIVED}),
    State.MASKED: frozenset({State.VALIDATED}),
    State.EVALUATED: frozenset({State.MASKED}),
    State.BLOCKED: frozenset({State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED}),
    State.PENDING_REVIEW: frozenset({State.EVALUATED, State.APPROVED}),
    State.CHANGES_REQUESTED: frozenset({State.PENDING_REVIEW, State.APPROVED}),
    State.REJECTED: frozenset({State.PENDING_REVIEW, State.APPROVED}),
    State.APPROVED: frozenset({State.PENDING_REVIEW}),
    State.PUBLISHING: frozenset({State.APPROVED, State.PUBLISHING}),
    State.PUBLISHED: frozenset({State.PUBLISHING}),
    State.WITHDRAWN: frozenset({State.PUBLISHED, State.SUPERSEDED}),  # both lie on the shelf
    State.SUPERSEDED: frozenset({State.PUBLISHED}),
}

# Events that leave the state as it is.
REMARKS: Mapping[str, str] = {
    "decision": "what one person decided on the file, its documents and its dossier; the states say what came of it",
    "withdrawal": "one person asks that the release be withdrawn; another must, too",
    "failed": "a step crashed; the body has the step and the type of the exception, not its text",
    "checked": "the published folder was read back",
    "stamped": "a time-stamping authority stamped the manifest, before it was published",
    "seed_destroyed": "the file can no longer be made again",
    "note": "a remark of a person",
}

OFFICE = "@office"  # stands in the place of a release's id; no definition can have this name
# Its events: acts by which people, policies and contracts come to count. They have no states.
OFFICE_EVENTS: Mapping[str, str] = {
    "founded": "the head of the office brings its first roster and documents",
    "adopted": "one person adopts documents of the office",
}

EVENTS: tuple[str, ...] = (*(state.value for state in State), *REMARKS)


def following(state: State | None, event: str) -> State | None:
    """The state after `event`. Raises TransitionError when the event is unknown or may not happen in `state`."""
    if event in REMARKS:
        return state
    if event not in EVENTS:
        raise TransitionError(
            f"no event of a release is named '{event}'.{did_you_mean(event, EVENTS)} Known: {', '.join(EVENTS)}."
        )
    reached = State(event)
    if state not in REACHED_FROM[reached]:
        by_a_run = reached in (State.VALIDATED, State.MASKED, State.EVALUATED)
        raise TransitionError(
            f"a release that is {in_words([state])} cannot become {reached}; only one that is "
            f"{in_words(REACHED_FROM[reached])} can." + (" Is another run of it under way?" if by_a_run else "")
        )
    return reached


def state_of(events: Iterable[str]) -> State | None:
    """The state that a release's events add up to, first to last; None without any. Raises TransitionError."""
    state: State | None = None
    for event in events:
        state = following(state, event)
    return state


def in_words(states: Collection[State | None]) -> str:
    """The states as 'masked, evaluated or blocked', in the order of a release's life."""
    words = [name for name, state in (("new", None), *((s.value, s) for s in State)) if state in states]
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
