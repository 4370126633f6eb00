"""What people do with a release: find it, approve it, refuse it, withdraw it. Each is an event in the ledger."""

import json
from pathlib import Path

from policies.approvals import Roster, Standing, load_roster
from policies.policy import Policy
from sluice.custody import shelf
from sluice.custody.states import State, state_of
from sluice.errors import SluiceError
from sluice.reading.visible_text import as_prose
from tasks.release.account import account
from tasks.release.approval import standing, subject, submitters, verify_subject
from tasks.release.documents import open_workspace, refuse_misplaced
from tasks.release.product import AnyRelease
from tasks.release.products import load_product
from tasks.release.release import last, recorded_entries, recorded_release
from tasks.release.waiting import definition_of


def find(release_id: str) -> AnyRelease:
    """The release with this id. Raises SluiceError when there is none, or its documents changed since it was judged."""
    workspace = open_workspace()
    return recorded_release(load_product(definition_of(workspace, release_id), workspace), release_id)


def record_approval(release: AnyRelease, declared: str | None, comment: str) -> Standing:
    """Record one person's approval; the standing with it, which says so when that person's already holds.

    raises : SluiceError when it could not count
    """
    undecided = (State.PENDING_REVIEW, State.APPROVED)
    if release.state not in undecided:
        state = str(release.state).replace("_", " ")
        raise SluiceError(f"{release.id} is {state}; only a release that is pending review can be approved.")
    _refuse_unseen("comment", comment)
    verify_subject(release)
    person, identity = _who(release, declared)
    bound = subject(release).digest()
    if person in {release.product.roster.person(submitter) or submitter for submitter in submitters(release)}:
        raise SluiceError(f"'{person}' submitted {release.id} and cannot approve it; another person must.")
    before = standing(release)
    for holds in before.valid:
        if holds.who == person:
            says = f"already approved by you at {holds.at}, nothing more was recorded; {before.says}"
            return before.model_copy(update={"says": says})
    given = {"subject": bound, "identity": identity, "account": account(), "comment": comment}
    release.record_as(person, "approval", undecided, **given)
    return standing(release)


def refuse(release_id: str, decision: State, declared: str | None, comment: str) -> None:
    """Record that one person rejects a release or asks for changes, whatever became of its documents since.

    Who may is said by the policy and the roster's path as they were when the release was received.

    raises : SluiceError for who is not on the roster, and when the release is not under review any more
    """
    _refuse_unseen("comment", comment)
    workspace = open_workspace()
    received = last(workspace.ledger.entries(release_id), State.RECEIVED)
    path = definition_of(workspace, release_id)
    if received is None:
        raise SluiceError(f"{release_id} was not received: there is nothing to refuse.")
    kept = {name: workspace.vault.verify(received.body[name], ".json").read_bytes() for name in ("policy", "plan")}
    people = (path.parent / json.loads(kept["plan"])["people"]).resolve()
    refuse_misplaced(path, "people", people)
    person, identity = _on_roster(load_roster(people), people, Policy.model_validate_json(kept["policy"]), declared)
    body = {"identity": identity, "account": account(), "comment": comment}
    workspace.ledger.append(release_id, decision, person, body)


def withdraw(release_id: str, reason: str) -> Path:
    """Take the published folder off the shelf, whatever became of its documents since.

    The folder is the one that the ledger recorded when it was published. Raises SluiceError when it is not there.
    """
    _refuse_unseen("reason", reason)
    workspace = open_workspace()
    entries = recorded_entries(workspace, release_id)
    published, state = last(entries, State.PUBLISHED), state_of(entry.event for entry in entries)
    if state not in (State.PUBLISHED, State.SUPERSEDED) or published is None:
        raise SluiceError(f"{release_id} is {str(state).replace('_', ' ')}; only a published release can be withdrawn.")
    gone = shelf.withdraw(Path(published.body["folder"]), reason)
    workspace.ledger.append(release_id, State.WITHDRAWN, account(), {"reason": reason})
    return gone


def _refuse_unseen(field: str, text: str) -> None:
    """Raise SluiceError for words that would not be what they look like to whoever reads them years later."""
    try:
        as_prose(text)
    except ValueError as error:
        raise SluiceError(f"{field}: {error}") from None


def _who(release: AnyRelease, declared: str | None) -> tuple[str, str]:
    documents = release.product
    return _on_roster(documents.roster, documents.definition.people, documents.policy, declared)


def _on_roster(roster: Roster, people: Path, policy: Policy, declared: str | None) -> tuple[str, str]:
    """The person on the roster who acts, and how that is known."""
    if declared is not None and policy.approvals.identity == "account":
        raise SluiceError(
            f"policy '{policy.name}' knows approvers by their own account, not by --as "
            "(approvals.identity: account); run the command under the approver's account"
        )
    person = roster.by_account(account()) if declared is None else roster.person(declared)
    if person is None:
        listed = f"{people}. On it: {', '.join(roster.people)}"
        hint = ". Say who you are with --as" if declared is None and policy.approvals.identity == "declared" else ""
        raise SluiceError(f"'{declared or account()}' is not on the roster {listed}{hint}")
    return person, "account" if declared is None else "declared"
