"""Every state of a release has the end of a run that an operator knows."""

import pytest

from sluice.custody.states import State
from tasks.release.outcome import Outcome


@pytest.mark.parametrize("state", State)
def test_the_end_of_a_run_says_where_its_release_stands(state: State) -> None:
    ends = {
        "Published": {State.PUBLISHED, State.SUPERSEDED},
        "AwaitingApproval": {State.PENDING_REVIEW, State.APPROVED, State.PUBLISHING},
        "Blocked": {State.BLOCKED, State.REJECTED, State.CHANGES_REQUESTED, State.WITHDRAWN},
        "Checked": {State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED},
    }
    assert state in ends[Outcome.model_construct(state=state).end]
