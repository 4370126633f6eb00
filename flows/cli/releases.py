"""The commands that run a release, and how they say where it stands."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.terminal import BLOCKED, DONE, WAITING, AsJson, err, note, print_json, say
from sluice.custody.states import State
from sluice.log import is_written
from sluice.verdict import Verdict

releases_app = typer.Typer()

Definition = Annotated[Path, typer.Argument(metavar="FILE", help="the release definition (YAML)")]


@releases_app.command()
def release(file: Definition, as_json: AsJson = False) -> None:
    """Take the data through the whole chain: publish them, wait for approval, or block them with the reason."""
    _run(str(file), as_json=as_json)


@releases_app.command()
def check(file: Definition, as_json: AsJson = False) -> None:
    """Judge and report as `release` does, but ask nobody and publish nothing."""
    _run(str(file), rehearse=True, as_json=as_json)


def _run(definition: str, *, rehearse: bool = False, as_json: bool) -> None:
    from flows.cli.document_warnings import document_warnings
    from tasks.release.account import account
    from tasks.release.adopted import refuse_unadopted
    from tasks.release.documents import open_workspace
    from tasks.release.products import load_product

    # A wrong document is said at once, before anything starts.
    product = load_product(Path(definition), open_workspace())
    if not rehearse:
        refuse_unadopted(product, (product.definition.owner, account()))
    for warning in document_warnings(product):
        note(f"note: {warning}", "yellow", logging.WARNING)
    with progress(as_json):
        from flows.review import run_flow

        outcome = run_flow(product, rehearse=rehearse)
    finish(outcome, as_json, None if product.definition.product == "tables" else definition)


def finish(outcome: Any, as_json: bool, definition: str | None = None) -> None:
    """Say where the release stands, and exit with the code for it.

    definition : the file of a release of records, of which changes may be suggested where it is blocked
    """
    if as_json:
        verdict = None if outcome.verdict is None else outcome.verdict.name
        print_json(outcome.model_dump(mode="json") | {"verdict": verdict})
    else:
        say(f"{outcome.release} {_stands(outcome.state)}.", style="bold")
        judged = (outcome.says, *(f"  - {reason}" for reason in outcome.further_reasons))
        for line in (*(() if outcome.state is State.PUBLISHED else judged), outcome.approvals):
            if line:
                say(line)
        for name, path in (("report", outcome.report), ("published", outcome.published)):
            if path:
                say(f"{name}: {_from_here(path)}")
        if definition and outcome.verdict is Verdict.FAIL and _exit_code(outcome) == BLOCKED:
            say(f"the smallest changes of the plan that would pass: sluice suggest {definition}")
        if outcome.state is State.PENDING_REVIEW:
            say(f"to judge it: sluice review {outcome.release}")
    raise typer.Exit(_exit_code(outcome))


def _stands(state: State) -> str:
    if state in (State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED):  # where a rehearsal ends
        return "was checked; nobody is asked and nothing is published"
    return f"is {str(state).replace('_', ' ')}"


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _exit_code(outcome: Any) -> int:
    match outcome.state:
        case State.PUBLISHED | State.SUPERSEDED:
            return DONE
        case State.PENDING_REVIEW | State.APPROVED | State.PUBLISHING:
            return WAITING
        case State.BLOCKED | State.REJECTED | State.CHANGES_REQUESTED | State.WITHDRAWN | State.OVERTAKEN:
            return BLOCKED
    return DONE if outcome.verdict is Verdict.PASS else BLOCKED  # a rehearsal ends in the state `evaluated`


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Name the step that runs, and what each took, on standard error; on a screen with a spinner."""
    from tasks.release.progress import listening

    if quiet or is_written():
        yield
        return
    with err.status("starting") as spinner:

        def show(step: str, seconds: float | None) -> None:
            name = step.replace("_", " ")
            if seconds is None:
                spinner.update(f"{name} ...")
            else:
                err.print(f"  {name:<13} {seconds:6.1f} s", style="dim")

        with listening(show):
            yield
