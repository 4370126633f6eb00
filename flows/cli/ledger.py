"""The commands on the ledger: where every release stands, what was recorded of one, whether anything was altered."""

import logging
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import DONE, ERROR, UNCHECKED, AsJson, ReleaseId, note, out, print_json, say
from sluice.custody.states import state_of
from sluice.ground.errors import SluiceError

status_app = typer.Typer()
ledger_app = typer.Typer(help="The append-only record of every release.", no_args_is_help=True)


@status_app.command()
def status(as_json: AsJson = False) -> None:
    """List every release with its state and the last thing that happened to it."""
    from sluice.custody.workspace import open_workspace
    from sluice.sources.sandbox import NOT_CONFINED, landlock_version

    if not landlock_version():
        note(f"note: {NOT_CONFINED}", "yellow", logging.WARNING)
    rows = []
    for release_id, entries in open_workspace().ledger.histories().items():
        judged = [entry for entry in entries if "says" in entry.body and "verdict" in entry.body]
        rows.append(
            {
                "release": release_id,
                "state": state_of(entry.event for entry in entries) or "failed before a release was made",
                "last_event": entries[-1].event,
                "at": entries[-1].at,
                "says": judged[-1].body["says"] if judged else "",
            }
        )
    if as_json:
        print_json(rows)
        return
    if not rows:
        say("No release yet. Start one: sluice release FILE")
        return
    from flows.cli.listing import show_releases

    show_releases(out, rows)


@ledger_app.command()
def create(
    writer: Annotated[str, typer.Option("--writer", metavar="ROLE", help="the role that Sluice works as")],
    as_json: AsJson = False,
) -> None:
    """Make the ledger's table in PostgreSQL, run once as the role that shall own it.

    SLUICE_LEDGER_URL names the database and that role. The other role, which Sluice then works as, may read and append.
    """
    from sluice.custody.ledger_database import LedgerDatabase
    from sluice.settings import settings

    url = settings().ledger_url
    if url is None:
        raise SluiceError("SLUICE_LEDGER_URL must name the PostgreSQL database, and the role that shall own the table.")
    database = LedgerDatabase(url)
    database.create(writer)
    if as_json:
        print_json({"ledger": database.place, "writer": writer})
    else:
        say(f"{database.place} is made; '{writer}' may read it and append to it, and nothing else.")


@ledger_app.command()
def upgrade(as_json: AsJson = False) -> None:
    """Bring the ledger's schema to the version that this Sluice works with, as the role that owns the table.

    Rows are never changed. Stop the workers and back up the ledger before.
    """
    from sluice.custody.ledger_database import LedgerDatabase
    from sluice.custody.ledger_schema import VERSION
    from sluice.custody.workspace import own_ledger
    from sluice.settings import settings

    chosen = settings()
    database = LedgerDatabase(chosen.ledger_url or own_ledger(chosen.home))
    before = database.upgrade()
    if as_json:
        print_json({"ledger": database.place, "before": before, "version": VERSION})
    elif before == VERSION:
        say(f"{database.place} has schema version {VERSION} already.")
    else:
        say(f"{database.place} went from schema version {before} to {VERSION}. Look at it: sluice ledger verify")


@ledger_app.command()
def show(release_id: ReleaseId, as_json: AsJson = False) -> None:
    """Tell who did what to a release, when and on which documents: all that was recorded of it."""
    from flows.cli.listing import show_history
    from flows.history import history
    from sluice.custody.workspace import open_workspace

    found = history(open_workspace(), release_id, with_dossier=False)
    if as_json:
        digest = found.subject.digest() if found.subject else None
        recorded = {"release": found.release, "state": found.state, "approval_binds_to": digest, "files": found.files}
        print_json(recorded | {"events": [asdict(entry) for entry in found.entries]})
    else:
        show_history(out, found)


@ledger_app.command()
def verify(
    manifests: Annotated[
        list[Path] | None,
        typer.Option("--manifest", metavar="COPY", help="a copy of a manifest that somebody kept; may be repeated"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find what was altered: rows of the ledger that were changed, removed, moved or forged, and published files.

    Published folders are looked for where the ledger recorded that they were put. Every manifest has the root of a tree
    over the ledger as it was, so that any copy of one tells whether history before it was rewritten.
    """
    from flows.verification import verify as verify_all
    from sluice.custody.workspace import open_workspace

    found = verify_all(open_workspace(), manifests or ())
    if as_json:
        print_json(asdict(found))
    else:
        for heading, lines in (
            ("The ledger or the shelf was tampered with:", found.problems),
            ("This could not be checked:", found.unchecked),
            ("Nothing was altered by it, but mend this:", found.warnings),
        ):
            if lines:
                say(heading, style="bold red")
            for line in lines:
                say(f"  {line}")
        if not found.problems and not found.unchecked:
            say("The ledger is whole, and what is published is what was approved.")
    raise typer.Exit(ERROR if found.problems else UNCHECKED if found.unchecked else DONE)
