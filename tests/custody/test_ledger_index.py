"""The index of a ledger: what a process begins with, and that nobody is misled by one that is not what was written."""

import hmac
import json
from pathlib import Path

import pytest

from sluice.custody import ledger_rows as ledgers
from sluice.custody.ledger import Ledger
from sluice.custody.ledger_index import LedgerIndex
from sluice.custody.states import State
from sluice.ground.errors import SluiceError
from tests.custody.ledgers import KEY, LIFE, attack, disarm

ROWS = 3 * len(LIFE)


class Place:
    """A ledger of three releases on a disk, of which each process keeps and reads the index."""

    def __init__(self, folder: Path) -> None:
        self.url, self.anchor = f"sqlite:///{folder}/ledger.db", folder / "anchor"
        self.index = LedgerIndex(folder / "anchor.index", KEY)
        first = self.opened()
        for number in range(3):
            for event in LIFE:
                first.append(f"fair-{number}", event, "amara", {"step": event, "rows": number})
        self.index.path.unlink(missing_ok=True)
        first.verify()

    def opened(self, follows: bool = False) -> Ledger:
        return Ledger(self.url, KEY, self.anchor, follows=follows)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(ledgers, "MANY", 8)
    monkeypatch.setattr(ledgers, "FEW", 2)
    return Place(tmp_path)


def test_another_process_begins_with_it_and_hashes_what_it_looks_at(place: Place, hashed: list[int]) -> None:
    found = place.opened().histories()
    assert {release: len(entries) for release, entries in found.items()} == dict.fromkeys(
        ("fair-0", "fair-1", "fair-2"), len(LIFE)
    )
    assert {*hashed} == {ROWS}  # the last, which shows that it is of this ledger
    hashed.clear()
    assert found["fair-1"][2].body == {"step": "masked", "rows": 1}
    assert hashed == [len(LIFE) + 3]


def test_bodies_of_one_event_that_many_ask_for_are_read_together(place: Place, hashed: list[int]) -> None:
    found = place.opened().histories()
    hashed.clear()
    assert [entries[0].body["rows"] for entries in found.values()] == [0, 1, 2]
    assert hashed == [1, 1 + len(LIFE), 1 + 2 * len(LIFE)]


def test_of_many_those_that_lie_near_are_read_together(
    place: Place, hashed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of the desk asks for the last fifty of ten thousand."""
    monkeypatch.setattr(ledgers, "FEW", 0)
    monkeypatch.setattr(ledgers, "_NEAR", len(LIFE))
    first, _, third = place.opened().histories().values()
    hashed.clear()
    assert first[0].body["rows"] == 0
    assert hashed == [1, 1 + len(LIFE)]
    assert third[0].body["rows"] == 2
    assert hashed[2:] == [1 + 2 * len(LIFE)]


def test_a_body_is_kept_as_what_it_says_or_as_text_and_names_of_fields_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that lives for months holds thousands."""
    monkeypatch.setattr(ledgers, "FEW", 0)
    rows = [entries[2] for entries in place.opened().histories().values()]
    bodies = [entry.body for entry in rows]
    assert all(entry.body is body and not entry.is_read for entry, body in zip(rows, bodies, strict=True))
    assert len({id(name) for body in bodies for name in body}) == 2
    assert [json.loads(entry.written) for entry in rows] == bodies == [{"step": "masked", "rows": n} for n in range(3)]


def test_what_was_recorded_since_is_read_and_the_index_goes_on(place: Place, hashed: list[int]) -> None:
    for event in LIFE:
        place.opened().append("fair-3", event, "amara", {})
    hashed.clear()
    again = place.opened()
    assert [entry.event for entry in again.histories()["fair-3"]] == LIFE
    assert {*hashed} == {*range(ROWS, ROWS + len(LIFE) + 1)}
    assert len(place.index.read()) == ROWS + len(LIFE)


def test_entries_are_those_that_a_whole_reading_finds(place: Place) -> None:
    indexed = place.opened().entries()
    place.index.path.unlink()
    assert indexed == place.opened().entries()
    assert [entry.written for entry in indexed] == [entry.written for entry in place.opened().entries()]


def _forged(place: Place, key: bytes) -> None:
    """An index in which releases were approved at once, sealed with a key."""
    content = json.loads(place.index.path.read_bytes().partition(b"\n")[2])
    content[2] = ["approved" if name == "pending_review" else name for name in content[2]]
    written = json.dumps(content, separators=(",", ":")).encode()
    place.index.path.write_bytes(hmac.digest(key, written, "sha256").hex().encode() + b"\n" + written)


@pytest.mark.parametrize("how", ["forged", "empty", "cut", "of another ledger"])
def test_one_that_is_not_what_was_written_is_set_aside_and_made_anew(
    place: Place, tmp_path: Path, hashed: list[int], how: str
) -> None:
    honest = place.index.path.read_bytes()
    if how == "forged":
        _forged(place, bytes(32))
    elif how == "of another ledger":
        (tmp_path / "other").mkdir()
        place.index.path.write_bytes(Place(tmp_path / "other").index.path.read_bytes())
    else:
        place.index.path.write_bytes(honest[: len(honest) // 2] if how == "cut" else b"")
    hashed.clear()
    found = place.opened().histories()["fair-0"]
    assert [entry.event for entry in found] == LIFE
    assert set(range(1, ROWS + 1)) <= set(hashed)
    assert place.index.path.read_bytes() == honest


def test_verify_makes_one_anew_that_says_what_the_rows_do_not(place: Place) -> None:
    """By whoever has the vault's key, and so could forge rows as well."""
    honest = place.index.path.read_bytes()
    _forged(place, KEY)
    assert place.opened().verify() == []
    assert place.index.path.read_bytes() == honest


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ('UPDATE sluice_ledger SET body = \'{"step":"received","rows":99}\' WHERE seq = 1', False),
        ("UPDATE sluice_ledger SET release = 'other' WHERE seq = 7", False),
        ("UPDATE sluice_ledger SET event = 'approved' WHERE seq = 5", False),
        ("DELETE FROM sluice_ledger WHERE seq = 3", True),
        (f"DELETE FROM sluice_ledger WHERE seq = {ROWS}", True),
        (f"UPDATE sluice_ledger SET actor = 'jonas' WHERE seq = {ROWS}", True),
    ],
)
def test_no_row_that_is_changed_behind_it_is_believed(place: Place, change: str, noticed: bool) -> None:
    disarm(place.url)
    attack(place.url, change)
    again = place.opened()
    if noticed:
        with pytest.raises(SluiceError):
            again.histories()
    else:
        found = again.histories()["fair-0"]
        assert [entry.event for entry in found] == LIFE
        with pytest.raises(SluiceError):
            [entry.body for entry in found]
    assert place.opened().verify() != []
    with pytest.raises(SluiceError):
        place.opened().append("fair-0", "note", "amara", {})


def test_a_row_that_is_hidden_behind_it_hides_no_state_from_an_append(place: Place) -> None:
    """Another release that waits is rejected; the row then bears another name while somebody approves."""
    last = place.opened()
    for event in (*LIFE[:5], "rejected"):
        last.append("fair-3", event, "amara", {})
    for event in LIFE[:4]:
        last.append("fair-4", event, "amara", {})
    assert len(place.index.read()) > ROWS + 6
    disarm(place.url)
    attack(place.url, f"UPDATE sluice_ledger SET release = 'other' WHERE seq = {ROWS + 6}")
    with pytest.raises(SluiceError):
        place.opened().append("fair-3", "approved", "amara", {})
    attack(place.url, f"UPDATE sluice_ledger SET release = 'fair-3' WHERE seq = {ROWS + 6}")
    assert place.opened().state("fair-3") is State.REJECTED


def test_a_disk_that_takes_no_index_stops_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    place.index.path.unlink()
    monkeypatch.setattr("sluice.custody.ledger_index.replace", full)
    assert len(place.opened(follows=True).histories()) == 3
    assert not place.index.path.exists()
