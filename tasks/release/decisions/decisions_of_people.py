"""What people do with a release: find it, decide on it, withdraw it. Each is an event in the ledger.

Who may do what, and when, says the table of decisions (`policies.decision_table`).

A published release is withdrawn when enough people ask that it be taken off its shelf. Withdrawal hangs on ledger and
roster alone: what is public must come off its shelf also where this version cannot read the policy that it was judged
by, or the vault has lost it. Each step can be done again: what was interrupted is finished by whoever asks again, or by
`sluice doctor --repair`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from policies.acceptances import refuse_thin_reason
from policies.acts import digest_of_words, said_at, verified_person
from policies.adoption import Office
from policies.approvals import decision_predicate
from policies.decision_table import DECISIONS, LAPSES_AFTER, DecisionRule
from policies.kept_policy import KeptPolicy
from policies.key_history import key_history
from policies.people import HEAD, Identity, stronger
from policies.standing import REFUSALS, Decision, Standing
from sluice.custody import shelf
from sluice.custody.clock import refuse_wrong_clock
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.shelf_documents import is_same_shelf
from sluice.custody.states import State
from sluice.custody.workspace import Workspace, open_workspace
from sluice.ground.durable import locked
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.sentence import Sentence
from tasks.release.decisions.signing_in import Credentials, Request, Said, act, refuse_unseen, refuse_unverifiable
from tasks.release.decisions.under_review import UnderReview, approved_files, office_of, received_of, verify_subject
from tasks.release.run_notes import definition_of

if TYPE_CHECKING:
    from tasks.release.product import AnyRelease

_RULE = DECISIONS["withdraw"]
SHORTEST_TO_WITHDRAW = 8  # characters: the public reads them, and whoever is in haste must not be kept from it


@dataclass(frozen=True)
class Requests:
    """Who asks, first to last, and in which roles one of them must be."""

    by: Mapping[str, Entry]
    roles: frozenset[str]
    in_role: bool

    @property
    def suffice(self) -> bool:
        return len(self.by) >= _RULE.people and self.in_role

    @property
    def reasons(self) -> str:
        """What the public reads."""
        return "; ".join(dict.fromkeys(entry.body["comment"] for entry in self.by.values()))


@dataclass(frozen=True)
class Withdrawable:
    """A release as those find it who ask that it be withdrawn."""

    workspace: Workspace
    id: str
    entries: Sequence[Entry]
    office: Office
    identity: Identity  # how those who ask must at least be known
    roles: frozenset[str]  # one of them must be in one of these

    @classmethod
    def of(cls, workspace: Workspace, release_id: str) -> "Withdrawable":
        """Raises SluiceError for an id of which nothing was received, and where no office was founded."""
        entries = workspace.ledger.entries(release_id)
        office, received = office_of(workspace), received_of(workspace, release_id, entries)
        identity, roles = office.roster.identity, frozenset({HEAD})
        with suppress(SluiceError, ValidationError):  # without its policy the roster says it alone
            kept = workspace.vault.verify(received.body["policy"], ".json").read_bytes()
            asks = KeptPolicy.model_validate_json(kept).approvals
            identity, roles = stronger(identity, asks.identity), roles | {*asks.roles}
        return cls(workspace, release_id, entries, office, identity, roles)


def requests(case: Withdrawable) -> Requests:
    """The requests that count now: verified, and not long ago. Of a release that is not on the shelf there are none."""
    by: dict[str, Entry] = {}
    if case.workspace.ledger.state(case.id) in _RULE.states:
        by = {who: entry for entry in case.entries if entry.event == _RULE.event and (who := _asks(case, entry))}
    return Requests(by, case.roles, any(case.roles & {*case.office.roster.people[who].roles} for who in by))


def carry_out(case: Withdrawable, asked: Requests) -> Path:
    """Take a release off the shelf for which enough people asked; returns where its folder went.

    raises : SluiceError where too few ask, and as `shelf.withdraw`; DataError where its tables could not be dropped
    """
    # What writes shelf and warehouse: who only looks at what is asked starts without.
    from tasks.release.editions.current_edition import publishing_lock, settle_editions
    from tasks.release.editions.schema_views import write_views
    from tasks.release.editions.shelf_catalogue import write_catalogues

    if not asked.suffice:
        raise SluiceError(f"too few people ask that {case.id} be withdrawn")
    workspace, published = case.workspace, last(case.entries, State.PUBLISHED)
    assert published is not None
    folder = Path(published.body["folder"])
    with locked(publishing_lock(workspace)):  # else two could each give reasons of their own
        if workspace.ledger.state(case.id) is not State.WITHDRAWN:
            shelf.withdraw(folder, asked.reasons)
            workspace.ledger.append(case.id, State.WITHDRAWN, [*asked.by][-1], {"reason": asked.reasons})
    settle_editions(workspace)
    write_catalogues(workspace)
    for where, why in write_views(workspace).items():  # a server that does not answer keeps nothing on the shelf
        if where.name == published.body["definition"] and is_same_shelf(where.shelf, folder.parent):
            raise DataError(
                f"{case.id} is withdrawn, and its folder is off the shelf; its tables are not yet out of "
                f"'{where.into}' of '{where.connection}' ({why}). When that is mended: sluice catalogue"
            )
    return shelf.withdrawn_of(folder)


def withdrawal_predicate(office: Office, release: str, reason: str, at: str, salt: str) -> dict[str, str]:
    """What somebody signs who asks for a withdrawal, or ends a series."""
    return {"office": office.id, "release": release, "comment_sha256": digest_of_words(reason, salt), "at": at}


def _asks(case: Withdrawable, entry: Entry) -> str | None:
    """Who asked for a withdrawal; None where that cannot be verified, or is long ago."""
    try:
        words, said, salt = (entry.body[name] for name in ("comment", "said_at", "salt"))
        predicate = withdrawal_predicate(case.office, case.id, words, said, salt)
        if datetime.now(UTC) - said_at(entry) > LAPSES_AFTER:
            return None
        return verified_person(entry, case.office.roster, _RULE.predicate, predicate)
    except (SluiceError, KeyError):
        return None


_AGAIN = Sentence("standing.again", "already decided so by you at {at}, nothing more was recorded; ")


def find(release_id: str) -> "AnyRelease":
    """The release with this id. Raises SluiceError when there is none, or its documents changed since it was judged."""
    from tasks.release.documented_release import recorded_release
    from tasks.release.products import load_product  # and all rules and methods, which only its documents need

    workspace = open_workspace()
    definition = definition_of(workspace, release_id)
    if not definition.exists():
        raise SluiceError(
            f"{release_id} was judged by {definition}, which is no longer there. Bring it back; or, where it was "
            "moved, first run sluice release FILE on it where it lies now."
        )
    return recorded_release(load_product(definition, workspace), release_id)


def approve(
    release: "AnyRelease", credentials: Credentials, comment: str, series: bool = False, seen: str | None = None
) -> Standing | Request:
    """Record one person's approval of exactly the bytes that were judged; see `decide`."""
    DECISIONS["approve"].check_state(release.id, release.state)
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
    returns: the standing with it, which says so when the same decision of that person, in the same words or without,
             already holds; what is to be signed, where that is all that is asked
    raises : SluiceError when it could not count
    """
    refuse_unseen("comment", comment)
    rule, case = DECISIONS[decision], UnderReview.of(workspace, release_id)
    rule.check_state(release_id, workspace.ledger.state(release_id))
    if rule.says_why and not comment.strip():
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
    said = _said(
        case, rule, credentials, comment, files or bound.model_dump(exclude_none=True),
        lambda words, at, salt: decision_predicate(
            case.office.id, release_id, decision, bound.digest(), words, at, salt, limits
        ),
    )  # fmt: skip
    if isinstance(said, Request):
        return said
    refuse_unverifiable(said, key_history(case.office.rosters))
    rule.check_person(release_id, said.person, case.relation(said.person))
    before = case.standing()
    for holds in before.decided:
        nothing_new = not comment.strip() or comment == holds.comment
        if nothing_new and (holds.who, holds.decision, holds.series) == (said.person, decision, series):
            return before.model_copy(update={"statements": _AGAIN(at=holds.at) + before.statements})
    body = {**said.body, "decision": decision, "subject": bound.digest()} | ({"series": True} if series else {})
    entry = workspace.ledger.append(release_id, rule.event, said.person, body, rule.states)
    now = UnderReview.of(workspace, release_id).standing()
    if refused := [void.reason for void in now.void if void.at == entry.at]:
        raise SluiceError(f"the decision counts for nothing: {refused[0]}")
    if now.outcome in REFUSALS.values():
        workspace.ledger.append(release_id, now.outcome, said.person, {"says": now.says}, rule.states)
    return now


def withdraw(release_id: str, credentials: Credentials, reason: str) -> Path | Request | str:
    """Take a published folder off the shelf, when two people ask for it; whatever became of its documents since.

    The folder is the one that the ledger recorded when it was published. Two people of the roster must ask, one of them
    the head of the office or in a role that the policy asks of approvers.

    returns: where the folder went; or a sentence on who else must ask; or what is to be signed
    raises : SluiceError when the release is not on the shelf
    """
    refuse_unseen("reason", reason)
    workspace, rule = open_workspace(), DECISIONS["withdraw"]
    case = Withdrawable.of(workspace, release_id)
    rule.check_state(release_id, workspace.ledger.state(release_id))
    refuse_thin_reason(reason, SHORTEST_TO_WITHDRAW)
    published = last(case.entries, State.PUBLISHED)
    assert published is not None
    files = {"manifest.json": published.body["files"]["manifest.json"]}
    said = _said(case, rule, credentials, reason, files)
    if isinstance(said, Request):
        return said
    workspace.ledger.append(release_id, rule.event, said.person, said.body, rule.states)
    case = Withdrawable.of(workspace, release_id)
    asked = requests(case)
    if not asked.suffice:
        which = "" if asked.in_role else f" with the role {' or '.join(sorted(asked.roles))}"
        return (
            f"{len(asked.by)} of {rule.people} people ask that {release_id} be withdrawn; another{which} must run "
            f"the same command within {LAPSES_AFTER.days} days. The public reads the --reason of each."
        )
    return carry_out(case, asked)


def end_series(release_id: str, credentials: Credentials, comment: str) -> Request | str:
    """Let the editions that follow a published one need decisions of their own again. One person of the roster can.

    returns: a sentence, or what is to be signed
    raises : SluiceError when the release is not on the shelf, or its policy knows no series
    """
    refuse_unseen("comment", comment)
    workspace, rule = open_workspace(), DECISIONS["end_series"]
    case = UnderReview.of(workspace, release_id)
    has_series = case.policy.approvals.series is not None
    rule.check_state(release_id, workspace.ledger.state(release_id) if has_series else None)
    said = _said(case, rule, credentials, comment, case.subject.model_dump(exclude_none=True))
    if isinstance(said, Request):
        return said
    workspace.ledger.append(release_id, rule.event, said.person, said.body, rule.states)
    return f"every edition after {release_id} needs decisions of its own, until people approve the series anew"


def _said(
    case: UnderReview | Withdrawable,
    rule: DecisionRule,
    credentials: Credentials,
    words: str,
    files: Mapping[str, str],
    predicate: Callable[[str, str, str], dict[str, Any]] | None = None,
) -> Said | Request:
    """Who takes a decision on a release, known at least as office and policy ask; as `act`."""

    def plain(comment: str, at: str, salt: str) -> dict[str, Any]:
        return {**withdrawal_predicate(case.office, case.id, comment, at, salt)}

    roster, vault = case.office.roster, case.workspace.vault
    return act(roster, case.identity, credentials, rule.predicate, predicate or plain, files, words, vault)
