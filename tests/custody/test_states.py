"""The states of a release: the table of transitions against the drawing, and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.states import (
    EVENTS,
    REACHED_FROM,
    REMARKS,
    SEARCH_EVENTS,
    State,
    TransitionError,
    following,
    in_words,
    refuse_in_searches,
    state_of,
)
from tests.golden import golden

TO_REVIEW = ["received", "validated", "masked", "evaluated", "pending_review"]
TO_SHELF = [*TO_REVIEW, "approved", "publishing", "published"]


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([], None),
        (TO_REVIEW, State.PENDING_REVIEW),
        (TO_SHELF, State.PUBLISHED),
        ([*TO_SHELF, "withdrawn"], State.WITHDRAWN),
        ([*TO_SHELF, "superseded"], State.SUPERSEDED),
        ([*TO_SHELF, "superseded", "withdrawn"], State.WITHDRAWN),
        ([*TO_REVIEW, "changes_requested"], State.CHANGES_REQUESTED),
        ([*TO_REVIEW, "rejected"], State.REJECTED),
        (["received", "blocked", "received"], State.RECEIVED),
        (["received", "validated", "masked", "evaluated", "received"], State.RECEIVED),
        ([*TO_REVIEW, "approved", "pending_review"], State.PENDING_REVIEW),
        ([*TO_REVIEW, "approved", "publishing", "publishing", "published"], State.PUBLISHED),
        ([*TO_REVIEW, "decision", "failed", "checked", "seed_destroyed", "note"], State.PENDING_REVIEW),
    ],
)
def test_a_state_is_what_the_events_add_up_to(events: list[str], state: State | None) -> None:
    assert state_of(events) is state


@pytest.mark.parametrize(
    "events",
    [
        ["published"],
        ["validated"],
        [*TO_REVIEW, "publishing"],  # not approved
        [*TO_REVIEW, "received"],  # what is under review is not made again
        [*TO_REVIEW[:-1], "blocked", "pending_review"],  # blocked stays shut until it starts again
        [*TO_REVIEW[:-1], "approved"],
        [*TO_REVIEW, "rejected", "approved"],
        [*TO_REVIEW, "changes_requested", "pending_review"],
        [*TO_REVIEW, "approved", "published"],
        [*TO_SHELF, "publishing"],
        [*TO_SHELF, "withdrawn", "published"],
        [*TO_SHELF, "superseded", "published"],
    ],
)
def test_an_illegal_transition_is_refused(events: list[str]) -> None:
    state_of(events[:-1])
    with golden.raises(TransitionError):
        state_of(events)


def test_an_unknown_event_is_refused_with_the_nearest_name() -> None:
    with golden.raises(TransitionError):
        following(State.PUBLISHING, "publishd")


def test_the_table_says_where_every_state_comes_from() -> None:
    assert set(REACHED_FROM) == set(State)
    assert not set(REMARKS) & {state.value for state in State}


@given(st.lists(st.sampled_from(EVENTS), max_size=12))
def test_only_an_approved_release_is_ever_published(events: list[str]) -> None:
    """Whatever is tried in whatever order: the events that were accepted hold an approval before each publication."""
    accepted: list[str] = []
    for event in [*events, *TO_SHELF]:
        try:
            state_of([*accepted, event])
        except TransitionError:
            continue
        accepted.append(event)
    state = state_of(accepted)
    if "published" in accepted:
        before = accepted[: accepted.index("published")]
        assert {"evaluated", "pending_review", "approved"} <= set(before)
        assert before.index("evaluated") < before.index("pending_review") < before.index("approved")
    assert (state is None) == all(event in REMARKS for event in accepted)


def test_states_in_words() -> None:
    assert in_words([State.MASKED]) == "masked"
    golden(in_words({State.BLOCKED, None, State.MASKED}))


def test_a_search_knows_its_own_events_alone() -> None:
    for event in SEARCH_EVENTS:
        refuse_in_searches(event)
        assert event not in EVENTS
    with golden.raises(TransitionError):
        refuse_in_searches("received")
