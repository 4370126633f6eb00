"""The commands of the people who decide on a release: look at it, approve it, refuse it, withdraw it."""

from typing import Annotated, Any

import typer

from flows.cli.releases import finish, progress
from flows.cli.terminal import DONE, WAITING, AsJson, ReleaseId, out, print_json, say
from sluice.custody.states import State
from sluice.errors import SluiceError

review_app = typer.Typer()

As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="who you are; only where the policy takes declared names")
]
Comment = Annotated[str, typer.Option("--comment", help="kept in the ledger, for whoever reads it years later")]


@review_app.command()
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
    facts: dict[str, Any] = {
        "release": found.release,
        "state": found.state,
        "title": dossier.title,
        "submitter": dossier.submitter,
        "judged": f"{dossier.evaluated_at}, by policy {dossier.policy}, version {dossier.policy_version}",
        "records": f"{dossier.records_original:,} {dossier.view.use_of_records}",
        "earlier_attempts": f"{dossier.earlier_attempts} other releases of nearly the same data were judged before",
        "verdict": dossier.verdict.name,
        "report": str(workspace.reports / f"{release_id}.html"),
    }
    if found.subject:  # else the data broke their contract, and nothing was masked
        named = {"data": "file", "csv": "csv"}
        facts |= {named[name]: str(path) for name, path in found.files.items() if name in named}
        facts["approval_binds_to"] = found.subject.digest()
        try:
            release = find(release_id)
            standing = standing_of(release)
            documents = release.product
            facts |= {"definition": str(documents.path), "approvers_from": str(documents.definition.people)}
            given = {f"by {each.who}": f"as {each.role or 'no role asked for'}, {each.at}" for each in standing.valid}
            given |= {f"void, by {each.who}": f"{each.reason}, {each.at}" for each in standing.void}
            facts |= {"approvals": standing.says, **given}
        except SluiceError as error:  # its documents changed since
            facts["approvals"] = str(error)
        facts["needed"] = dossier.approvals_needed
    if as_json:
        findings = [finding.model_dump(mode="json") for finding in dossier.findings]
        fields = {"measure", "unit", "tables", "parameters"}
        view = dossier.view.model_dump(mode="json", include=fields, exclude={"tables": {"__all__": {"maps"}}})
        print_json(facts | {"plan": dossier.plan} | view | {"findings": findings, "hashes": dossier.hashes})
        return
    show_dossier(out, facts, dossier)


@review_app.command()
def approve(release_id: ReleaseId, name: As = None, comment: Comment = "", as_json: AsJson = False) -> None:
    """Approve exactly the bytes and documents under review; with the last approval needed, they are published."""
    from flows.review import go_on
    from tasks.release.approval import standing as standing_of
    from tasks.release.review import find, record_approval

    found = find(release_id)
    begun = found.state in (State.PUBLISHING, State.PUBLISHED)  # by a run that was stopped: it is finished, if need be
    standing = standing_of(found) if begun else record_approval(found, name, comment)
    if begun or standing.complete:
        with progress(as_json):
            outcome = go_on(found)
        if outcome is not None:
            finish(outcome, as_json)
    if as_json:
        print_json({"release": found.id, "state": found.state, "approvals": standing.says})
    else:
        say(f"{found.id}: {standing.says}")
    raise typer.Exit(DONE if standing.complete else WAITING)


@review_app.command()
def reject(release_id: ReleaseId, name: As = None, comment: Comment = "", as_json: AsJson = False) -> None:
    """Refuse the release for good. Other documents or other data make another release."""
    _refuse(release_id, State.REJECTED, name, comment, as_json)


@review_app.command("request-changes")
def request_changes(release_id: ReleaseId, name: As = None, comment: Comment = "", as_json: AsJson = False) -> None:
    """Send the release back to its owner."""
    _refuse(release_id, State.CHANGES_REQUESTED, name, comment, as_json)


@review_app.command()
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
        say(f"{release_id} is withdrawn; its files are in {gone}.")


def _refuse(release_id: str, decision: State, name: str | None, comment: str, as_json: bool) -> None:
    from flows.review import resume_waiting
    from tasks.release.documents import open_workspace
    from tasks.release.review import refuse

    refuse(release_id, decision, name, comment)
    resume_waiting(open_workspace(), release_id)
    if as_json:
        print_json({"release": release_id, "state": decision})
    else:
        say(f"{release_id}: {str(decision).replace('_', ' ')}.")
