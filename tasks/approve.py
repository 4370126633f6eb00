"""Approve: whether the people who must approve have approved exactly these bytes. Asks the ledger, nobody else."""

from policies.standing import REFUSALS
from sluice.custody.states import State
from tasks.release.decisions.series import standing
from tasks.release.decisions.under_review import subject
from tasks.release.editions.current_edition import close_overtaken, overtaken
from tasks.release.product import AnyRelease
from tasks.step import step


@step
def approve(release: AnyRelease) -> bool:
    """True when the release may be published now. Moves it to `approved`, or back to `pending_review`, as it stands.

    One whose data are older than those of a published edition of the same period closes.
    """
    state = release.state
    if state is State.PUBLISHING:
        return True  # it was approved when publication began; what is on the shelf must be finished
    if state not in (State.PENDING_REVIEW, State.APPROVED):
        return False
    if newer := overtaken(release):
        close_overtaken(release.product.workspace, *newer)
        return False
    now = standing(release)
    if now.complete and state is State.PENDING_REVIEW:
        release.record(State.APPROVED, subject=subject(release).digest(), says=now.says)
    if now.outcome in REFUSALS.values():
        release.record(now.outcome, says=now.says)  # by the last decision, whose author's process ended before
    elif not now.complete and state is State.APPROVED:
        release.record(State.PENDING_REVIEW, says=now.says)  # expired or voided since
    return now.complete


@step
def awaits_people(release: AnyRelease) -> bool:
    return release.state is State.PENDING_REVIEW
