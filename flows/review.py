"""What people do with a release: look at it, approve it, refuse it, withdraw it."""

from pathlib import Path

from policies.approvals import Standing
from sluice.custody import shelf
from sluice.custody.states import State
from sluice.errors import SluiceError
from tasks.case import Case, Release, account, open_workspace
from tasks.definition import target_of
from tasks.outcome import Outcome
from tasks.waiting import definition_of, resume_runs


def find(release_id: str) -> Release:
    """The release with this id. Raises SluiceError when there is none, or its documents changed since it was judged."""
    workspace = open_workspace()
    return Release.recorded(Case.load(definition_of(workspace, release_id), workspace), release_id)


def approve(release: Release, declared: str | None, comment: str) -> Standing:
    """Record one person's approval; the standing with it, which says so when that person's already holds.

    raises : SluiceError when it could not count
    """
    undecided = (State.PENDING_REVIEW, State.APPROVED)
    if release.state not in undecided:
        raise SluiceError(f"{release.id} is {release.state}; only a release that is pending_review can be approved.")
    release.verify_subject()
    person, identity = _who(release, declared)
    subject = release.subject().digest()
    if person in {release.case.roster.person(submitter) or submitter for submitter in release.submitters()}:
        raise SluiceError(f"'{person}' submitted {release.id} and cannot approve it; another person must.")
    standing = release.standing()
    for holds in standing.valid:
        if holds.who == person:
            told = f"already approved by you at {holds.at}, nothing more was recorded; {standing.says}"
            return standing.model_copy(update={"says": told})
    given = {"subject": subject, "identity": identity, "account": account(), "comment": comment}
    release.record_as(person, "approval", undecided, **given)
    return release.standing()


def refuse(release: Release, decision: State, declared: str | None, comment: str) -> None:
    """Record that one person rejects the release or asks for changes."""
    person, identity = _who(release, declared)
    release.record_as(person, decision, identity=identity, account=account(), comment=comment)


def withdraw(release_id: str, reason: str) -> Path:
    """Take the published folder off the shelf, whatever became of its documents since. Raises when it is not there."""
    workspace = open_workspace()
    definition, state = definition_of(workspace, release_id), workspace.ledger.state(release_id)
    if state not in (State.PUBLISHED, State.SUPERSEDED):
        raise SluiceError(f"{release_id} is {state}; only a published release can be withdrawn.")
    gone = shelf.withdraw(target_of(definition) / release_id, reason)
    workspace.ledger.append(release_id, State.WITHDRAWN, account(), {"reason": reason})
    return gone


def run_flow(case: Case, release_id: str | None = None, rehearse: bool = False) -> Outcome:
    """Run the flow that the case's definition is for, in this process; without a server, as the plain function it is.

    Prefect would start a server for it, which takes longer than most releases, and nobody looks at what it keeps.
    """
    from prefect.settings import get_current_settings

    if case.is_of_tables:
        from flows.release_tables import release_tables_flow as flow
    else:
        from flows.release import release_flow as flow
    run = flow if get_current_settings().api.url else flow.fn
    outcome: Outcome = run(definition=str(case.path), release_id=release_id, rehearse=rehearse)
    return outcome


def go_on(release: Release) -> Outcome | None:
    """Let a decided release go on: resume the runs that wait for it, or else run it here. None: resumed elsewhere."""
    if resume_runs(release.case.workspace, release.id):
        return None
    if release.state is State.PUBLISHING or release.standing().complete:
        return run_flow(release.case, release_id=release.id)
    return Outcome.of(release)


def _who(release: Release, declared: str | None) -> tuple[str, str]:
    """The person on the roster who acts, and how that is known."""
    roster, approvals = release.case.roster, release.case.policy.approvals
    if declared is not None and approvals.identity == "account":
        raise SluiceError(
            f"policy '{release.case.policy.name}' knows approvers by their own account, not by --as; "
            "run the command under the approver's account"
        )
    person = roster.by_account(account()) if declared is None else roster.person(declared)
    if person is None:
        listed = f"{release.case.definition.people}. On it: {', '.join(roster.people)}"
        hint = ". Say who you are with --as" if declared is None and approvals.identity == "declared" else ""
        raise SluiceError(f"'{declared or account()}' is not on the roster {listed}{hint}")
    return person, "account" if declared is None else "declared"
