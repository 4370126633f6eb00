"""The command that looks for loads where the warehouse says nothing."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import DONE, ERROR, note, say

polling_app = typer.Typer()


@polling_app.command()
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
