"""The commands on the vault: what is kept in it, for whom and until when, and what is due: `sluice vault`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import DONE, ERROR, AsJson, out, print_json, say

if TYPE_CHECKING:
    from tasks.release.vault.pruning import Deletion
    from tasks.release.vault.retention import Inventory, Keeping

vault_app = typer.Typer(help="What releases left in the vault, and until when it is kept.", no_args_is_help=True)


@vault_app.command("ls")
def list_vault(as_json: AsJson = False) -> None:
    """List what each release has in the vault: how big it is, until when it is kept, and by which rule."""
    from sluice.custody.workspace import open_workspace
    from tasks.release.vault.retention import inventory, vault_problems

    workspace = open_workspace()
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
    """Delete what no rule keeps any more: the retention of policies that two people adopted. Each is in the ledger."""
    from sluice.custody.workspace import open_workspace
    from tasks.release.vault.pruning import prune

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
