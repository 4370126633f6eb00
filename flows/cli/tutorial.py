"""The commands that make a project with example data: `sluice new`, and the tutorial in a terminal."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import DONE, ERROR, err, out, say

tutorial_app = typer.Typer()


@tutorial_app.command()
def tutorial(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="where to make everything; else in a temporary folder"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="go on without waiting for Enter")] = False,
    text: Annotated[bool, typer.Option("--text", help="print the page instead of playing it, as Markdown")] = False,
) -> None:
    """Play the tutorial: a real survey from its contract to a verified publication, explained step by step."""
    from tempfile import TemporaryDirectory

    from sluice.ground.errors import SluiceError
    from tasks.project.walkthrough import tutorial_page

    page = tutorial_page()
    if text:
        print(page, end="")
        return
    if folder is not None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SluiceError(f"{folder} is there and not empty; the tutorial is played in a folder of its own")
        folder.mkdir(parents=True, exist_ok=True)
        code = _play(page, folder, yes)
        out.print(f"Everything lies in {folder}.", soft_wrap=True)
    else:
        with TemporaryDirectory(prefix="sluice-tutorial-") as temporary:
            code = _play(page, Path(temporary), yes)
    raise typer.Exit(code)


def _play(page: str, folder: Path, yes: bool) -> int:
    """Show the page step by step and do what it says; stop where something else comes."""
    from rich.markdown import Markdown

    from sluice.ground.errors import SluiceError
    from tasks.project.walkthrough import Command, NewFile, Text, Walk, differs, steps, without_pictures

    walk = Walk(folder)
    for step in steps(page):
        if isinstance(step, Text):
            out.print(Markdown(without_pictures(step.markdown)))
        elif isinstance(step, NewFile):
            out.print(f"\nThe file {step.place}:", style="bold")
            out.print(Markdown(step.markdown))
            walk.write(step)
        elif isinstance(step, Command):
            out.print(f"\n$ {walk.named(step.typed)}", style="bold green", soft_wrap=True)
            if not yes:
                try:
                    out.input("[Enter] runs it ")
                except EOFError:
                    raise SluiceError("nobody can press Enter here; sluice tutorial --yes does not wait") from None
            came, code = walk.run(step)
            out.print(came, end="", soft_wrap=True)
            if code:
                out.print(f"exit code {code}", style="dim")
            if code != step.code or differs(walk.as_named(step), came):
                err.print(f"error: the page says something else comes, with exit code {step.code}:", style="red")
                err.print(walk.named(step.answers), soft_wrap=True)
                return ERROR
    return DONE


@tutorial_app.command()
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
