"""Editions: the releases of one definition on one shelf, in the order of their data, and which of them is current.

The order is that of what was received, not of approvals: by the end of the reference period, where the contract names
one, and among data of one period by when these data were first received, under whatever name and documents. An old
edition that is approved late so never takes the place of a newer one. All of it follows from the ledger.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.custody.ledger_entry import Entry, last
from sluice.custody.shelf_documents import ShelfPlaces
from sluice.custody.states import State, state_of

ON_SHELF = (State.PUBLISHED, State.SUPERSEDED)
PUBLIC = (State.PUBLISHING, *ON_SHELF)  # a publication that was begun will be finished
WAITING = (State.NEEDS_DECISION, State.PENDING_REVIEW, State.APPROVED)


@dataclass(frozen=True)
class Edition:
    """One release among those of its name on its shelf."""

    release: str
    name: str  # of the definition
    shelf: Path  # where it is now, see `ShelfPlaces`
    state: State | None
    received: Mapping[str, Any]  # what the ledger recorded of the data and documents
    entries: Sequence[Entry]
    place: tuple[str, int, int]  # in the order of editions; later data have the greater one

    @property
    def period(self) -> str | None:
        """The reference period; None where the contract names none."""
        period: str | None = (self.received.get("period") or {}).get("text")
        return period

    @property
    def of(self) -> str:
        """The release in words, with its period."""
        return f"{self.release} ({self.period})" if self.period else self.release


def lines_of_editions(histories: Mapping[str, Sequence[Entry]], name: str | None = None) -> list[list[Edition]]:
    """All releases that were received, in lines of one name on one shelf, each from the earliest to the latest.

    A shelf that is reached by several paths is one shelf: else two editions would be current on it.

    name : of those of one definition alone
    cost : one pass over the entries, and a look at each shelf's path
    """
    places = ShelfPlaces()
    first: dict[str, int] = {}  # SHA-256 of data -> the row by which they were first received
    for entries in histories.values():
        for entry in entries:
            if entry.event == State.RECEIVED and (sha256 := _data_of(entry)):
                first[sha256] = min(entry.seq, first.get(sha256, entry.seq))
    lines: dict[tuple[Path, str], list[Edition]] = {}
    for release, entries in histories.items():
        if name is not None and ((received := last(entries, State.RECEIVED)) is None or _name_of(received) != name):
            continue
        if edition := _edition(release, entries, first, places):
            lines.setdefault((edition.shelf, edition.name), []).append(edition)
    return [sorted(line, key=lambda edition: edition.place) for line in lines.values()]


def definition_in(release: str) -> str:
    """The definition's name, with which the id of a release begins that was received; a digest follows."""
    return release.rpartition("-")[0]


def line_of(histories: Mapping[str, Sequence[Entry]], release: str) -> tuple[Edition, list[Edition]]:
    """A release that was received, and all editions of its line, with itself. Raises KeyError for any other."""
    received = last(histories.get(release, ()), State.RECEIVED)
    for line in lines_of_editions(histories, _name_of(received)) if received else ():
        for edition in line:
            if edition.release == release:
                return edition, line
    raise KeyError(release)


def current(line: Iterable[Edition]) -> Edition | None:
    """The latest that is on the shelf; None where none is."""
    return _latest(edition for edition in line if edition.state in ON_SHELF)


def overtaken_by(edition: Edition, line: Iterable[Edition]) -> Edition | None:
    """The public edition of the same period whose data are newer: then nobody needs this one any more.

    Of another period none is: an earlier one that comes late is published, and does not become current.
    """
    return _latest(
        other
        for other in line
        if other.state in PUBLIC and other.period == edition.period and other.place > edition.place
    )


def before(edition: Edition, line: Iterable[Edition]) -> Edition | None:
    """The edition on the shelf that comes before another in the order of editions."""
    return _latest(other for other in line if other.state in ON_SHELF and other.place < edition.place)


def _latest(editions: Iterable[Edition]) -> Edition | None:
    return max(editions, key=lambda edition: edition.place, default=None)


def _edition(release: str, entries: Sequence[Entry], first: Mapping[str, int], places: ShelfPlaces) -> Edition | None:
    received = [entry for entry in entries if entry.event == State.RECEIVED]
    if not received or not (sha256 := _data_of(received[-1])):
        return None
    body = received[-1].body
    begun = next((entry.body for entry in reversed(entries) if entry.event == State.PUBLISHING), None)
    recorded = Path(begun["folder"]).parent if begun else Path(body["target"])
    place = ((body.get("period") or {}).get("last", ""), first[sha256], received[0].seq)
    state = state_of(entry.event for entry in entries)
    return Edition(release, _name_of(received[-1]), places.of(recorded), state, body, entries, place)


def _name_of(received: Entry) -> str:
    name: str = received.body["definition"]
    return name


def _data_of(received: Entry) -> str | None:
    data: Mapping[str, str] = received.body.get("data") or {}
    return data.get("sha256")
