"""Vault and ledger: whether they can be opened, are of this version and whole, and whose clock says what."""

from collections.abc import Iterator

from flows.doctor.diagnosis import Diagnosis, fail, ok, warn
from sluice.custody.clock import clock_faults
from sluice.custody.ledger_database import LedgerDatabase
from sluice.custody.ledger_schema import VERSION
from sluice.custody.workspace import Workspace, own_ledger
from sluice.ground.errors import SluiceError
from sluice.settings import settings
from tasks.release.office import open_office


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
