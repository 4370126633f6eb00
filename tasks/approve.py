"""Approve: whether the people who must approve have approved exactly these bytes. Asks the ledger, nobody else."""

from sluice.custody.states import State
from tasks.case import Release
from tasks.step import step


@step
def approve(release: Release) -> bool:
    """True when the release may be published now. Moves it to `approved`, or back to `pending_review`, as it stands."""
    state = release.state
    if state is State.PUBLISHING:
        return True  # it was approved when publication began; what is on the shelf must be finished
    if state not in (State.PENDING_REVIEW, State.APPROVED):
        return False
    standing = release.standing()
    if standing.complete and state is State.PENDING_REVIEW:
        release.record(State.APPROVED, subject=release.subject().digest(), says=standing.says)
    if not standing.complete and state is State.APPROVED:
        release.record(State.PENDING_REVIEW, says=standing.says)  # expired or voided since
    return standing.complete


@step
def awaits_people(release: Release) -> bool:
    return release.state is State.PENDING_REVIEW
