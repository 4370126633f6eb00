"""The records of an installation: whether vault and ledger are whole and of this version, whose clock says what, and
which releases were left where a run, and no person, has to go on: decided, but not carried out.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from flows.doctor.diagnosis import Diagnosis, fail, ok, warn
from flows.follow_up import go_on, resume_waiting
from policies.decision_table import DECISIONS, WITHDRAWAL
from policies.standing import REFUSALS
from sluice.custody.clock import clock_faults
from sluice.custody.ledger_database import LedgerDatabase
from sluice.custody.ledger_entry import Entry
from sluice.custody.ledger_schema import VERSION
from sluice.custody.shelf_documents import document_problems
from sluice.custody.states import State, state_of
from sluice.custody.workspace import Workspace, own_ledger
from sluice.ground.errors import SluiceError
from sluice.settings import settings
from tasks.failure import StepFailed
from tasks.release.decisions.decisions_of_people import Withdrawable, carry_out, find, requests
from tasks.release.decisions.office import open_office
from tasks.release.decisions.series_approval import standing
from tasks.release.editions.current_edition import settle_editions
from tasks.release.editions.shelf_catalogue import documents_of_shelves, write_catalogues
from tasks.release.run_notes import runs_waiting

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
    if any(entry.event == WITHDRAWAL for entry in entries) and state in DECISIONS["withdraw"].states:
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


def office(workspace: Workspace | None) -> Diagnosis:
    """Whether there is anybody who can decide. None: there is no workspace yet, and so no office."""
    try:
        found = open_office(workspace) if workspace else None
    except SluiceError as error:
        return fail("office", str(error), "sluice ledger verify")
    if found is None:
        says = "there is none, so nothing can be released"
        return warn("office", says, "sluice office CONTRACT... --people PEOPLE, in the project")
    return ok("office", f"{len(found.roster.people)} people are on its roster")


def ledger_schema() -> Diagnosis:
    """Whether the ledger's database answers, and with a table of this version."""
    chosen = settings()
    if chosen.ledger_url is None and not (chosen.home / "ledger.db").exists():
        return ok("ledger", "there is none yet; the first command makes it")
    try:
        database = LedgerDatabase(chosen.ledger_url or own_ledger(chosen.home))
        version = database.version()
    except SluiceError as error:
        return fail("ledger", str(error), "Start the database, or mend SLUICE_LEDGER_URL.")
    if version is None:
        make = "With the URL of the role that shall own it, not the worker's: sluice ledger create --writer ROLE"
        return fail("ledger", f"{database.place} has no table", make)
    if version != VERSION:
        mend = "sluice ledger upgrade" if version < VERSION else "Install the later Sluice that made it."
        return fail("ledger", f"{database.place} has schema version {version}; it must be {VERSION}", mend)
    return ok("ledger", f"{database.place} answers, with schema version {VERSION}")


def history(workspace: Workspace) -> Iterator[Diagnosis]:
    """Whether the ledger is whole, cannot be changed by whoever appends to it, and agrees with this machine's clock."""
    try:
        problems = workspace.ledger.verify()
        if problems:
            yield fail("history", "; ".join(problems[:3]), "Somebody changed it: sluice ledger verify")
            return
        yield ok("history", "no row was changed, removed or added")
        for weakness in workspace.ledger.weaknesses:
            yield warn("rights", weakness, "See docs/deployment.md, PostgreSQL.")
        faults = clock_faults(workspace.ledger)
    except SluiceError as error:
        yield fail("history", str(error), "sluice ledger verify")
        return
    if faults:
        yield fail(
            "clock", "; ".join(faults), "Set the clocks right (chrony or ntpd); until then nothing is published."
        )
    else:
        yield ok("clock", "this machine, the ledger's rows and its database agree within 5 minutes")
