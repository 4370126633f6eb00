"""The command line: `sluice`."""

import atexit
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.audit_table import audit_app
from flows.cli.custody_commands import ledger_app, status_app, vault_app
from flows.cli.desk_commands import desk_app
from flows.cli.explore import explore_app
from flows.cli.founding_commands import founding_app
from flows.cli.hierarchy_command import hierarchy_app
from flows.cli.init import init_app
from flows.cli.manual import EXIT_CODES, arrange, man_app
from flows.cli.microdata_commands import camouflage_app, compare_app, microdata_app
from flows.cli.office_commands import key_app, office_app
from flows.cli.operator_commands import board_app, doctor_app, worker_app
from flows.cli.protect_table import argus_app, protect_app, redesign_app
from flows.cli.published_commands import catalogue_app, verify_app
from flows.cli.reference_commands import documents_app, explain_app
from flows.cli.releases import releases_app
from flows.cli.review_commands import review_app
from flows.cli.terminal import DONE, ERROR, INTERRUPTED, note, say
from flows.cli.tune import tune_app
from flows.cli.tutorial import tutorial_app
from flows.environment import prepare
from sluice.ground.errors import MeasureChoiceError, SluiceError
from sluice.settings import settings

# Registered first, so it runs last: what a library writes while the interpreter goes down (DuckDB's binding lists a
# hundred objects of its own) is no word to the user.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

app = typer.Typer(
    help="Release confidential records safely, or not at all.",
    epilog="What stands in a group works without its name, too: `sluice verify` is `sluice published verify`. "
    f"SLUICE_HOME is the workspace (default ./.sluice). {EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from sluice.software_version import software_version

        say(f"sluice {software_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Release confidential records safely, or not at all."""


for group in (
    releases_app,
    review_app,
    status_app,
    catalogue_app,
    board_app,
    microdata_app,
    compare_app,
    tune_app,
    protect_app,
    audit_app,
    redesign_app,
    argus_app,
    camouflage_app,
    init_app,
    explore_app,
    tutorial_app,
    documents_app,
    founding_app,
    office_app,
    verify_app,
    doctor_app,
    worker_app,
    explain_app,
    man_app,
):
    app.add_typer(group)
app.add_typer(ledger_app, name="ledger")
app.add_typer(key_app, name="key")
app.add_typer(desk_app, name="desk")
app.add_typer(vault_app, name="vault")
app.add_typer(hierarchy_app, name="hierarchy")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns its exit code. An error is put in words, never as a traceback."""
    with _noticing_ctrl_c() as pressed:
        code = _main(arguments)
    if pressed:
        given = sys.argv[1:] if arguments is None else arguments
        if given[:1] in (["desk"], ["explore"]):  # which end so
            note("stopped: no page is served any more.")
        else:
            note(f"stopped. {_goes_on(given)}", "red", logging.ERROR)
        return INTERRUPTED
    return code


def _goes_on(arguments: list[str]) -> str:
    """How the command that was stopped goes on. Its arguments are not repeated: an address may hold a password."""
    same = f"`sluice {arguments[0]}` with the same arguments" if arguments else "the same command"
    match arguments[:1]:
        case ["tune" | "suggest"]:
            return f"The trials so far are kept; {same} goes on after them."
        case ["release" | "check" | "approve"]:
            return f"Nothing was published by halves; {same} takes the release up where the ledger has it."
        case ["init"]:
            return (
                "If a draft was judged, the best so far was written; `sluice init DATA --contract FILE` drafts again."
            )
    return f"What was done is kept, and {same} goes on from there or begins again."


def _main(arguments: list[str] | None) -> int:
    try:
        prepare()
        code = command_line()(args=arguments, prog_name="sluice", standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except typer.Exit as exit_:
        return int(exit_.exit_code)
    except (SluiceError, OSError) as error:
        message = _refusal(error) if isinstance(error, OSError) else _says(error)
    except Exception as error:
        message = _message(error)
    if message and not _pressed:
        note(f"error: {message}", "red", logging.ERROR)
    return ERROR


@cache
def command_line() -> Any:
    """The commands, put together once in a process."""
    return arrange(typer.main.get_command(app))


_pressed: list[int] = []  # Ctrl-C: libraries turn the exception that it raises into others


@contextmanager
def _noticing_ctrl_c() -> Iterator[list[int]]:
    _pressed.clear()

    def notice(number: int, frame: Any) -> None:
        _pressed.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield _pressed
        return
    before = signal.signal(signal.SIGINT, notice)
    try:
        yield _pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _says(error: SluiceError) -> str:
    return error.for_command if isinstance(error, MeasureChoiceError) else str(error)


def _refusal(error: OSError) -> str:
    """What the operating system refused, in words; and what to do where it is about the workspace."""
    if not error.filename:
        return error.strerror or str(error)
    home = settings().home
    says = f"{error.filename}: {(error.strerror or str(error)).lower()}."
    if not Path(os.fsdecode(error.filename)).is_relative_to(home):
        return says
    return f"{says} The workspace is {home}; set SLUICE_HOME to a folder in which this account may write."


def _message(error: Exception) -> str:
    from tasks.failure import StepFailed, explain

    if isinstance(error, StepFailed):
        return error.detail or str(error)
    format_message = getattr(error, "format_message", None)  # the command line itself was wrong
    return str(format_message()) if format_message else explain(error)


def run() -> None:
    """The command's own process, from its arguments to its exit code."""
    code = main()
    gc.freeze()  # at its end Python looks for garbage once more, among all that was imported: 0.3 s, and it goes anyway
    sys.exit(code)
