"""Withdrawal: who asks that a published release be taken off its shelf, and what is done when enough people have.

Each step can be done again: one that was interrupted is finished by whoever asks again, or by `sluice doctor --repair`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from policies.acts import digest_of_words, said_at, verified_person
from policies.adoption import LAPSES_AFTER, PEOPLE_NEEDED
from policies.people import HEAD
from sluice.custody import shelf
from sluice.custody.durable import locked
from sluice.custody.ledger import Entry
from sluice.custody.states import State, allowed
from sluice.errors import DataError, SluiceError
from tasks.release.current_edition import publishing_lock, settle_editions
from tasks.release.release import last
from tasks.release.schema_views import write_views
from tasks.release.shelf_catalogue import write_catalogues
from tasks.release.under_review import UnderReview

WITHDRAWAL = "withdrawal"  # the event in the ledger
WITHDRAWAL_PREDICATE = "urn:sluice:withdrawal:1"


@dataclass(frozen=True)
class Requests:
    """Who asks, first to last, and in which roles one of them must be."""

    by: Mapping[str, Entry]
    roles: frozenset[str]
    in_role: bool

    @property
    def suffice(self) -> bool:
        return len(self.by) >= PEOPLE_NEEDED and self.in_role

    @property
    def reasons(self) -> str:
        """What the public reads."""
        return "; ".join(dict.fromkeys(entry.body["comment"] for entry in self.by.values()))


def requests(case: UnderReview) -> Requests:
    """The requests that count now: verified, and not long ago. Of a release that is not on the shelf there are none."""
    by: dict[str, Entry] = {}
    if case.workspace.ledger.state(case.id) in allowed("withdraw"):
        by = {who: entry for entry in case.entries if entry.event == WITHDRAWAL and (who := _asks(case, entry))}
    roles = frozenset({HEAD, *case.policy.approvals.roles})
    return Requests(by, roles, any(roles & {*case.office.roster.people[who].roles} for who in by))


def carry_out(case: UnderReview, asked: Requests) -> Path:
    """Take a release off the shelf for which enough people asked; returns where its folder went.

    raises : SluiceError where too few ask, and as `shelf.withdraw`; DataError where its tables could not be dropped
    """
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
    line = (published.body["definition"], folder.parent.resolve())
    for where, why in write_views(workspace).items():  # a server that does not answer keeps nothing on the shelf
        if (where.name, where.shelf.resolve()) == line:
            raise DataError(
                f"{case.id} is withdrawn, and its folder is off the shelf; its tables are not yet out of "
                f"'{where.into}' of '{where.connection}' ({why}). When that is mended: sluice catalogue"
            )
    return shelf.withdrawn_of(folder)


def withdrawal_predicate(case: UnderReview, reason: str, at: str, salt: str) -> dict[str, str]:
    """What somebody signs who asks for a withdrawal, or ends a series."""
    words = digest_of_words(reason, salt)
    return {"office": case.office.id, "release": case.id, "comment_sha256": words, "at": at}


def _asks(case: UnderReview, entry: Entry) -> str | None:
    """Who asked for a withdrawal; None where that cannot be verified, or is long ago."""
    try:
        predicate = withdrawal_predicate(case, entry.body["comment"], entry.body["said_at"], entry.body["salt"])
        if datetime.now(UTC) - said_at(entry) > LAPSES_AFTER:
            return None
        return verified_person(entry, case.office.roster, WITHDRAWAL_PREDICATE, predicate)
    except (SluiceError, KeyError):
        return None
