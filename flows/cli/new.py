"""The command that starts a project: `sluice new`."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import say

new_app = typer.Typer()


@new_app.command()
def new(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="the folder to make")],
    keys: Annotated[
        Path | None,
        typer.Option("--keys", metavar="FOLDER", help="make the keys of three people there, to try all roles alone"),
    ] = None,
) -> None:
    """Make a project that works as it is: contract, definition, people, connections, settings, invented data."""
    from flows.deployments import prefect_yaml
    from sluice.ground.durable import write_new
    from tasks.project.new_project import new_project

    new_project(project, keys)
    write_new(project / "prefect.yaml", prefect_yaml(project / "releases", project).encode(), 0o644)
    say(f"{project} is a project; {project / 'README.md'} leads through its first release.")
    if keys:
        say(f"{keys} has the private keys of its people, to try it alone. Real people make their own: sluice key new")
    else:
        say(f"Its people have no keys yet: each runs sluice key new, and the line goes into {project / 'people.yaml'}")
