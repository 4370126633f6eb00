"""Every state of a release has the end of a run that an operator knows."""

import pytest

from sluice.custody.states import State
from tasks.release.outcome import Outcome
from tasks.release.run_notes import WaitingRun
from tests.golden import golden


@pytest.mark.parametrize("state", State)
def test_the_end_of_a_run_says_where_its_release_stands(state: State) -> None:
    ends = {
        "Published": {State.PUBLISHED},
        "Superseded": {State.SUPERSEDED, State.OVERTAKEN},
        "AwaitingDecision": {State.NEEDS_DECISION},
        "AwaitingApproval": {State.PENDING_REVIEW, State.APPROVED, State.PUBLISHING},
        "Blocked": {State.BLOCKED, State.REJECTED, State.CHANGES_REQUESTED, State.WITHDRAWN},
        "Checked": {State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED},
    }
    assert state in ends[Outcome.model_construct(state=state).end]


def test_a_run_that_finds_its_release_waiting_says_where() -> None:
    other = WaitingRun(id="25333088", link="http://prefect.internal/runs/25333088")
    found = Outcome.model_construct(release="fair-1", state=State.PENDING_REVIEW, waits_in=other)
    assert found.end == "AlreadyWaiting"
    golden(found.message)
    assert str(other.link) in found.message
    alone = found.model_copy(update={"waits_in": None, "waits_for": "1 of 2, needs data_steward"})
    assert alone.end == "AwaitingApproval"
    golden(alone.message)
