"""The commands that start releases: the worker, and the look for loads where the warehouse says nothing."""

import logging
import os
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import DONE, ERROR, note, say
from sluice.ground.errors import SluiceError
from sluice.settings import PREFIX, settings

worker_app = typer.Typer()


@worker_app.command()
def worker(
    pool: Annotated[str, typer.Option("--pool", help="the work pool on Prefect's server; made if there is none")] = "",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="runs at a time; else as many as are due")] = None,
) -> None:
    """Run the releases that are due on Prefect's server, as processes of this machine, until it is stopped."""
    if "PREFECT_API_URL" not in os.environ:
        raise SluiceError("PREFECT_API_URL must name Prefect's server, such as http://prefect.internal:4200/api")
    begin_nowhere()

    from flows.deployments import WORK_POOL  # Prefect reads its settings when it is imported
    from flows.worker import work

    work(pool or WORK_POOL, limit)


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
