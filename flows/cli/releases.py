"""The commands that run a release, and how they say where it stands; before a run, what the documents alone show."""

import logging
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import BLOCKED, DONE, WAITING, AsJson, note, print_json, progress, say
from sluice.custody.states import State
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.verdict import Verdict

if TYPE_CHECKING:
    from policies.adoption import Office
    from sluice.ground.declaration import Declaration
    from sluice.report.dossier import Dossier
    from tasks.release.product import AnyProduct
    from tasks.tuning.other_draws import OtherDraws

releases_app = typer.Typer()

Definition = Annotated[Path, typer.Argument(metavar="FILE", help="the release definition (YAML)")]


@releases_app.command()
def release(file: Definition, as_json: AsJson = False) -> None:
    """Take the data through the whole chain: publish, wait for approval, or block with the reason."""
    _run(str(file), as_json=as_json)


@releases_app.command()
def check(
    file: Definition,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="RULE", help="and explain this rule, with what it found")
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", min=0, help="and by how many of N other draws the plan passes")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Judge and report as `release` does, but ask nobody and publish nothing."""
    _run(str(file), rehearse=True, as_json=as_json, explain=explain, repeat=repeat)


def _run(
    definition: str, *, rehearse: bool = False, as_json: bool, explain: str | None = None, repeat: int = 0
) -> None:
    from tasks.release.products import load_definition, product_of

    # A wrong name or document is said at once, before anything starts, and before what judges data is imported.
    explanation = _explanation(explain) if explain else None
    written = load_definition(Path(definition))
    if repeat and written.product == "tables":
        raise DocumentError("--repeat: is for files of records, and this definition is of tables")

    from sluice.custody.workspace import open_workspace

    product = product_of(Path(definition), written, open_workspace())

    from tasks.release.decisions.adopted_documents import refuse_unadopted
    from tasks.release.decisions.signing_in import account
    from tasks.release.stored_dossier import kept_dossier

    if not rehearse:
        refuse_unadopted(product, (product.definition.owner, account()))
    for warning in document_warnings(product):
        note(f"note: {warning}", "yellow", logging.WARNING)
    with progress(as_json):
        from flows.follow_up import run_flow

        outcome = run_flow(product, rehearse=rehearse)
        draws = _drawn_again(Path(definition), written, repeat) if repeat else None
    dossier = kept_dossier(product.workspace, product.workspace.ledger.entries(outcome.release))
    suggested = None if product.definition.product == "tables" else definition
    finish(outcome, as_json, suggested, dossier, explanation, draws)


def _drawn_again(file: Path, definition: Any, repeat: int) -> "OtherDraws | None":
    """None where the data are not what their contract says: then no draw passes."""
    from sluice.ground.progress import report
    from tasks.tuning.other_draws import other_draws_for

    try:
        return other_draws_for(file, definition, repeat, partial(report, "other draws", of=repeat))
    except DataError as error:
        note(f"note: no other draw was made: {error}", "yellow")
        return None


def _explanation(rule: str) -> "Declaration":
    from tasks.checks import explain

    return explain(rule)


def finish(
    outcome: Any,
    as_json: bool,
    definition: str | None = None,
    dossier: "Dossier | None" = None,
    explanation: "Declaration | None" = None,
    draws: "OtherDraws | None" = None,
) -> None:
    """Say where the release stands and, where it is blocked, what to change; exit with the code for it.

    definition : the file of a release of records, of which changes may be suggested where it is blocked
    dossier    : of its last judgement
    explanation: of a rule, to go with it
    draws      : how the plan does by others
    """
    blocked = dossier if outcome.verdict is not Verdict.PASS and _exit_code(outcome) == BLOCKED else None
    if as_json:
        verdict = None if outcome.verdict is None else outcome.verdict.name
        drawn = {} if draws is None else {"other_draws": draws.as_json()}
        change = _to_change(blocked) if blocked else {}
        print_json(outcome.model_dump(mode="json") | {"verdict": verdict} | drawn | change)
    else:
        say(f"{outcome.release} {_stands(outcome.state)}.", style="bold")
        judged = (outcome.says, *(f"  - {reason}" for reason in outcome.further_reasons))
        for line in (*(() if outcome.state is State.PUBLISHED else judged), outcome.approvals):
            if line:
                say(line)
        if draws is not None:
            stopped = ", ".join(f"{rule} in {times:,}" for rule, times in draws.stopped_by.items())
            by = f"; stopped by {stopped}" if stopped else ""
            say(f"by other draws the plan passes in {draws.passed:,} of {draws.of:,}{by}.")
        if blocked:
            _say_what_to_change(blocked, definition)
        for name, path in (("report", outcome.report), ("published", outcome.published)):
            if path:
                say(f"{name}: {_from_here(path)}")
        if explanation:
            from flows.cli.reference_commands import say_explanation

            say_explanation(explanation, dossier)
        if outcome.state in (State.NEEDS_DECISION, State.PENDING_REVIEW):
            say(f"to judge it: sluice review {outcome.release}")
    raise typer.Exit(_exit_code(outcome))


def _to_change(dossier: "Dossier") -> dict[str, Any]:
    """The same for machines."""
    from sluice.report.headline import what_to_change

    changes = [asdict(change) for change in what_to_change(dossier)]
    return {"what_to_change": changes, "suggestions": dossier.suggestions}


def _say_what_to_change(dossier: "Dossier", definition: str | None) -> None:
    from sluice.report.headline import in_lines

    if lines := in_lines(dossier):
        say("What to change", style="bold")
    for line in lines:
        say(f"  {line}")
    if dossier.suggestions:
        say("Changes of the plan that passed when they were tried, the smallest first", style="bold")
    for number, each in enumerate(dossier.suggestions, 1):
        say(f"  {number}. {each}")
    if not definition or dossier.suggestions or dossier.verdict is not Verdict.FAIL:
        return
    from policies.several_publications import RULES

    if any(finding.verdict is Verdict.FAIL and finding.rule in RULES for finding in dossier.findings):
        say("an earlier publication stands in the way, at which sluice suggest and sluice tune do not look.")
    else:
        say(f"to have the smallest changes of the plan tried that would pass: sluice suggest {definition}")


def _stands(state: State) -> str:
    if state in (State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED):  # where a rehearsal ends
        return "was checked; nobody is asked and nothing is published"
    return state.stands


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _exit_code(outcome: Any) -> int:
    match outcome.state:
        case State.PUBLISHED | State.SUPERSEDED:
            return DONE
        case State.NEEDS_DECISION | State.PENDING_REVIEW | State.APPROVED | State.PUBLISHING:
            return WAITING
        case State.BLOCKED | State.REJECTED | State.CHANGES_REQUESTED | State.WITHDRAWN | State.OVERTAKEN:
            return BLOCKED
    return DONE if outcome.verdict is Verdict.PASS else BLOCKED  # a rehearsal ends in the state `evaluated`


def document_warnings(product: "AnyProduct") -> list[str]:
    """A sentence for each; none when only the data can tell."""
    from tasks.release.decisions.adopted_documents import adoption_faults
    from tasks.release.decisions.office import open_office

    office = open_office(product.workspace)
    if office is None:  # somebody tries it out
        return product.warnings()
    unadopted = [
        f"this release can be checked, and not be published: {fault}."
        for fault in adoption_faults(product, (product.definition.owner,))
    ]
    return [*product.warnings(), *unadopted, *_missing_approvers(product, office)]


def _missing_approvers(product: "AnyProduct", office: "Office") -> list[str]:
    from policies.standing import assign

    approvals, owner = product.policy.approvals, office.roster.person(product.definition.owner)
    others = {name: person.roles for name, person in office.roster.people.items() if name != owner}
    filled = assign(approvals.roles, others)
    empty = [role for place, role in enumerate(approvals.roles) if place not in filled]
    who = f"of the people of this office, without the owner '{product.definition.owner}',"
    if empty:
        return [f"{who} nobody is left for the role {' and '.join(empty)}: this release could never be approved."]
    if len(others) < approvals.count:
        return [f"{who} {len(others)} may approve, and {approvals.count} must: this release could never be approved."]
    return []
