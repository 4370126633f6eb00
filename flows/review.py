"""What people do with a release: look at it, approve it, refuse it, withdraw it."""

import flows.settings  # noqa: F401  isort: skip  (before anything that imports Prefect)

from pathlib import Path

from policies.approvals import Standing
from sluice.errors import SluiceError
from sluice.release import shelf
from sluice.release.dossier import Dossier
from sluice.release.states import State
from tasks.case import Case, Release, account, open_workspace
from tasks.outcome import Outcome
from tasks.waiting import definition_of, resume_runs


def find(release_id: str) -> Release:
    """The release with this id. Raises SluiceError when there is none, or its documents changed since it was judged."""
    workspace = open_workspace()
    return Release.recorded(Case.load(definition_of(workspace, release_id), workspace), release_id)


def dossier_of(release: Release) -> Dossier:
    """What people are shown of it, hashed again."""
    judged = release.judgement()
    if judged is None:
        raise SluiceError(f"{release.id} has not been judged; run: sluice release {release.case.path}")
    kept = release.case.workspace.vault.verify(judged["dossier"], ".json")
    return Dossier.model_validate_json(kept.read_bytes())


def approve(release: Release, declared: str | None, comment: str) -> Standing:
    """Record one person's approval; the standing with it. Raises SluiceError when it could not count."""
    if release.state not in (State.PENDING_REVIEW, State.APPROVED):
        raise SluiceError(f"{release.id} is {release.state}; only a release that is pending_review can be approved.")
    person, identity = _who(release, declared)
    subject = release.subject().digest()
    if person in {release.case.roster.person(submitter) or submitter for submitter in release.submitters()}:
        raise SluiceError(f"'{person}' submitted {release.id} and cannot approve it; another person must.")
    release.record_as(person, "approval", subject=subject, identity=identity, account=account(), comment=comment)
    return release.standing()


def refuse(release: Release, decision: State, declared: str | None, comment: str) -> None:
    """Record that one person rejects the release or asks for changes."""
    person, identity = _who(release, declared)
    release.record_as(person, decision, identity=identity, account=account(), comment=comment)


def withdraw(release: Release, reason: str) -> Path:
    """Take the published folder off the shelf. Raises SluiceError when it is not published."""
    if release.state is not State.PUBLISHED:
        raise SluiceError(f"{release.id} is {release.state}; only a published release can be withdrawn.")
    gone = shelf.withdraw(release.case.definition.target / release.id, reason)
    release.record(State.WITHDRAWN, reason=reason)
    return gone


def go_on(release: Release) -> Outcome | None:
    """Let a decided release go on: resume the runs that wait for it, or else run it here. None: resumed elsewhere."""
    if resume_runs(release.case.workspace, release.id):
        return None
    from flows.release import release_flow

    if release.standing().complete:
        return release_flow(definition=str(release.case.path), release_id=release.id)
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
        raise SluiceError(f"'{declared or account()}' is not on the roster {release.case.definition.people}")
    return person, "account" if declared is None else "declared"
