"""What people do with a release: find it, decide on it, withdraw it. Each is an event in the ledger."""

from collections.abc import Mapping
from pathlib import Path

from policies.adoption import LAPSES_AFTER, PEOPLE_NEEDED
from policies.approvals import DECISION, PREDICATE, decision_predicate
from policies.key_history import key_history
from policies.people import stronger
from policies.standing import REFUSALS, Decision, Standing
from sluice.custody.clock import refuse_wrong_clock
from sluice.custody.ledger import last
from sluice.custody.states import SERIES_ENDED, State, allowed
from sluice.custody.workspace import Workspace, open_workspace
from sluice.ground.errors import SluiceError
from tasks.release.decisions.signing_in import Credentials, Request, act, refuse_unseen, refuse_unverifiable
from tasks.release.decisions.under_review import UnderReview, approved_files, verify_subject
from tasks.release.decisions.withdrawal import (
    WITHDRAWAL,
    WITHDRAWAL_PREDICATE,
    Withdrawable,
    carry_out,
    requests,
    withdrawal_predicate,
)
from tasks.release.product import AnyRelease
from tasks.release.products import load_product
from tasks.release.release import recorded_release
from tasks.release.run_notes import definition_of

SERIES_PREDICATE = "urn:sluice:series-end:1"


def find(release_id: str) -> AnyRelease:
    """The release with this id. Raises SluiceError when there is none, or its documents changed since it was judged."""
    workspace = open_workspace()
    definition = definition_of(workspace, release_id)
    if not definition.exists():
        raise SluiceError(
            f"{release_id} was judged by {definition}, which is no longer there. Bring it back; or, where it was "
            "moved, first run sluice release FILE on it where it lies now."
        )
    return recorded_release(load_product(definition, workspace), release_id)


def approve(
    release: AnyRelease, credentials: Credentials, comment: str, series: bool = False, seen: str | None = None
) -> Standing | Request:
    """Record one person's approval of exactly the bytes that were judged; see `decide`."""
    _refuse_unless_under_review(release.state, release.id)
    verify_subject(release)
    files = {name: sha256 for name, (sha256, _) in approved_files(release).items()}
    return decide(release.product.workspace, release.id, "approve", credentials, comment, files, series, seen)


def decide(
    workspace: Workspace,
    release_id: str,
    decision: Decision,
    credentials: Credentials,
    comment: str,
    files: Mapping[str, str] | None = None,
    series: bool = False,
    seen: str | None = None,
) -> Standing | Request:
    """Record what one person decides on a release, whatever became of its documents since, and what comes of it.

    files  : name -> SHA-256 of the data files that it is about; None: of all that was reviewed
    series : whether it is of the editions that follow, too
    seen   : the digest of what its giver had before them, where a page says so; None: of what is under review now
    returns: the standing with it, which says so when the same decision of that person already holds; what is to be
             signed, where that is all that is asked
    raises : SluiceError when it could not count
    """
    refuse_unseen("comment", comment)
    case = UnderReview.of(workspace, release_id)
    possible = allowed(decision.replace("_", "-"))
    _refuse_unless_under_review(workspace.ledger.state(release_id), release_id)
    if decision != "approve" and not comment.strip():
        raise SluiceError(f"the comment must say why: who submitted {release_id} has to know what to change")
    if decision == "approve":
        refuse_wrong_clock(workspace.ledger)  # a refusal is safe at any time
    if seen not in (None, case.subject.digest()):
        raise SluiceError(f"{release_id} was judged again since you read it: look at it once more, then decide")
    if series and case.policy.approvals.series is None:
        raise SluiceError(
            f"the policy '{case.policy.name}' lets nobody approve a series: each edition is decided on. Approve this "
            "one without --series; or adopt a policy with approvals.series"
        )
    bound, limits = case.subject, case.policy.approvals.series if series else None
    said = act(
        case.office.roster,
        stronger(case.office.roster.identity, case.policy.approvals.identity),
        credentials,
        PREDICATE,
        lambda words, at, salt: decision_predicate(
            case.office.id, release_id, decision, bound.digest(), words, at, salt, limits
        ),
        files or bound.model_dump(exclude_none=True),
        comment,
        workspace.vault,
    )
    if isinstance(said, Request):
        return said
    refuse_unverifiable(said, key_history(case.office.rosters))
    if not any(case.relation(said.person) in may for may in possible.values()):
        raise SluiceError(f"'{said.person}' submitted {release_id} and cannot approve it; another person must.")
    before = case.standing()
    for holds in before.decided:
        if (holds.who, holds.decision, holds.series) == (said.person, decision, series):
            says = f"already decided so by you at {holds.at}, nothing more was recorded; {before.says}"
            return before.model_copy(update={"says": says})
    body = {**said.body, "decision": decision, "subject": bound.digest()} | ({"series": True} if series else {})
    entry = workspace.ledger.append(release_id, DECISION, said.person, body, possible)
    now = UnderReview.of(workspace, release_id).standing()
    if refused := [void.reason for void in now.void if void.at == entry.at]:
        raise SluiceError(f"the decision counts for nothing: {refused[0]}")
    if now.outcome in REFUSALS.values():
        workspace.ledger.append(release_id, now.outcome, said.person, {"says": now.says}, possible)
    return now


def withdraw(release_id: str, credentials: Credentials, reason: str) -> Path | Request | str:
    """Take a published folder off the shelf, when two people ask for it; whatever became of its documents since.

    The folder is the one that the ledger recorded when it was published. Two people of the roster must ask, one of them
    the head of the office or in a role that the policy asks of approvers.

    returns: where the folder went; or a sentence on who else must ask; or what is to be signed
    raises : SluiceError when the release is not on the shelf
    """
    refuse_unseen("reason", reason)
    workspace = open_workspace()
    case = Withdrawable.of(workspace, release_id)
    state, on_shelf = workspace.ledger.state(release_id), allowed("withdraw")
    if state not in on_shelf:
        way = f" Whoever submitted it takes it back: sluice request-changes {release_id}"
        raise SluiceError(
            f"{release_id} is {str(state).replace('_', ' ')}; only a published release can be withdrawn."
            + (way if state in allowed("approve") else "")
        )
    published = last(case.entries, State.PUBLISHED)
    assert published is not None
    said = act(
        case.office.roster,
        case.identity,
        credentials,
        WITHDRAWAL_PREDICATE,
        lambda words, at, salt: withdrawal_predicate(case.office, release_id, words, at, salt),
        {"manifest.json": published.body["files"]["manifest.json"]},
        reason,
        workspace.vault,
    )
    if isinstance(said, Request):
        return said
    workspace.ledger.append(release_id, WITHDRAWAL, said.person, said.body, on_shelf)
    case = Withdrawable.of(workspace, release_id)
    asked = requests(case)
    if not asked.suffice:
        which = "" if asked.in_role else f" with the role {' or '.join(sorted(asked.roles))}"
        return (
            f"{len(asked.by)} of {PEOPLE_NEEDED} people ask that {release_id} be withdrawn; another{which} must run "
            f"the same command within {LAPSES_AFTER.days} days. The public reads the --reason of each."
        )
    return carry_out(case, asked)


def end_series(release_id: str, credentials: Credentials, comment: str) -> Request | str:
    """Let the editions that follow a published one need decisions of their own again. One person of the roster can.

    returns: a sentence, or what is to be signed
    raises : SluiceError when the release is not on the shelf, or its policy knows no series
    """
    refuse_unseen("comment", comment)
    workspace = open_workspace()
    case = UnderReview.of(workspace, release_id)
    state, on_shelf = workspace.ledger.state(release_id), allowed("end-series")
    if state not in on_shelf or case.policy.approvals.series is None:
        raise SluiceError(f"{release_id} is no published edition of a series, so there is none to end")
    said = act(
        case.office.roster,
        stronger(case.office.roster.identity, case.policy.approvals.identity),
        credentials,
        SERIES_PREDICATE,
        lambda words, at, salt: withdrawal_predicate(case.office, release_id, words, at, salt),
        case.subject.model_dump(exclude_none=True),
        comment,
        workspace.vault,
    )
    if isinstance(said, Request):
        return said
    workspace.ledger.append(release_id, SERIES_ENDED, said.person, said.body, on_shelf)
    return f"every edition after {release_id} needs decisions of its own, until people approve the series anew"


def _refuse_unless_under_review(state: State | None, release_id: str) -> None:
    if state not in allowed("approve"):
        says = str(state).replace("_", " ")
        why = f" What was found, and what may help: sluice review {release_id}" if state is State.BLOCKED else ""
        raise SluiceError(f"{release_id} is {says}; only a release that is pending review can be decided on.{why}")
