"""`sluice doctor`: what is wrong with the installation, and the repair of what can safely be repaired."""

import logging
from datetime import timedelta
from typing import Annotated, Any

import typer

from flows.cli.terminal import DONE, ERROR, AsJson, print_json, say
from flows.doctor.diagnosis import Condition, Diagnosis
from sluice.ground.errors import SluiceError
from sluice.ground.log import log

doctor_app = typer.Typer()
_STYLES = {Condition.OK: "green", Condition.WARN: "yellow", Condition.FAIL: "bold red"}


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
    """Look at settings, versions, connections, the ledger, clocks, disks, modes of files, runs and publications.

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
            _show(found, done, problem)
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


def _show(found: Diagnosis, done: str, problem: str) -> None:
    say(f"{found.condition:<4}  {found.looked_at}: {found.says}", style=_STYLES[found.condition])
    if done:
        say(f"      repaired: {done}")
    elif problem:
        say(f"      not repaired: {problem}")
    elif found.mend:
        say(f"      {found.mend}")
