"""Who may read and do what at the desk. A release that somebody may not read is to them as one that is not there.

| who | page, report, documents, history | files before they are public | decide | take back | ask for withdrawal |
|---|---|---|---|---|---|
| the submitter | yes | no | no | yes | yes |
| the head, and people in a role that the policy asks for | yes | yes | yes | no | yes |
| people in a role that decides on findings | yes | yes | on findings | no | yes |
| others on the roster, where anybody may decide | yes | yes | yes | no | yes |
| others on the roster | once it is public | once it is public | no | no | yes |

Beyond that, the table of decisions (`policies.decision_table`) says in which state one is possible, and to whom.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import HTTPException

from flows.desk.sign_on import Reader
from policies.decision_table import DECISIONS, ON_REVIEW
from policies.standing import REFUSALS
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import State, TransitionError, Who, state_of
from sluice.ground.errors import SluiceError
from tasks.release.decisions.board import may_decide
from tasks.release.decisions.under_review import UnderReview

PUBLIC = (State.PUBLISHED, State.SUPERSEDED)


@dataclass(frozen=True)
class Rights:
    """What one person may do with one release now."""

    read: bool = False
    masked: bool = False
    decisions: tuple[str, ...] = ()
    findings: bool = False  # whether they may decide on findings that need a decision
    withdraw: bool = False
    relation: Who = Who.ON_ROSTER
    case: UnderReview | None = None  # None where it cannot be opened, as of another version


def rights(reader: Reader, release: str, entries: Sequence[Entry]) -> Rights:
    """What a reader may do with a release, by what the ledger has of it.

    cost : a reading of its entries and two documents; where it is under review, of its decisions
    """
    try:
        state = state_of(entry.event for entry in entries)
    except TransitionError:  # of a later version's events
        state = None
    public = state in PUBLIC
    try:
        case = UnderReview.of(reader.workspace, release, office=reader.office)
        relation = case.relation(reader.name)
    except SluiceError:  # was not received, or by documents that cannot be read any more
        case, relation = None, Who.HEAD if reader.is_head else Who.ON_ROSTER
    asked = relation in (Who.HEAD, Who.IN_ROLE) or (case is not None and _is_asked(reader, case, state))
    decides = case is not None and case.decides(reader.name)
    read = public or asked or decides or relation is Who.SUBMITTER
    decisions = tuple(
        name
        for name in ON_REVIEW
        if read and case is not None and DECISIONS[name].can(state, relation) and (asked or name in REFUSALS)
    )
    return Rights(
        read=read,
        masked=public or ((asked or decides) and relation is not Who.SUBMITTER),
        decisions=decisions,
        findings=decides and DECISIONS["accept_finding"].can(state, Who.DECIDES),
        withdraw=DECISIONS["withdraw"].can(state, relation),
        relation=relation,
        case=case,
    )


def may_read(reader: Reader, release: str, entries: Sequence[Entry]) -> bool:
    """Whether a reader may read a release. Cost: as of `rights`; nothing to speak of where it is public."""
    with suppress(TransitionError):
        if state_of(entry.event for entry in entries) in PUBLIC:
            return True
    return rights(reader, release, entries).read


def _is_asked(reader: Reader, case: UnderReview, state: State | None) -> bool:
    """Whether a release waits for somebody without a role of the policy, too; or did, and they decided."""
    if state not in DECISIONS["approve"].states or case.is_submitter(reader.name):
        return False
    return reader.name in may_decide(case, datetime.now(UTC)) or any(
        given.who == reader.name for given in case.standing().decided
    )


def readable(reader: Reader, release: str) -> tuple[Rights, Sequence[Entry]]:
    """The rights on a release that may be read, and its entries. Raises 404, the same for one that is not there."""
    entries = reader.workspace.ledger.entries(release)
    found = rights(reader, release, entries) if entries and not release.startswith("@") else Rights()
    if not found.read:
        raise HTTPException(404)
    return found, entries
