"""The commands on ledger and vault: where each release stands, what was recorded, what is kept for whom, how long."""

import logging
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import DONE, ERROR, UNCHECKED, AsJson, ReleaseId, note, out, print_json, say
from sluice.custody.states import state_of
from sluice.ground.errors import SluiceError
from sluice.ground.machine import without_collecting

if TYPE_CHECKING:
    from tasks.release.vault.vault_retention import Deletion, Inventory, Keeping

vault_app = typer.Typer(help="What releases left in the vault, and until when it is kept.", no_args_is_help=True)

status_app = typer.Typer()
ledger_app = typer.Typer(help="The append-only record of every release.", no_args_is_help=True)


@status_app.command()
def status(as_json: AsJson = False) -> None:
    """List every release with its state and the last thing that happened to it."""
    from sluice.custody.ledger_entry import last_judgement
    from sluice.custody.workspace import open_workspace
    from sluice.sources.sandbox import NOT_CONFINED, landlock_version

    if not landlock_version():
        note(f"note: {NOT_CONFINED}", "yellow", logging.WARNING)
    rows = []
    for release_id, entries in open_workspace().ledger.histories().items():
        judged = last_judgement(entries)
        rows.append(
            {
                "release": release_id,
                "state": state_of(entry.event for entry in entries) or "failed before a release was made",
                "last_event": entries[-1].event,
                "at": entries[-1].at,
                "says": judged.get("says", ""),
                "codes": judged.get("codes", []),
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
    """Show all that was recorded of a release: who did what, when and on which documents."""
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
    from_checkpoint: Annotated[
        bool,
        typer.Option("--from-checkpoint", help="begin where the last whole verification ended, which found nothing"),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find rows of the ledger that were changed, removed, moved or forged, and altered publications.

    Published folders are looked for where the ledger recorded that they were put. Every manifest has the root of a
    tree over the ledger as it was, so that any copy of one tells whether history before it was rewritten.
    """
    from flows.installation_verification import verify as verify_all
    from sluice.custody.workspace import open_workspace

    workspace = open_workspace()
    before = workspace.ledger.checkpoint if from_checkpoint else 0
    found = verify_all(workspace, manifests or (), from_checkpoint)
    if as_json:
        print_json(asdict(found) | ({"from_checkpoint": before} if from_checkpoint else {}))
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
            since = f" from row {before} on; rows before it were whole then" if before else ""
            say(f"The ledger is whole{since}, and what is published is what was approved.")
    raise typer.Exit(ERROR if found.problems else UNCHECKED if found.unchecked else DONE)


@vault_app.command("ls")
def list_vault(as_json: AsJson = False) -> None:
    """List what each release has in the vault: its size, until when it is kept, and by which rule."""
    from sluice.custody.workspace import open_workspace
    from tasks.release.vault.vault_retention import inventory, vault_problems

    workspace = open_workspace()
    with without_collecting():
        found = inventory(workspace)
        problems = vault_problems(workspace, found)
        rows = [_row(found, keeping) for keeping in found.keepings]
    of_nobody = [name for name in found.strays if name not in found.holders]
    size = sum(each.size for each in found.objects.values())
    if as_json:
        strays = [{"object": name, "until": f"{found.strays[name]:%Y-%m-%d}"} for name in of_nobody]
        print_json({"size": size, "holdings": rows, "of_no_release": strays, "problems": problems})
    else:
        from flows.cli.listing import show_holdings

        if rows:
            show_holdings(out, rows)
        if of_nobody:
            say(f"{len(of_nobody)} objects of which the ledger knows nothing, of runs that were killed")
        say(f"{bytes_in_words(size)} in {len(found.objects)} objects. What is due: sluice vault prune --dry-run")
        for problem in problems:
            say(problem, style="bold red")
    raise typer.Exit(ERROR if problems else DONE)


def _row(found: "Inventory", keeping: "Keeping") -> dict[str, Any]:
    holding = keeping.holding
    there = [found.objects[name] for name in holding.objects if name in found.objects]
    shared = {
        other.holding.release
        for name in holding.objects
        for other in found.holders[name]
        if other.holding.release != holding.release
    }
    return {
        "release": holding.release,
        "state": holding.state,
        "part": holding.part,
        "objects": len(there) if holding.part != "seeds" else 0,
        "size": sum(each.size for each in there),
        "until": f"{keeping.until:%Y-%m-%d}" if keeping.until else None,
        "due": keeping.is_over(found.at),
        "deleted": holding.deleted[:10] if holding.deleted else None,
        "shared_with": sorted(shared),
        "says": keeping.says,
    }


@vault_app.command()
def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what is due, and delete nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete what no policy's retention keeps any more, and record it in the ledger."""
    from sluice.custody.workspace import open_workspace
    from tasks.release.vault.vault_retention import prune

    done = prune(open_workspace(), dry_run=dry_run)
    if as_json:
        deletions = [_as_json(each) for each in done.deletions]
        print_json({"deleted": not dry_run, "deletions": deletions, "kept": done.kept})
        return
    verb = "would be deleted" if dry_run else "deleted"
    for each in done.deletions:
        whose = f"{each.release}: {str(each.part).replace('_', ' ')}" if each.release else "of no release"
        say(f"{whose}, {len(each.objects)} of {bytes_in_words(each.size)}, {verb}: {each.says}")
    if not done.deletions:
        say("Nothing is due.")
    for sentence in done.kept:
        say(f"  {sentence}", style="yellow")


def _as_json(each: "Deletion") -> Mapping[str, Any]:
    return {
        "release": each.release or None,
        "part": each.part,
        "objects": each.objects,
        "size": each.size,
        "says": each.says,
    }


def bytes_in_words(size: int) -> str:
    """Such as '27 MB': powers of 1000, rounded up to whole numbers."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size} {unit}"
        size = -(-size // 1000)
    return f"{size} TB"
