"""The command that starts the worker: `sluice worker`."""

import os
from typing import Annotated

import typer

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
