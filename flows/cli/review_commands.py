"""The commands of the people who decide on a release: look at it, approve it, refuse it, withdraw it."""

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.acting_options import As, Key, Signed, ToSign, means, recorded
from flows.cli.releases import finish
from flows.cli.terminal import BLOCKED, DONE, WAITING, AsJson, ReleaseId, note, out, print_json, progress, say
from policies.decision_table import DECISIONS, DecisionRule
from sluice.custody.states import State
from sluice.ground.errors import SluiceError

if TYPE_CHECKING:
    from policies.acceptances import FindingDecision

review_app = typer.Typer()

_NONE_ASKED: dict[State | None, str] = {
    State.BLOCKED: "none is asked for, as it is blocked",
    State.NEEDS_DECISION: "what was found needs a decision first, see below; then approvals are asked for",
}
NamedFinding = Annotated[
    str, typer.Argument(metavar="FINDING", help="its code, or the first characters of its id: sluice review lists both")
]
Comment = Annotated[str, typer.Option("--comment", help="kept in the ledger")]


@review_app.command()
def review(
    release_id: ReleaseId,
    as_json: AsJson = False,
    as_html: Annotated[
        bool,
        typer.Option("--html", help="print the report, as approvals are bound to it: sluice review ID --html > FILE"),
    ] = False,
) -> None:
    """Show what there is to judge: verdict, findings, the report, the file and what an approval is bound to."""
    from flows.cli.listing import show_dossier
    from flows.history import history
    from policies.standing import told
    from sluice.custody.workspace import open_workspace
    from sluice.report.first_screen import first_screen
    from tasks.release.decisions.decisions_of_people import find
    from tasks.release.decisions.open_findings import open_findings
    from tasks.release.decisions.series_approval import standing_in_series
    from tasks.release.decisions.under_review import UnderReview

    workspace = open_workspace()
    found = history(workspace, release_id)
    dossier = found.dossier
    if dossier is None:
        if found.state is None:
            raise SluiceError(
                f"{release_id} is not a release; a run failed before one was made: sluice ledger show {release_id}"
            )
        raise SluiceError(f"{release_id} is {found.state}: it has not been judged yet.")
    if as_html:  # whoever approves may not read the files of the account that runs Sluice
        if "report" not in found.files:
            raise SluiceError(f"the vault does not hold the report of {release_id} any more")
        print(workspace.vault.verify(found.files["report"].stem, ".html").read_text("utf-8"), end="")
        return
    facts: dict[str, Any] = {
        "release": found.release,
        "state": found.state,
        "title": dossier.title,
        "submitter": dossier.submitter,
        "judged": f"{dossier.evaluated_at}, by policy {dossier.policy}, version {dossier.policy_version}",
        "records": f"{dossier.records_original:,} {dossier.view.use_of_records}",
        "earlier_attempts": (
            "1 other release" if dossier.earlier_attempts == 1 else f"{dossier.earlier_attempts} other releases"
        )
        + f" of nearly the same data {'was' if dossier.earlier_attempts == 1 else 'were'} judged before"
        + (f"; the very same file was, as {', '.join(dossier.judged_bytes)}" if dossier.judged_bytes else "")
        + (f", and {dossier.search_trials:,} plans tried by searches" if dossier.search_trials else ""),
        "verdict": dossier.verdict.name,
        "report": str(workspace.reports / f"{release_id}.html"),
    }
    if found.subject:  # else the data broke their contract, and nothing was masked
        named = {"data": "file", "csv": "csv", "stata": "stata", "spss": "spss"}
        facts |= {named[name]: str(path) for name, path in found.files.items() if name in named}
        facts["approval_binds_to"] = found.subject.digest()
        try:
            standing = standing_in_series(UnderReview.of(workspace, release_id))
            facts["decisions"] = _NONE_ASKED.get(found.state, standing.says)
            for each in standing.decided:  # what was decided stays between each and the ledger until all have
                comment = f": {each.comment}" if standing.revealed else ""
                facts[f"by {each.who}"] = f"{told(each.decision, standing.revealed)}{comment}, {each.at}"
            facts |= {f"void, by {each.who}": f"{each.reason}, {each.at}" for each in standing.void}
        except SluiceError as error:
            facts["decisions"] = str(error)
        try:
            find(release_id)
        except SluiceError as error:  # whoever approves must find what was judged
            facts["documents"] = str(error)
        if found.state is not State.BLOCKED:
            facts["needed"] = dossier.approvals_needed
    needs = open_findings(UnderReview.of(workspace, release_id)) if found.state is State.NEEDS_DECISION else []
    for one in needs:
        said, accept = one.finding.accepted, f"sluice accept-finding {release_id} {one.short} --reason WHY"
        what = one.finding.code or one.finding.rule
        facts[f"finding {one.short}"] = f"{what}: accepted by {said.says}" if said else f"{what}: {accept}"
    first = first_screen(dossier, found.settled)
    if as_json:
        findings = [finding.model_dump(mode="json") for finding in dossier.findings]
        fields = {"measure", "unit", "tables", "parameters"}
        view = dossier.view.model_dump(mode="json", include=fields, exclude={"tables": {"__all__": {"maps"}}})
        print_json(
            facts
            | {"first_screen": first.model_dump(mode="json"), "plan": dossier.plan}
            | {"reading": [remark.model_dump() for remark in dossier.reading]}
            | view
            | {"findings": findings, "hashes": dossier.hashes}
        )
        return
    show_dossier(out, first, facts, dossier)


@review_app.command()
def approve(
    release_id: ReleaseId,
    name: As = None,
    comment: Comment = "",
    series: Annotated[
        bool, typer.Option("--series", help="and the editions that follow, within the policy's approvals.series")
    ] = False,
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Approve exactly the bytes and documents under review; the last approval publishes them."""
    from flows.follow_up import announce, go_on
    from tasks.release.decisions.decisions_of_people import approve, find
    from tasks.release.decisions.series_approval import standing as standing_of

    found = find(release_id)
    begun = found.state in (State.PUBLISHING, State.PUBLISHED)  # by a run that was stopped: it is finished, if need be
    standing = recorded(
        standing_of(found) if begun else approve(found, means(name, key, envelope, to_sign), comment, series), to_sign
    )
    if begun:
        note(_nothing_recorded(release_id, name), "yellow")
    if begun or standing.complete:
        with progress(as_json):
            outcome = go_on(found)
        if outcome is not None:
            finish(outcome, as_json)
        note("the run that waited for this goes on and publishes it; when it has: sluice ledger status")
    else:
        announce(found.product.workspace, release_id)
    _finish_decision(release_id, found.state, standing, as_json)


def _nothing_recorded(release_id: str, name: str | None) -> str:
    """Why an approval that comes after the last one leaves no trace, to whoever gave it."""
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.signing_in import account
    from tasks.release.decisions.under_review import UnderReview

    case = UnderReview.of(open_workspace(), release_id)
    person = case.office.roster.person(given := name or account()) or given
    says = f"nothing was recorded: {release_id} had all its approvals before"
    if case.is_submitter(person):
        return f"{says}; and '{person}' submitted it, so could not have approved it."
    return f"{says}."


@review_app.command("accept-finding")
def accept_finding(
    release_id: ReleaseId,
    finding: NamedFinding,
    reason: Annotated[
        str, typer.Option("--reason", help="at least 20 characters; the public reads it, so no figure of the data")
    ],
    until: Annotated[
        datetime | None,
        typer.Option(
            "--until",
            formats=["%Y-%m-%d"],
            help="last day on which the publication may begin; else as long as an approval is valid",
        ),
    ] = None,
    name: As = None,
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Accept a finding that needs a decision, for this release alone; with the last one, approvals are asked for.

    It takes a role of the policy's approvals.decides, never the submitter. What fails, or could not be judged, cannot
    be accepted.
    """
    day = until.date() if until else None
    by = means(name, key, envelope, to_sign)
    _decide_finding(release_id, "accept_finding", finding, by, reason, day, to_sign, as_json)


@review_app.command("refuse-finding")
def refuse_finding(
    release_id: ReleaseId,
    finding: NamedFinding,
    reason: Annotated[str, typer.Option("--reason", help="at least 20 characters: what has to change")],
    name: As = None,
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Refuse a finding: the release goes back to its owner, with what has to change."""
    by = means(name, key, envelope, to_sign)
    _decide_finding(release_id, "refuse_finding", finding, by, reason, None, to_sign, as_json)


def _decide_finding(
    release_id: str,
    decision: "FindingDecision",
    finding: str,
    by: Any,
    reason: str,
    until: date | None,
    to_sign: str | None,
    as_json: bool,
) -> None:
    from flows.follow_up import announce, resume_waiting
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.open_findings import decide_finding

    workspace = open_workspace()
    answer = recorded(decide_finding(workspace, release_id, decision, finding, by, reason, until), to_sign)
    if decision == "refuse_finding":
        resume_waiting(workspace, release_id)
    announce(workspace, release_id)
    state = workspace.ledger.state(release_id)
    if as_json:
        print_json({"release": release_id, "state": state, "says": answer})
    else:
        say(answer)
    raise typer.Exit(BLOCKED if state is State.CHANGES_REQUESTED else WAITING)


def _refusal(rule: DecisionRule) -> None:
    """Make the command for a decision that is no approval."""

    def refuse(
        release_id: ReleaseId,
        name: As = None,
        comment: Comment = "",
        key: Key = None,
        envelope: Signed = None,
        to_sign: ToSign = None,
        as_json: AsJson = False,
    ) -> None:
        _decide(release_id, rule.name, means(name, key, envelope, to_sign), comment, to_sign, as_json)

    review_app.command(rule.action, help=rule.help)(refuse)


for _rule in DECISIONS.values():
    if _rule.help:
        _refusal(_rule)


@review_app.command()
def withdraw(
    release_id: ReleaseId,
    reason: Annotated[
        str, typer.Option("--reason", help="shown to the public in the file's place, with that of the other")
    ],
    name: As = None,
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Take a published release off the shelf, leaving a note in its place. It takes two people."""
    from flows.follow_up import announce
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.decisions_of_people import withdraw

    answer = recorded(withdraw(release_id, means(name, key, envelope, to_sign), reason), to_sign)
    announce(open_workspace(), release_id)
    if isinstance(answer, str):
        if as_json:
            print_json({"release": release_id, "state": State.PUBLISHED, "says": answer})
        else:
            say(answer)
        raise typer.Exit(WAITING)
    if as_json:
        print_json({"release": release_id, "state": State.WITHDRAWN, "moved_to": str(answer)})
    elif isinstance(answer, Path):
        files = f"its files are in {answer}" if answer.exists() else "its folder was on the shelf no more"
        say(f"{release_id} is withdrawn; {files}.")


@review_app.command("end-series")
def end_series(
    release_id: ReleaseId,
    name: As = None,
    comment: Comment = "",
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Let the editions that follow a published one need decisions of their own again. It takes one person."""
    from flows.follow_up import announce
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.decisions_of_people import end_series

    answer = recorded(end_series(release_id, means(name, key, envelope, to_sign), comment), to_sign)
    announce(open_workspace(), release_id)
    if as_json:
        print_json({"release": release_id, "says": answer})
    else:
        say(answer)


def _decide(release_id: str, decision: Any, by: Any, comment: str, to_sign: str | None, as_json: bool) -> None:
    from flows.follow_up import announce, resume_waiting
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.decisions_of_people import decide

    workspace = open_workspace()
    standing = recorded(decide(workspace, release_id, decision, by, comment), to_sign)
    if standing.outcome != "open":
        resume_waiting(workspace, release_id)
    announce(workspace, release_id)
    _finish_decision(release_id, workspace.ledger.state(release_id), standing, as_json)


def _finish_decision(release_id: str, state: State | None, standing: Any, as_json: bool) -> None:
    """Say where the release stands with those who decide, and exit with the code for it."""
    if as_json:
        statements = [each.model_dump(mode="json") for each in standing.statements]
        print_json({"release": release_id, "state": state, "approvals": standing.says, "statements": statements})
    else:
        say(f"{release_id}: {standing.says}")
    code = {"open": WAITING, "approved": DONE}.get(standing.outcome, BLOCKED)
    raise typer.Exit(code)
