"""The ledger: appends between processes, and every way an attacker may change history, on SQLite and PostgreSQL."""

import hashlib
import hmac
import json
import math
import multiprocessing
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.ledger import Ledger
from sluice.custody.ledger_chain import START
from sluice.custody.states import State, TransitionError
from sluice.ground.errors import SluiceError, TransportError
from tests.conftest import LedgerRoles
from tests.custody.ledgers import KEY, LIFE, attack, disarm
from tests.custody.statements import statements_to_ledgers
from tests.cutting_proxy import COMMIT, cutting_proxy
from tests.golden import golden


def test_entries_come_back_as_they_were_written(opened: Ledger) -> None:
    body = {"count": 3, "share": 0.25, "names": ["age", "sexe é"], "none": None, "yes": True, "in": {"b": 1, "a": 2}}
    written = opened.append("fair-1", "received", "amara", body)
    assert written.seq == 1
    assert written.previous == START
    assert written.body == body
    assert opened.entries() == opened.entries("fair-1") == [written]
    assert opened.head() == written
    assert len(written.at) == len("2026-11-21T04:31:00.000000+00:00")
    second = opened.append("other-2", "received", "jonas", {})
    assert second.previous == written.hash
    assert opened.histories() == {"fair-1": [written], "other-2": [second]}
    assert opened.entries("other-2") == [second]
    assert opened.entries("nobody") == []
    assert opened.verify() == []


def test_the_hash_is_the_keyed_hash_that_the_documentation_says(opened: Ledger) -> None:
    """HMAC-SHA256 of the row's fields as a JSON list, computed here with `hmac.new` from the raw fields."""
    entry = opened.append("fair-1", "received", "amara", {"b": 1, "a": [2.5]})
    body = '{"a":[2.5],"b":1}'
    fields = ["row", 1, entry.at, "fair-1", "received", "amara", body, START]
    assert entry.hash == hmac.new(KEY, json.dumps(fields).encode(), hashlib.sha256).hexdigest()


def test_an_empty_ledger_is_whole(opened: Ledger) -> None:
    assert opened.head() is None
    assert opened.state("fair-1") is None
    assert opened.histories() == {}
    assert opened.verify() == []


def test_hashes_are_found_wherever_a_body_names_them(opened: Ledger) -> None:
    named, parts, other = "a" * 64, "b" * 64, "c" * 64
    opened.append("r", "note", "amara", {"deep": [{"file": f"{named}.csv"}]})
    opened.append("r", "note", "amara", {parts: 1})
    assert opened.naming({named, parts, other}) == {named, parts}
    many = {f"{number:064x}" for number in range(40)}
    assert opened.naming({*many, named, parts}) == {named, parts}
    assert opened.naming(()) == set()


def test_the_state_follows_the_events(lived: Ledger) -> None:
    assert lived.state("fair-1") is State.PUBLISHED
    with golden.raises(TransitionError):
        lived.append("fair-1", "masked", "amara", {})
    with golden.raises(TransitionError):
        lived.append("fair-1", "decisionn", "amara", {})
    lived.append("fair-1", "note", "amara", {"says": "read back"})
    assert lived.state("fair-1") is State.PUBLISHED
    assert len(lived.entries()) == len(LIFE) + 1


def test_an_append_is_refused_outside_the_expected_states(opened: Ledger) -> None:
    opened.append("fair-1", "received", "amara", {}, expect=[None])
    with golden.raises(TransitionError):
        opened.append("fair-1", "decision", "amara", {}, expect={State.PENDING_REVIEW})
    with golden.raises(TransitionError):
        opened.append("fair-1", "received", "amara", {}, expect={None})
    assert len(opened.entries()) == 1


@pytest.mark.parametrize(
    "body", [{"x": math.nan}, {"x": [math.inf]}, {"x": np.float32(1)}, {"x": b"bytes"}, {"x": {1, 2}}]
)
def test_a_body_that_is_no_finite_json_is_refused(tmp_path: Path, body: dict[str, object]) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/l.db", KEY, tmp_path / "anchor")
    with golden.raises(SluiceError):
        ledger.append("fair-1", "received", "amara", body)
    assert ledger.entries() == []


@pytest.mark.parametrize(("release", "actor"), [("", "amara"), ("fair-1", " "), ("fair\n1", "amara")])
def test_a_nameless_entry_is_refused(tmp_path: Path, release: str, actor: str) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/l.db", KEY, tmp_path / "anchor")
    with golden.raises(SluiceError):
        ledger.append(release, "received", actor, {})


SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.chain
@given(st.lists(st.dictionaries(st.text(), SCALARS | st.lists(SCALARS)), max_size=4))
def test_any_finite_body_survives_and_verifies(bodies: list[dict[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(f"sqlite:///{folder}/l.db", KEY, Path(folder) / "anchor")
        for body in bodies:
            ledger.append("fair-1", "note", "amara", body)
        assert [entry.body for entry in ledger.entries()] == bodies
        assert ledger.verify() == []


# -- between processes


def _append_notes(url: str, anchor: Path, actor: str, number: int) -> None:
    ledger = Ledger(url, KEY, anchor)
    for index in range(number):
        ledger.append("fair-1", "note", actor, {"index": index})


def _run(url: str, anchor: Path, processes: int, number: int) -> None:
    spawn = multiprocessing.get_context("spawn")
    running = [spawn.Process(target=_append_notes, args=(url, anchor, f"p{i}", number)) for i in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * processes


@pytest.mark.servers
def test_processes_append_without_gaps_to_a_ledger_that_none_of_them_made(url: str, tmp_path: Path) -> None:
    _run(url, tmp_path / "anchor", processes=3, number=15)
    ledger = Ledger(url, KEY, tmp_path / "anchor")
    entries = ledger.entries()
    assert [entry.seq for entry in entries] == list(range(1, 46))
    for actor in ("p0", "p1", "p2"):
        assert [entry.body["index"] for entry in entries if entry.actor == actor] == list(range(15))
    assert ledger.verify() == []
    assert (tmp_path / "anchor").read_text().startswith("45 ")


def test_of_two_that_race_for_one_transition_one_is_told_no(url: str, tmp_path: Path) -> None:
    first, second = (Ledger(url, KEY, tmp_path / "anchor") for _ in range(2))
    first.append("fair-1", "received", "amara", {}, expect={None})
    with pytest.raises(TransitionError):
        second.append("fair-1", "received", "jonas", {}, expect={None})
    assert [entry.actor for entry in second.entries()] == ["amara"]


# -- history under attack


SWAP = (
    "UPDATE sluice_ledger SET seq = -1 WHERE seq = 3",
    "UPDATE sluice_ledger SET seq = 3 WHERE seq = 4",
    "UPDATE sluice_ledger SET seq = 4 WHERE seq = -1",
)
RENUMBER = (
    "DELETE FROM sluice_ledger WHERE seq = 3",
    *(f"UPDATE sluice_ledger SET seq = {n - 1} WHERE seq = {n}" for n in range(4, 9)),
)
FORGE = (
    "INSERT INTO sluice_ledger SELECT 9, at, release, 'note', 'x', body, hash, 'forged'"
    " FROM sluice_ledger WHERE seq = 8",
)


CHANGED = "UPDATE sluice_ledger SET {} WHERE seq = {}"


@pytest.mark.parametrize(
    "statements",
    [
        (CHANGED.format("body = '{\"step\":99}'", 3),),
        (CHANGED.format("release = 'other'", 6),),
        ("DELETE FROM sluice_ledger WHERE seq = 3",),
        ("DELETE FROM sluice_ledger WHERE seq = 1",),
        ("DELETE FROM sluice_ledger WHERE seq = 8",),
        ("DELETE FROM sluice_ledger",),
        SWAP,
        FORGE,
        RENUMBER,
    ],
    ids=["body", "release", "middle", "first", "last", "all", "swap", "forge", "renumber"],
)
def test_verify_says_what_was_done_to_history(lived: Ledger, url: str, statements: tuple[str, ...]) -> None:
    assert lived.verify() == []
    disarm(url)
    attack(url, *statements)
    golden(lived.verify())


def test_all_histories_take_one_statement_and_hash_each_row_once(
    lived: Ledger, url: str, tmp_path: Path, hashed: list[int]
) -> None:
    for event in LIFE[:3]:
        lived.append("fair-2", event, "amara", {})
    again = Ledger(url, KEY, tmp_path / "anchor")
    hashed.clear()
    with statements_to_ledgers() as sent:
        assert [entry.event for entry in again.histories()["fair-1"]] == LIFE
    assert len(sent) == 1
    assert hashed == list(range(1, 12))
    hashed.clear()
    assert list(again.histories()) == ["fair-1", "fair-2"]
    assert (again.state("fair-1"), len(again.entries("fair-2"))) == (State.PUBLISHED, 3)
    assert hashed == []
    lived.append("fair-2", "evaluated", "amara", {})  # by another process
    hashed.clear()
    assert len(again.entries("fair-2")) == 4
    assert hashed == [12]


def test_who_follows_reads_what_is_new_and_no_more(lived: Ledger, url: str, tmp_path: Path, hashed: list[int]) -> None:
    following = Ledger(url, KEY, tmp_path / "anchor", follows=True)
    assert following.histories() == lived.histories()
    lived.append("fair-2", "received", "amara", {"rows": 3})
    hashed.clear()
    with statements_to_ledgers() as sent:
        assert [entry.body for entry in following.histories()["fair-2"]] == [{"rows": 3}]
    assert (len(sent), hashed) == (2, [9])  # the new rows, and how many there are
    assert following.entries() == lived.entries()


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (CHANGED.format("body = '{\"step\":99}'", 3), False),
        (CHANGED.format("release = 'other'", 7), False),
        ("DELETE FROM sluice_ledger WHERE seq = 3", True),
        ("DELETE FROM sluice_ledger WHERE seq = 8", True),
        (CHANGED.format("actor = 'jonas'", 8), True),
    ],
    ids=["changed", "hidden", "gone", "cut", "the last"],
)
def test_who_follows_is_misled_by_no_row_that_is_changed_later(
    lived: Ledger, url: str, tmp_path: Path, change: str, noticed: bool
) -> None:
    """What it read stays as it was found to fit; what looks at the database itself finds the change."""
    following = Ledger(url, KEY, tmp_path / "anchor", follows=True)
    before = following.histories()
    disarm(url)
    attack(url, change)
    if noticed:
        with pytest.raises(SluiceError):
            following.histories()
    else:
        assert following.histories() == before
        assert following.verify() != []
    for act in (lambda: following.entries("fair-1"), lambda: following.append("fair-1", "note", "amara", {})):
        with pytest.raises(SluiceError):
            act()


def test_verify_hashes_every_row_whatever_was_read_before(lived: Ledger, hashed: list[int]) -> None:
    lived.histories()
    hashed.clear()
    assert lived.verify() == []
    assert hashed == list(range(1, 9))


@pytest.mark.parametrize(
    "change",
    [
        CHANGED.format("body = '{\"step\":99}'", 3),
        CHANGED.format("actor = 'jonas'", 3),
        CHANGED.format("at = '2026-01-01T00:00:00.000000+00:00'", 3),
        CHANGED.format("hash = 'x'", 3),
        SWAP,
        RENUMBER,
    ],
    ids=["body", "actor", "time", "hash", "swap", "renumber"],
)
@pytest.mark.parametrize(
    "read", [Ledger.histories, lambda ledger: ledger.entries("fair-1"), lambda ledger: ledger.state("fair-1")]
)
def test_a_row_that_is_changed_after_it_was_read_is_refused_by_the_same_process(
    lived: Ledger, url: str, change: str | tuple[str, ...], read: Callable[[Ledger], object]
) -> None:
    """The attacker waits until everything was read and found to fit, then changes it behind the process's back."""
    assert lived.verify() == []
    lived.histories()
    disarm(url)
    attack(url, *([change] if isinstance(change, str) else change))
    assert lived.verify() != []
    with golden.raises(SluiceError):
        read(lived)


HIDE = ("UPDATE sluice_ledger SET release = 'other' WHERE seq = 8", "DELETE FROM sluice_ledger WHERE seq = 8")


@pytest.mark.parametrize("hide", HIDE, ids=["another name", "gone"])
@pytest.mark.parametrize("read", [lambda ledger: ledger.entries("fair-1"), lambda ledger: ledger.state("fair-1")])
def test_a_row_that_was_verified_cannot_be_hidden_from_the_same_process(
    lived: Ledger, url: str, tmp_path: Path, hide: str, read: Callable[[Ledger], object]
) -> None:
    """The state is what the rows of a release add up to, so an attacker lets one of them bear another's name."""
    again = Ledger(url, KEY, tmp_path / "anchor")
    assert again.verify() == []
    disarm(url)
    attack(url, hide)
    with golden.raises(SluiceError):
        read(again)


def test_no_event_follows_a_state_that_a_hidden_row_makes_possible(opened: Ledger, url: str, tmp_path: Path) -> None:
    """Hidden for the moment in which 'approved' is recorded and then put back, the ledger would be whole."""
    for event in (*LIFE[:5], "rejected"):
        opened.append("fair-1", event, "amara", {})
    opened.append("fair-2", "received", "amara", {})
    disarm(url)
    attack(url, "UPDATE sluice_ledger SET release = 'other' WHERE seq = 6")
    with golden.raises(SluiceError):
        Ledger(url, KEY, tmp_path / "anchor").append("fair-1", "approved", "amara", {})
    attack(url, "UPDATE sluice_ledger SET release = 'fair-1' WHERE seq = 6")
    assert [entry.event for entry in opened.entries("fair-1")][-1] == "rejected"


@pytest.mark.parametrize(
    "statements",
    [
        ("DELETE FROM sluice_ledger WHERE seq = 3",),
        ("DELETE FROM sluice_ledger WHERE seq = 8",),
        ("DELETE FROM sluice_ledger",),
        ("UPDATE sluice_ledger SET actor = 'x' WHERE seq = 8",),
        RENUMBER,
        FORGE,
    ],
)
def test_nothing_is_appended_to_a_damaged_ledger(lived: Ledger, url: str, statements: tuple[str, ...]) -> None:
    """A new row would move the anchor on and hide the damage."""
    disarm(url)
    attack(url, *statements)
    with golden.raises(SluiceError):
        lived.append("fair-2", "received", "amara", {})
    assert lived.verify() != []


@pytest.mark.parametrize("gone", ["seq = 3", "seq = 8", "seq > 0"])
def test_a_process_that_read_nothing_before_sees_that_rows_are_gone(
    lived: Ledger, url: str, tmp_path: Path, gone: str
) -> None:
    lived.append("fair-2", "received", "amara", {})
    disarm(url)
    attack(url, "DELETE FROM sluice_ledger WHERE seq = 9") if gone == "seq = 8" else None
    attack(url, f"DELETE FROM sluice_ledger WHERE {gone}")
    for read in (Ledger.histories, lambda ledger: ledger.entries("fair-2"), lambda ledger: ledger.state("fair-1")):
        with golden.raises(SluiceError):
            read(Ledger(url, KEY, tmp_path / "anchor"))


@pytest.mark.parametrize("was_read", [False, True])
def test_a_row_of_another_ledger_under_the_same_key_is_found(
    lived: Ledger, url: str, tmp_path: Path, was_read: bool
) -> None:
    """Its own hash fits, as it was made with the vault's key; its link does not, and who read another there sees it."""
    if was_read:
        lived.histories()
    other = Ledger(f"sqlite:///{tmp_path}/other.db", KEY, tmp_path / "other-anchor")
    for event in LIFE[:4]:
        row = other.append("fair-1", event, "amara", {})
    disarm(url)
    attack(
        url,
        f"UPDATE sluice_ledger SET at = '{row.at}', body = '{{}}', previous = '{row.previous}', hash = '{row.hash}'"
        " WHERE seq = 4",
    )
    golden(lived.verify())
    if was_read:
        with golden.raises(SluiceError):
            lived.histories()


def test_a_forged_approval_is_not_believed(opened: Ledger, url: str) -> None:
    for event in LIFE[:5]:
        opened.append("fair-1", event, "amara", {})
    attack(
        url,
        "INSERT INTO sluice_ledger SELECT 6, at, release, 'approved', 'amara', '{}', hash, 'forged'"
        " FROM sluice_ledger WHERE seq = 5",
    )
    with golden.raises(SluiceError):
        opened.state("fair-1")
    with golden.raises(SluiceError):
        opened.head()


def test_plain_hashes_computed_again_do_not_help(lived: Ledger, url: str) -> None:
    """An attacker who knows the algorithm but not the key rewrites row 3 and the whole chain after it."""
    forged = []
    previous = START
    for entry in lived.entries():
        body = json.dumps(entry.body, separators=(",", ":"))
        actor = "x" if entry.seq == 3 else entry.actor
        fields = [entry.seq, entry.at, entry.release, entry.event, actor, body, previous]
        digest = hashlib.sha256(json.dumps(["row", *fields]).encode()).hexdigest()
        forged.append(
            f"UPDATE sluice_ledger SET actor = '{actor}', previous = '{previous}', hash = '{digest}'"
            f" WHERE seq = {entry.seq}"
        )
        previous = digest
    disarm(url)
    attack(url, *forged)
    problems = lived.verify()
    assert [f"row {n} was changed or forged: its hash does not fit its content" for n in range(1, 9)] == problems[:8]
    assert problems[8:] == ["row 8 is not the row that the anchor in the vault knows"]


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text(f"7 {'a' * 64} {'b' * 64}\n")])
def test_an_anchor_that_was_lost_or_changed_is_found(
    lived: Ledger, url: str, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    change(tmp_path / "anchor")
    again = Ledger(url, KEY, tmp_path / "anchor")  # opening it does not make a new anchor for old rows
    golden(again.verify())
    with golden.raises(SluiceError):
        again.append("fair-2", "received", "amara", {})


def test_a_crash_between_database_and_anchor_is_no_alarm(
    lived: Ledger, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = (tmp_path / "anchor").read_bytes()
    lived.append("fair-1", "note", "amara", {})
    (tmp_path / "anchor").write_bytes(behind)  # as a crash right after the commit leaves it
    assert lived.verify() == []
    lived.append("fair-1", "note", "amara", {})
    assert (tmp_path / "anchor").read_text().startswith("10 ")
    assert lived.verify() == []


def test_another_vaults_key_fits_nothing(lived: Ledger, url: str, tmp_path: Path) -> None:
    other = Ledger(url, bytes(32), tmp_path / "anchor")
    assert len([problem for problem in other.verify() if "does not fit" in problem]) == len(LIFE)
    with golden.raises(SluiceError):
        other.entries()


# -- a connection that is lost


@pytest.mark.servers
@pytest.mark.parametrize("taken_in", [False, True], ids=["before the commit", "after the commit"])
def test_an_append_whose_connection_is_lost_is_made_once(
    ledger_in_postgresql: LedgerRoles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken_in: bool
) -> None:
    """Whoever does not hear whether a row was taken in must find out: a second one would be a second decision."""
    monkeypatch.setenv("SLUICE_PATIENCE", "30")
    with cutting_proxy(ledger_in_postgresql.writer) as proxy:
        ledger = Ledger(proxy.url, KEY, tmp_path / "anchor")
        if taken_in:
            proxy.cut_after = COMMIT
        else:
            proxy.cut_before = COMMIT
        proxy.cuts = 1
        entry = ledger.append("fair-1", "received", "amara", {"step": 0})
        assert proxy.cuts == 0, "nothing was cut"
        assert [each.hash for each in ledger.entries()] == [entry.hash]
        ledger.append("fair-1", "validated", "amara", {})
    assert Ledger(ledger_in_postgresql.writer, KEY, tmp_path / "anchor").verify() == []


@pytest.mark.servers
def test_a_ledger_that_does_not_come_back_is_said_when_patience_ends(
    ledger_in_postgresql: LedgerRoles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PATIENCE", "3")
    with cutting_proxy(ledger_in_postgresql.writer) as proxy:
        ledger = Ledger(proxy.url, KEY, tmp_path / "anchor")
        made = proxy.made
        proxy.cut_before, proxy.cuts = COMMIT, 1000
        with golden.raises(TransportError):
            ledger.append("fair-1", "received", "amara", {})
        assert proxy.made >= made + 2, "tried again"
    assert Ledger(ledger_in_postgresql.writer, KEY, tmp_path / "anchor").entries() == []
