"""Releases that were left where a run, and no person, has to go on: decided, but not carried out."""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from flows.doctor.diagnosis import Diagnosis, fail, ok
from flows.review import go_on, resume_waiting
from policies.standing import REFUSALS
from sluice.custody.ledger import Entry
from sluice.custody.shelf_documents import document_problems
from sluice.custody.states import State, allowed, state_of
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks.failure import StepFailed
from tasks.release.approval import standing
from tasks.release.current_edition import settle_editions
from tasks.release.review import find
from tasks.release.shelf_catalogue import documents_of_shelves, write_catalogues
from tasks.release.waiting import runs_waiting
from tasks.release.withdrawal import WITHDRAWAL, Withdrawable, carry_out, requests

_TO_PUBLISH = (State.PENDING_REVIEW, State.APPROVED, State.PUBLISHING)


def unfinished_releases(workspace: Workspace, after: timedelta, at_work: Collection[str] = ()) -> Iterator[Diagnosis]:
    """Publications that were interrupted, approvals and refusals that no run has seen.

    after   : how long nothing must have been recorded of a release, as a run may be about to
    at_work : releases that a run is busy with
    raises  : as `Ledger.histories`
    """
    found = 0
    for release, entries in workspace.ledger.histories().items():
        if release in at_work or datetime.now(UTC) - datetime.fromisoformat(entries[-1].at) < after:
            continue
        if diagnosis := _unfinished(workspace, release, entries):
            found += 1
            yield diagnosis
    if not found:
        yield ok("releases", "none is decided and not carried out")


def shelves(workspace: Workspace) -> Iterator[Diagnosis]:
    """Whether pointers and catalogues of the shelves say what the ledger says. Raises as `Ledger.histories`."""
    documents = documents_of_shelves(workspace.ledger.histories())
    problems = [each for shelf, said in documents.items() for each in document_problems(shelf, said)]
    if problems:
        further = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        yield fail("shelves", problems[0] + further, "sluice catalogue", lambda: _catalogue(workspace))
    else:
        yield ok("shelves", "their pointers and catalogues say what the ledger says")


def _catalogue(workspace: Workspace) -> str:
    settle_editions(workspace)
    failed = write_catalogues(workspace)
    if failed:
        raise SluiceError(
            "; ".join(f"the catalogue of {shelf} cannot be written: {why}" for shelf, why in failed.items())
        )
    return "pointers and catalogues were written anew"


def _unfinished(workspace: Workspace, release: str, entries: Sequence[Entry]) -> Diagnosis | None:
    state = state_of(entry.event for entry in entries)
    if state in REFUSALS.values() and runs_waiting(workspace, release):
        mend = "Resume them, or: sluice doctor --repair"
        return fail(release, f"it is {state}, and runs still wait for it", mend, lambda: _resume(workspace, release))
    if any(entry.event == WITHDRAWAL for entry in entries) and state in allowed("withdraw"):
        return _not_withdrawn(workspace, release)
    if state not in _TO_PUBLISH:
        return None
    try:
        if state is not State.PUBLISHING and not standing(find(release)).complete:
            return None  # people are to decide
    except SluiceError as error:
        return fail(release, f"it is {state} and cannot go on: {error}", f"sluice review {release}")
    says = "its publication was interrupted" if state is State.PUBLISHING else "it is approved and not published"
    return fail(release, says, f"sluice approve {release}, or: sluice doctor --repair", lambda: _finish(release))


def _not_withdrawn(workspace: Workspace, release: str) -> Diagnosis | None:
    case = Withdrawable.of(workspace, release)
    asked = requests(case)
    if not asked.suffice:
        return None  # people are to ask
    says = "people asked that it be withdrawn, and that was interrupted"
    return fail(release, says, "sluice doctor --repair", lambda: f"{release} is withdrawn: {carry_out(case, asked)}")


def _resume(workspace: Workspace, release: str) -> str:
    resume_waiting(workspace, release)
    return f"the runs that waited for {release} were resumed, and end"


def _finish(release: str) -> str:
    """Carry out what people decided; the flow asks the ledger for their approvals once more."""
    try:
        outcome = go_on(find(release))
    except StepFailed as error:
        raise SluiceError(f"{release} could not be finished: {error.detail or error}") from None
    return f"the run that waits for {release} was resumed" if outcome is None else f"{release} is {outcome.state} now"
