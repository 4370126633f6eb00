"""The command line: `sluice`.

Exit codes: 0 published, passed or done; 1 an error; 2 blocked; 3 waiting for approval; 130 stopped by Ctrl-C.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.camouflage import camouflage_app
from flows.cli.documents import documents_app
from flows.cli.outside import outside_app
from flows.cli.redesign import redesign_app
from flows.cli.tables import tables_app
from flows.cli.terminal import BLOCKED, DONE, ERROR, INTERRUPTED, WAITING, AsJson, err, out, print_json
from flows.environment import prepare
from sluice.custody.states import State, state_of
from sluice.errors import SluiceError
from sluice.settings import settings
from sluice.verdict import Verdict

# Registered first, so it runs last: what a library writes while the interpreter goes down (DuckDB's binding lists a
# hundred objects of its own) is no word to the user.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

app = typer.Typer(
    help="Release confidential records safely, or not at all.",
    epilog="SLUICE_HOME is the workspace (default ./.sluice). Exit codes: 0 done, 1 an error, 2 blocked, 3 waiting.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
ledger_app = typer.Typer(help="The append-only record of every release.", no_args_is_help=True)
app.add_typer(ledger_app, name="ledger")
app.add_typer(outside_app)
app.add_typer(tables_app)
app.add_typer(redesign_app)
app.add_typer(camouflage_app)
app.add_typer(documents_app)

Definition = Annotated[Path, typer.Argument(metavar="FILE", help="the release definition (YAML)")]
ReleaseId = Annotated[str, typer.Argument(metavar="ID", help="the release, as `sluice status` lists it")]
As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="who you are; only where the policy takes declared names")
]
Comment = Annotated[str, typer.Option("--comment", help="kept in the ledger, for whoever reads it years later")]


@app.command()
def release(file: Definition, as_json: AsJson = False) -> None:
    """Take the data through the whole chain: publish them, wait for approval, or block them with the reason."""
    _run(str(file), as_json=as_json)


@app.command()
def check(file: Definition, as_json: AsJson = False) -> None:
    """Judge and report as `release` does, but ask nobody and publish nothing."""
    _run(str(file), rehearse=True, as_json=as_json)


@app.command()
def review(release_id: ReleaseId, as_json: AsJson = False) -> None:
    """Show what there is to judge: verdict, findings, the report, the file and what an approval is bound to."""
    from flows.cli.listing import show_dossier
    from flows.history import history
    from tasks.release.approval import standing as standing_of
    from tasks.release.documents import open_workspace
    from tasks.release.review import find

    workspace = open_workspace()
    found = history(workspace, release_id)
    dossier = found.dossier
    if dossier is None:
        raise SluiceError(f"{release_id} is {found.state}: it has not been judged yet.")
    shown: dict[str, Any] = {
        "release": found.release,
        "state": found.state,
        "title": dossier.title,
        "submitter": dossier.submitter,
        "judged": f"{dossier.evaluated_at}, by policy {dossier.policy}, version {dossier.policy_version}",
        "records": f"{dossier.records_original:,} {dossier.view.use_of_records}",
        "earlier_attempts": f"{dossier.earlier_attempts} other releases of the same data were judged before",
        "verdict": dossier.verdict.name,
        "report": str(workspace.reports / f"{release_id}.html"),
    }
    if found.subject:  # else the data broke their contract, and nothing was masked
        named = {"data": "file", "csv": "csv"}
        shown |= {named[name]: str(path) for name, path in found.files.items() if name in named}
        shown["approval_binds_to"] = found.subject.digest()
        try:
            release = find(release_id)
            standing = standing_of(release)
            documents = release.product
            shown |= {"definition": str(documents.path), "approvers_from": str(documents.definition.people)}
            given = {f"by {each.who}": f"as {each.role or 'no role asked for'}, {each.at}" for each in standing.valid}
            given |= {f"void, by {each.who}": f"{each.reason}, {each.at}" for each in standing.void}
            shown |= {"approvals": standing.says, **given}
        except SluiceError as error:  # its documents changed since
            shown["approvals"] = str(error)
        shown["needed"] = dossier.approvals_needed
    if as_json:
        findings = [finding.model_dump(mode="json") for finding in dossier.findings]
        kept = {"measure", "unit", "tables", "parameters"}
        view = dossier.view.model_dump(mode="json", include=kept, exclude={"tables": {"__all__": {"maps"}}})
        print_json(shown | {"plan": dossier.plan} | view | {"findings": findings, "hashes": dossier.hashes})
        return
    show_dossier(out, shown, dossier)


@app.command()
def approve(release_id: ReleaseId, name: As = None, comment: Comment = "", as_json: AsJson = False) -> None:
    """Approve exactly the bytes and documents under review; with the last approval needed, they are published."""
    from flows.review import go_on
    from tasks.release.approval import standing as standing_of
    from tasks.release.review import find, record_approval

    found = find(release_id)
    begun = found.state in (State.PUBLISHING, State.PUBLISHED)  # by a run that was stopped: it is finished, if need be
    standing = standing_of(found) if begun else record_approval(found, name, comment)
    if begun or standing.complete:
        with _progress(as_json):
            outcome = go_on(found)
        if outcome is not None:
            _finish(outcome, as_json)
    if as_json:
        print_json({"release": found.id, "state": found.state, "approvals": standing.says})
    else:
        out.print(f"{found.id}: {standing.says}", soft_wrap=True)
    raise typer.Exit(DONE if standing.complete else WAITING)


@app.command()
def reject(release_id: ReleaseId, name: As = None, comment: Comment = "", as_json: AsJson = False) -> None:
    """Refuse the release for good. Other documents or other data make another release."""
    _refuse(release_id, State.REJECTED, name, comment, as_json)


@app.command("request-changes")
def request_changes(release_id: ReleaseId, name: As = None, comment: Comment = "", as_json: AsJson = False) -> None:
    """Send the release back to its owner."""
    _refuse(release_id, State.CHANGES_REQUESTED, name, comment, as_json)


@app.command()
def withdraw(
    release_id: ReleaseId,
    reason: Annotated[str, typer.Option("--reason", help="shown to the public in the file's place")],
    as_json: AsJson = False,
) -> None:
    """Take a published release off the shelf, leaving a note in its place."""
    from tasks.release.review import withdraw as take_off

    gone = take_off(release_id, reason)
    if as_json:
        print_json({"release": release_id, "state": State.WITHDRAWN, "moved_to": str(gone)})
    else:
        out.print(f"{release_id} is withdrawn; its files are in {gone}.", soft_wrap=True)


@app.command()
def status(as_json: AsJson = False) -> None:
    """List every release with its state and the last thing that happened to it."""
    from tasks.release.documents import open_workspace

    rows = []
    for release_id, entries in open_workspace().ledger.histories().items():
        judged = [entry for entry in entries if "says" in entry.body and "verdict" in entry.body]
        rows.append(
            {
                "release": release_id,
                "state": state_of(entry.event for entry in entries) or "failed before a release was made",
                "last_event": entries[-1].event,
                "at": entries[-1].at,
                "says": judged[-1].body["says"] if judged else "",
            }
        )
    if as_json:
        print_json(rows)
        return
    if not rows:
        out.print("No release yet. Start one: sluice release FILE")
        return
    from flows.cli.listing import show_releases

    show_releases(out, rows)


@ledger_app.command()
def show(release_id: ReleaseId, as_json: AsJson = False) -> None:
    """Tell who did what to a release, when and on which documents: all that was recorded of it."""
    from flows.cli.listing import show_history
    from flows.history import history
    from tasks.release.documents import open_workspace

    found = history(open_workspace(), release_id)
    if as_json:
        digest = found.subject.digest() if found.subject else None
        told = {"release": found.release, "state": found.state, "approval_binds_to": digest, "files": found.files}
        print_json(told | {"events": [asdict(entry) for entry in found.entries]})
    else:
        show_history(out, found)


@ledger_app.command()
def verify(as_json: AsJson = False) -> None:
    """Find what was altered: rows of the ledger that were changed, removed, moved or forged, and published files."""
    from flows.verification import what_was_altered
    from tasks.release.documents import open_workspace

    problems = what_was_altered(open_workspace())
    if as_json:
        print_json({"problems": problems})
    elif problems:
        out.print("The ledger or the shelf was tampered with:", style="bold red")
        for problem in problems:
            out.print(f"  {problem}", soft_wrap=True)
    else:
        out.print("The ledger is whole, and what is published is what was approved.")
    raise typer.Exit(ERROR if problems else DONE)


def _run(definition: str, *, rehearse: bool = False, as_json: bool) -> None:
    from flows.cli.forewarning import forewarnings
    from tasks.release.documents import open_workspace
    from tasks.release.products import load_product

    product = load_product(
        Path(definition), open_workspace()
    )  # a wrong document is told at once, before Prefect starts
    for warning in forewarnings(product):
        err.print(f"note: {warning}", style="yellow", soft_wrap=True)
    with _progress(as_json):
        from flows.review import run_flow

        outcome = run_flow(product, rehearse=rehearse)
    _finish(outcome, as_json)


def _finish(outcome: Any, as_json: bool) -> None:
    """Say where the release stands, and exit with the code for it."""
    if as_json:
        verdict = None if outcome.verdict is None else outcome.verdict.name
        print_json(outcome.model_dump(mode="json") | {"verdict": verdict})
    else:
        out.print(f"{outcome.release} {_stands(outcome.state)}.", style="bold", soft_wrap=True)
        if outcome.state is not State.PUBLISHED:
            for line in (outcome.says, *(f"  - {reason}" for reason in outcome.further_reasons), outcome.approvals):
                if line:
                    out.print(line, soft_wrap=True)
        for name, path in (("report", outcome.report), ("published", outcome.published)):
            if path:
                out.print(f"{name}: {_from_here(path)}", soft_wrap=True)
        if outcome.state is State.PENDING_REVIEW:
            out.print(f"to judge it: sluice review {outcome.release}")
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
        case State.BLOCKED | State.REJECTED | State.CHANGES_REQUESTED | State.WITHDRAWN:
            return BLOCKED
    return DONE if outcome.verdict is Verdict.PASS else BLOCKED  # a rehearsal ends in the state `evaluated`


def _refuse(release_id: str, decision: State, name: str | None, comment: str, as_json: bool) -> None:
    from flows.review import go_on
    from tasks.release.review import find, record_refusal

    found = find(release_id)
    record_refusal(found, decision, name, comment)
    go_on(found)
    if as_json:
        print_json({"release": found.id, "state": found.state})
    else:
        out.print(f"{found.id}: {str(decision).replace('_', ' ')}.")


@contextmanager
def _progress(quiet: bool) -> Iterator[None]:
    """Name the step that runs, and what each took, on standard error; on a screen with a spinner."""
    from tasks.release.progress import listening

    shown = {
        "ingest",
        "validate",
        "check",
        "mask",
        "evaluate",
        "tabulate",
        "protect",
        "audit",
        "decide",
        "report",
        "publish",
    }
    if quiet:
        yield
        return
    with err.status("starting") as spinner:

        def tell(step: str, seconds: float | None) -> None:
            if seconds is None:
                spinner.update(f"{step} ...")
            elif step in shown:
                err.print(f"  {step:<10} {seconds:6.1f} s", style="dim")

        with listening(tell):
            yield


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns its exit code. An error is told in words, never as a traceback."""
    with _noticing_ctrl_c() as pressed:
        code = _main(arguments)
    if pressed:
        err.print("stopped. What was begun is taken up where it stands by the same command.", style="red")
        return INTERRUPTED
    return code


def _main(arguments: list[str] | None) -> int:
    try:
        prepare()
        code = app(args=arguments, prog_name="sluice", standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except typer.Exit as exit_:
        return int(exit_.exit_code)
    except (SluiceError, OSError) as error:
        told = _refused(error) if isinstance(error, OSError) else str(error)
    except Exception as error:
        told = _told(error)
    if told and not _pressed:
        err.print(f"error: {told}", style="red", soft_wrap=True)
    return ERROR


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


def _refused(error: OSError) -> str:
    """What the operating system refused, in words; and what to do where it is about the workspace."""
    if not error.filename:
        return error.strerror or str(error)
    home = settings().home
    says = f"{error.filename}: {(error.strerror or str(error)).lower()}."
    if not Path(os.fsdecode(error.filename)).is_relative_to(home):
        return says
    return f"{says} The workspace is {home}; set SLUICE_HOME to a folder in which this account may write."


def _told(error: Exception) -> str:
    from tasks.failure import StepFailed, explain

    if isinstance(error, StepFailed):
        return error.detail or str(error)
    format_message = getattr(error, "format_message", None)  # the command line itself was wrong
    return str(format_message()) if format_message else explain(error)


def run() -> None:
    sys.exit(main())
