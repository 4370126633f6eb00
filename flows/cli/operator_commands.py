"""The commands of who runs Sluice: pending actions and reminders, the worker and the look for loads, and the doctor."""

import logging
import os
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from flows.cli.terminal import DONE, ERROR, UNCHECKED, AsJson, note, out, print_json, say
from flows.doctor.diagnosis import Condition, Diagnosis
from sluice.ground.errors import SluiceError
from sluice.ground.log import log
from sluice.ground.machine import free_memory, processors
from sluice.ground.visible_text import one_line
from sluice.settings import PREFIX, settings

if TYPE_CHECKING:
    from sluice.custody.workspace import Workspace
    from tasks.release.decisions.board import Board

doctor_app = typer.Typer()
_STYLES = {Condition.OK: "green", Condition.WARN: "yellow", Condition.FAIL: "bold red"}

worker_app = typer.Typer()

board_app = typer.Typer()


@board_app.command()
def board(as_json: AsJson = False) -> None:
    """Show what waits for whom, since when and until when; what is current, stopped, or ends soon.

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
    """Send unsent notices, and remind those who are waited for; for cron, as often as you like.

    Nothing is sent twice. Exit code 4: something could not be delivered yet; the next call tries again.
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


@worker_app.command()
def worker(
    pool: Annotated[str, typer.Option("--pool", help="the work pool on Prefect's server; made if there is none")] = "",
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="runs at a time; else what this machine carries, all its workers together"),
    ] = None,
) -> None:
    """Run the releases that are due on Prefect's server, until stopped."""
    if "PREFECT_API_URL" not in os.environ:
        raise SluiceError("PREFECT_API_URL must name Prefect's server, such as http://prefect.internal:4200/api")
    begin_nowhere()

    from flows.deployments import WORK_POOL  # Prefect reads its settings when it is imported
    from flows.worker import runs_at_a_time, share_of_memory, work

    free = free_memory()
    chosen = limit or runs_at_a_time(processors(), free)
    os.environ.setdefault(f"{PREFIX}MEMORY", str(share_of_memory(free, chosen)))  # runs inherit it
    shared = "" if limit else ", with those of other workers of this workspace on this machine"
    note(f"Runs at a time: {chosen}{shared}. What else is due stays scheduled. To change it: --limit")
    work(pool or WORK_POOL, chosen, shared=not limit)


def begin_nowhere() -> None:
    """Go to the root folder, and keep all settings as they are.

    Prefect reads settings of its own from files in the current folder, such as a logging configuration that names what
    is to be called: whoever may write in the project could write one.
    """
    chosen = settings()
    for name in ("home", "project", "connections", "timestamp_certificates"):
        if (place := getattr(chosen, name)) is not None:
            os.environ[f"{PREFIX}{name.upper()}"] = str(place)
    os.chdir("/")


@worker_app.command()
def poll(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="release definitions (YAML)")]) -> None:
    """Start the releases whose tables were loaded since the last poll; for cron, where no event comes."""
    from flows.polling import poll as look
    from sluice.ground.errors import SluiceError
    from tasks.failure import StepFailed
    from tasks.release.outcome import Outcome

    code = DONE
    for file in files:
        try:
            done = look(file)
        except (SluiceError, StepFailed) as error:  # the others are polled all the same
            note(f"{file}: {getattr(error, 'detail', '') or error}", "red", logging.ERROR)
            code = ERROR
            continue
        if done is None:
            say(f"{file}: no new load")
        elif isinstance(done, Outcome):
            say(f"{file}: loaded; {done.release} is {str(done.state).replace('_', ' ')}")
        else:
            say(f"{file}: loaded; run {done} was started")
    raise typer.Exit(code)


@doctor_app.command()
def doctor(
    repair: Annotated[
        bool,
        typer.Option("--repair", help="do what is safe: start lost runs again, finish what was decided, close files"),
    ] = False,
    minutes: Annotated[
        float, typer.Option("--after", min=0, help="minutes without a sign of life after which a run is taken for lost")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Examine settings, versions, connections, ledger, clocks, disks, modes of files, runs and publications.

    A line each: ok, warn or fail, and what to do. Ends with 1 where something failed and was not repaired.
    """
    from flows.doctor.examination import examine

    answer, failed = [], False
    for found in examine(timedelta(minutes=minutes)):
        done, problem = _repaired(found) if repair and found.repair else ("", "")
        failed |= found.condition is Condition.FAIL and not done
        answer.append(_as_facts(found, done, problem))
        if found.condition is not Condition.OK:
            level = logging.WARNING if done or found.condition is Condition.WARN else logging.ERROR
            log("doctor finds", level, detail=f"{found.looked_at}: {found.says}. {done or problem or found.mend}")
        if not as_json:
            _show_diagnosis(found, done, problem)
    if as_json:
        print_json(answer)
    raise typer.Exit(ERROR if failed else DONE)


def _repaired(found: Diagnosis) -> tuple[str, str]:
    """What was done, or why it could not be."""
    assert found.repair
    try:
        return found.repair(), ""
    except SluiceError as error:
        return "", str(error)
    except Exception as error:  # of the network, of HTTP, or Prefect's own: the next is looked at all the same
        return "", f"the repair broke off ({type(error).__name__})"


def _as_facts(found: Diagnosis, done: str, problem: str) -> dict[str, Any]:
    facts = {"looked_at": found.looked_at, "condition": found.condition, "says": found.says, "mend": found.mend}
    return facts | {"repairable": found.repair is not None, "repaired": done or None, "problem": problem or None}


def _show_diagnosis(found: Diagnosis, done: str, problem: str) -> None:
    say(f"{found.condition:<4}  {found.looked_at}: {found.says}", style=_STYLES[found.condition])
    if done:
        say(f"      repaired: {done}")
    elif problem:
        say(f"      not repaired: {problem}")
    elif found.mend:
        say(f"      {found.mend}")
