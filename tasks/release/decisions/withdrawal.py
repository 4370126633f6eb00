"""Withdrawal: who asks that a published release be taken off its shelf, and what is done when enough people have.

It hangs on ledger and roster alone: what is public must come off its shelf also where this version cannot read the
policy that it was judged by, or the vault has lost it. Each step can be done again: what was interrupted is finished by
whoever asks again, or by `sluice doctor --repair`.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from policies.acts import digest_of_words, said_at, verified_person
from policies.adoption import LAPSES_AFTER, Office
from policies.decision_table import DECISIONS
from policies.kept_policy import KeptPolicy
from policies.people import HEAD, Identity, stronger
from sluice.custody import shelf
from sluice.custody.ledger import Entry, last
from sluice.custody.shelf_documents import is_same_shelf
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked
from sluice.ground.errors import DataError, SluiceError
from tasks.release.decisions.under_review import office_of, received_of

_RULE = DECISIONS["withdraw"]


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
