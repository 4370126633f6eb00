"""Entry: a row of the ledger, whose body is read when somebody asks for it; and what a history of them says."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from sluice.custody.states import JUDGEMENTS, WITHOUT_STATES

COLUMNS = ("seq", "at", "release", "event", "actor", "body", "previous", "hash")
"""Of the ledger's table, in its order."""
BODY = COLUMNS.index("body")

_set = object.__setattr__  # of an entry as it is made, or read


class Head(NamedTuple):
    """A row of the ledger without its body."""

    seq: int
    at: str
    release: str
    event: str
    actor: str
    previous: str
    hash: str

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Self:
        """Of a row of the database."""
        return cls._make((*row[:BODY], *row[BODY + 1 :]))


class _Written:
    """What an entry has beside its fields: the body as JSON, where it was read, and how it is read."""

    __slots__ = ("text", "text_of")
    text: str | None
    text_of: "Callable[[Entry, bool], str] | None"


@dataclass(frozen=True, slots=True)
class Entry(_Written):
    """One row of the ledger. `at` is ISO 8601 in UTC with microseconds; `body` holds aggregates only; whoever reads
    the row gets the same one, and changes nothing in it."""

    seq: int
    at: str
    release: str
    event: str
    actor: str
    body: dict[str, Any]
    previous: str
    hash: str

    def __post_init__(self) -> None:
        _set(self, "text", None)
        _set(self, "text_of", None)

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Self:
        """The entry of a row of the database: its body is parsed when somebody asks for it, as few do."""
        entry = cls.without_body(Head.of(row))
        _set(entry, "text", row[BODY])
        return entry

    @classmethod
    def without_body(cls, head: Head, text_of: "Callable[[Entry, bool], str] | None" = None) -> Self:
        """The entry of a row whose body is read when somebody asks for it, by `text_of`, which is told whether it is
        to be parsed, too."""
        entry = cls.__new__(cls)
        for name, value in zip(Head._fields, head, strict=True):
            _set(entry, name, value)
        _set(entry, "text", None)
        _set(entry, "text_of", text_of)
        return entry

    def __getattr__(self, name: str) -> Any:
        if name != "body":
            raise AttributeError(name)
        if self.text is None and self.text_of is not None:
            self.text_of(self, True)
            return object.__getattribute__(self, "body")
        body = json.loads(self.written)
        _set(self, "body", body)
        return body

    @property
    def written(self) -> str:
        """The body as JSON."""
        if (text := self.text) is None:
            text = json.dumps(self.body) if self.text_of is None else self.text_of(self, False)
        return text

    @property
    def is_read(self) -> bool:
        """Whether the text of its body is at hand."""
        return self.text is not None

    @property
    def lacks_body(self) -> bool:
        """Whether neither the text nor what it says is at hand."""
        if self.text is not None:
            return False
        try:
            object.__getattribute__(self, "body")
        except AttributeError:
            return True
        return False

    def take(self, body: "dict[str, Any] | str") -> None:
        """Its body, which was read: what it says, or as JSON."""
        _set(self, "text" if isinstance(body, str) else "body", body)

    def is_row(self, row: tuple[Any, ...]) -> bool:
        """Whether it is that of this row of the database, whose body was read."""
        return (self.seq, self.at, self.release, self.event, self.actor, self.written, self.previous, self.hash) == row


def last(entries: Sequence[Entry], event: str) -> Entry | None:
    """The latest entry of this event."""
    return next((entry for entry in reversed(entries) if entry.event == event), None)


def last_judgement(entries: Sequence[Entry]) -> Mapping[str, Any]:
    """What was recorded of a release's last judgement: verdict, reasons and codes; nothing where there was none."""
    bodies = (entry.body for entry in reversed(entries) if entry.event in JUDGEMENTS)
    return next((body for body in bodies if "verdict" in body), {})


def by_release(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """What `Ledger.histories` makes of all entries, for whoever needs both."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.release not in WITHOUT_STATES:
            found.setdefault(entry.release, []).append(entry)
    return found
