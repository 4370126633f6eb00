"""The commands of who runs Sluice: what waits for whom, and have those be told."""

import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from flows.cli.terminal import UNCHECKED, AsJson, out, print_json, say
from sluice.ground.visible_text import one_line

if TYPE_CHECKING:
    from sluice.custody.workspace import Workspace
    from tasks.release.decisions.board import Board

board_app = typer.Typer()


@board_app.command()
def board(as_json: AsJson = False) -> None:
    """Show what waits for whom, since when and until when; what is current, what stopped, and what ends soon.

    With PREFECT_API_URL, also the runs that are stuck, late or lost, that crashed or failed, and the next ones.
    """
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.board import board
    from tasks.release.decisions.notices import undelivered

    workspace = open_workspace()
    found, unsent = board(workspace), undelivered(workspace)
    runs, fault = _runs(workspace)
    if as_json:
        print_json(asdict(found) | {"runs": runs, "server": fault or None, "notices": asdict(unsent)})
        return
    _show(found, runs, fault)
    if unsent.waiting or unsent.refused:
        fault = f": {unsent.fault}" if unsent.fault else ""
        say(f"\nNotices: {unsent.waiting} not delivered yet, {unsent.refused} refused{fault}", style="bold red")


@board_app.command()
def remind(as_json: AsJson = False) -> None:
    """Send the notices that are still unsent, and remind those who are waited for; for cron, as often as you like.

    Nothing is sent twice. Exit code 4: something could not be delivered yet, and is tried again by the next call.
    """
    from flows.reminders import remind

    done = remind()
    if as_json:
        print_json(asdict(done))
    else:
        fault = f"; {done.fault}" if done.fault else ""
        say(f"{done.sent} sent, {done.waiting} not delivered yet, {done.refused} refused{fault}")
    raise typer.Exit(UNCHECKED if done.waiting or done.refused else 0)


def _runs(workspace: "Workspace") -> tuple[list[dict[str, Any]], str]:
    """The runs that need somebody, and what is wrong with the server, where something is."""
    if "PREFECT_API_URL" not in os.environ:
        return [], ""
    from tasks.runs import runs_of_interest

    try:
        return [asdict(run) for run in runs_of_interest(workspace)], ""
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        return [], f"Prefect's server does not answer ({type(error).__name__})"


def _show(found: "Board", runs: list[dict[str, Any]], fault: str) -> None:
    """On a screen of 80 columns. Ids and commands are not cut off: they are there to be copied."""
    _group("Waits for people", [
        (each.about, each.needs,
         f"since {_day(each.since)}" + (f", first lapse {_day(each.until)}" if each.until else ""),
         f"can: {', '.join(each.people) or 'nobody on the roster'}", each.do)
        for each in found.waiting
    ])  # fmt: skip
    _group("Stopped", [(each.release, each.what, f"since {_day(each.since)}", each.do) for each in found.stopped])
    _group("Under way", [(each.release, each.state, f"since {_day(each.since)}") for each in found.under_way])
    _group("Ends soon", [(each.about, each.what, f"on {_day(each.until)}") for each in found.ending])
    _group("Current", [(each.release, f"since {_day(each.since)}", each.folder, each.doubt) for each in found.current])
    _group("Runs", [
        # Before it has a release, a run's name is two random words of Prefect's: only its deployment says what it is.
        (run["deployment"], f"{run['condition']}, {_day(run['since'].isoformat())}: {run['name']}", run["do"],
         run["page"])
        for run in runs
    ])  # fmt: skip
    if fault:
        say(f"\n{fault}", style="bold red")


def _group(title: str, rows: list[tuple[str, ...]]) -> None:
    if not rows:
        return
    out.print(Text(title, style="bold"))
    for first, *rest in rows:
        out.print(Text(f"  {one_line(first)}"), soft_wrap=True)  # runs are called as anybody on the server likes
        for line in filter(None, rest):
            out.print(Text(f"      {one_line(line)}", style="dim"), soft_wrap=True)


def _day(at: str) -> str:
    """The minute, in UTC."""
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M}"
