"""The audit of what was published: by the ledger's own record, whatever became of definitions, notes and checksums."""

import errno
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from flows.installation_verification import verify
from sluice.custody import shelf
from sluice.custody.ledger import Ledger
from sluice.custody.ledger_chain import START, Anchor, Chain
from tests.custody.ledgers import attack, disarm
from tests.flows.house import DONE, ERROR, UNCHECKED, WAITING, House, Told
from tests.flows.stages import COMMENT, stages
from tests.golden import golden
from tests.publication.timestamp_authority import Authority

WHOLE = "The ledger is whole, and what is published is what was approved."


def alter(folder: Path, file: str) -> None:
    """Change a file and its checksum, as somebody would who can write on the shelf."""
    path, checksums = folder / file, folder / shelf.CHECKSUMS
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes() + b"\n")
    after = hashlib.sha256(path.read_bytes()).hexdigest()
    checksums.write_text(checksums.read_text().replace(before, after))
    assert shelf.read_back(folder) == []  # the folder alone does not tell


def problems(house: House) -> list[str]:
    return list(verify(house.workspace()).problems)


def told(house: House) -> Told:
    return house.sluice("ledger", "verify")


def test_a_whole_shelf_is_whole(published: House) -> None:
    answer = told(published)
    assert (answer.code, answer.out.strip()) == (DONE, WHOLE)
    assert published.sluice("ledger", "verify", "--json").json == {"problems": [], "unchecked": [], "warnings": []}


def test_a_ledger_without_an_entry_is_not_said_to_be_whole(house: House) -> None:
    """As from a folder where no workspace is: the command would make one, and find nothing wrong with it."""
    answer = told(house)
    assert (answer.code, WHOLE in answer.out) == (UNCHECKED, False)


def test_a_verification_may_begin_where_a_whole_one_ended(published: House) -> None:
    """It says so, and what was changed before is found by a whole one, which can always be made."""
    assert published.sluice("ledger", "verify", "--from-checkpoint", "--json").json["from_checkpoint"] == 0, "all of it"
    assert told(published).code == DONE
    end = published.workspace().ledger.checkpoint
    assert end == len(published.workspace().ledger.entries())
    published.workspace().ledger.append(published.id, "note", "amara", {"says": "later"})
    answer = published.sluice("ledger", "verify", "--from-checkpoint", "--json")
    assert (answer.code, answer.json["from_checkpoint"]) == (DONE, end)
    golden(published.sluice("ledger", "verify", "--from-checkpoint").out)
    assert published.workspace().ledger.checkpoint == end, "only a whole one takes it further"
    place = f"sqlite:///{published.home}/ledger.db"
    disarm(place)
    attack(place, f"UPDATE sluice_ledger SET actor = 'mallory' WHERE seq = {end + 1}")
    assert told(published).code == published.sluice("ledger", "verify", "--from-checkpoint").code == ERROR


@pytest.mark.parametrize(
    "change", ["DELETE FROM sluice_ledger WHERE seq = 3", "UPDATE sluice_ledger SET hash = '0' WHERE seq = {}"]
)
def test_rows_before_a_checkpoint_cannot_go_and_it_is_no_other_row(published: House, change: str) -> None:
    assert told(published).code == DONE
    end = published.workspace().ledger.checkpoint
    place = f"sqlite:///{published.home}/ledger.db"
    disarm(place)
    attack(place, change.format(end))
    assert published.workspace().ledger.verify(from_checkpoint=True) != []


def test_a_checkpoint_that_nobody_wrote_with_the_key_is_none(published: House) -> None:
    """An anchor is none, either: it says what was last, and not that it was verified."""
    vault = published.workspace().vault
    shutil.copy(vault.anchor, vault.anchor.with_name("anchor.checkpoint"))
    assert published.workspace().ledger.checkpoint == 0


def test_the_ledger_records_the_folder_and_every_file_in_it(published: House) -> None:
    entries = {entry.event: entry.body for entry in published.workspace().ledger.entries()}
    folder = published.target / published.id
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert entries["published"]["folder"] == entries["publishing"]["folder"] == str(folder)
    assert entries["published"]["files"] == files
    data = {name: sha256 for name, sha256 in files.items() if name.startswith("people-puf")}
    assert entries["publishing"]["files"] == data


@pytest.mark.parametrize("file", ["manifest.json", "datapackage.json", "people-puf.parquet", "people-puf.csv"])
def test_an_altered_file_is_named_though_its_checksum_fits(published: House, file: str) -> None:
    folder = published.target / published.id
    alter(folder, file)
    assert sorted(problems(published)) == sorted(
        f"{folder}: {name} was changed: its SHA-256 differs" for name in (file, shelf.CHECKSUMS)
    )
    assert told(published).code == ERROR


def _renamed(house: House) -> None:
    house.file.rename(house.file.with_suffix(".elsewhere"))


def _of_another_target(house: House) -> None:
    (house.root / "other").mkdir()
    house.definition["target"] = "../other"
    house.write()


def _with_another_note(house: House) -> None:
    (house.home / "runs" / f"{house.id}.json").write_text(json.dumps({"definition": "/dev/null"}))


def _without_a_note(house: House) -> None:
    shutil.rmtree(house.home / "runs")


ELSEWHERE = [_renamed, _of_another_target, _with_another_note, _without_a_note]


@pytest.mark.parametrize("lead_away", ELSEWHERE)
def test_neither_definition_nor_note_leads_away_from_the_shelf(
    published: House, lead_away: Callable[[House], None]
) -> None:
    alter(published.target / published.id, "people-puf.csv")
    lead_away(published)
    told(published).refused()


@pytest.mark.parametrize("lead_away", ELSEWHERE)
def test_what_is_withdrawn_is_what_was_published(published: House, lead_away: Callable[[House], None]) -> None:
    release, folder = published.id, published.target / published.id
    lead_away(published)
    if (other := published.root / "other").exists():
        shutil.copytree(folder, other / release)
    assert published.withdraw(release, "a mistake").code == DONE
    assert not folder.exists()
    assert not other.exists() or (other / release).exists()
    assert told(published).code == DONE


@pytest.mark.parametrize("file", ["manifest.json", "people-puf.csv", shelf.CHECKSUMS])
def test_a_file_that_is_gone_is_named(published: House, file: str) -> None:
    folder = published.target / published.id
    (folder / file).unlink()
    golden(problems(published))


def test_a_folder_that_is_gone_is_named(published: House) -> None:
    folder = published.target / published.id
    folder.rename(published.root / "aside")
    golden(problems(published))
    assert told(published).code == ERROR


def test_a_folder_that_only_points_elsewhere_is_named(published: House) -> None:
    folder = published.target / published.id
    folder.symlink_to(folder.rename(published.root / "aside"))
    golden(problems(published))


def test_what_was_added_to_a_folder_is_named(published: House) -> None:
    folder = published.target / published.id
    (folder / "more.csv").write_text("age\n30\n")
    (folder / ".hidden").write_text("")
    (folder / "sub").mkdir()
    added = [f"{folder}: {name} does not belong to the release" for name in (".hidden", "more.csv", "sub")]
    assert problems(published) == added
    assert told(published).code == ERROR


def test_a_link_in_the_place_of_a_file_is_named(published: House) -> None:
    folder = published.target / published.id
    (folder / "people-puf.csv").symlink_to((folder / "people-puf.csv").rename(published.root / "aside"))
    golden(problems(published))


@pytest.mark.parametrize("name", ["people-puf-000000000000", "notes.txt", ".people-puf.partial-0", "link"])
def test_what_no_release_explains_is_named_on_every_shelf(published: House, name: str) -> None:
    place = published.target / name
    if name == "link":
        place.symlink_to(published.id)
    elif name == "notes.txt":
        place.write_text("")
    else:
        shutil.copytree(published.target / published.id, place)
    golden(problems(published))


def test_an_earlier_edition_is_looked_at_too(published: House) -> None:
    first = published.target / published.id
    published.new_edition()
    assert published.release().code == WAITING
    for person in ("amara", "jonas"):
        published.approve(person)
    assert len(published.shelf) == 2
    assert problems(published) == []
    (first / "manifest.json").write_text("{}")
    golden(problems(published))


def test_what_was_withdrawn_stays_withdrawn(published: House) -> None:
    release, folder = published.id, published.target / published.id
    note = folder.with_name(f"{release}.withdrawn.txt")
    assert published.withdraw(release, "a mistake").code == DONE
    assert problems(published) == []
    note.write_text(f"{release} was withdrawn. Nothing is wrong with it.\n")
    golden(problems(published))
    note.unlink()
    golden(problems(published))
    note.write_text(f"{release} was withdrawn. a mistake\n")
    shutil.rmtree(folder.with_name(f".withdrawn-{release}"))  # the agency may dispose of it
    assert problems(published) == []
    folder.mkdir()
    golden(problems(published))


@pytest.mark.parametrize("name", ["", "{release}", "{release}/people-puf.csv", "{release}.withdrawn.txt"])
def test_what_cannot_be_read_is_not_said_to_be_whole(
    published: House, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The shelf, a folder, a file, the note of a withdrawal."""
    if "withdrawn" in name:
        assert published.withdraw(published.id, "a mistake").code == DONE
    closed = published.target / name.format(release=published.id)
    for function in ("iterdir", "open"):
        monkeypatch.setattr(Path, function, _closing(closed, getattr(Path, function)))
    found, answer = verify(published.workspace()), told(published)
    assert (found.problems, answer.code) == ((), UNCHECKED)
    assert len(found.unchecked) == 1
    assert "Permission denied" in found.unchecked[0]
    assert WHOLE not in answer.words
    golden.words(answer.words)


def _closing(closed: Path, function: Callable[..., Any]) -> Callable[..., Any]:
    """What an account without rights to this path meets; chmod would not hold root back."""

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return function(path, *arguments, **options)

    return refuse


def test_a_shelf_that_is_not_there_is_not_said_to_be_whole(published: House) -> None:
    published.target.rename(published.root / "unmounted")
    found, answer = verify(published.workspace()), told(published)
    assert (found.problems, answer.code) == ((), UNCHECKED)
    assert found.unchecked == (
        f"{published.target} cannot be read (No such file or directory). Published there: {published.id}",
    )
    golden.words(answer.words)


def test_a_publication_that_was_interrupted_is_checked_as_far_as_it_is_recorded() -> None:
    house = stages(House).at("almost")
    with patch("tasks.publish._destroy_seed", side_effect=OSError):
        assert house.approve("jonas").code == ERROR
    folder = house.target / house.id
    found = verify(house.workspace())
    assert (found.problems, len(found.unchecked), told(house).code) == ((), 1, UNCHECKED)
    golden(found.unchecked[0])
    (folder / "people-puf.csv").write_text("age\n30\n")
    (folder / "more.csv").write_text("age\n30\n")
    golden(problems(house))
    shutil.rmtree(folder)
    assert problems(house) == []
    assert house.approve("jonas").code == DONE
    assert told(house).code == DONE


def test_a_publication_is_finished_on_the_shelf_that_it_was_begun_on() -> None:
    """The project, and with it a relative target, may have moved since."""
    house = stages(House).at("almost")
    with patch("tasks.publish.shelf.publish", side_effect=OSError):
        assert house.approve("jonas").code == ERROR
    moved = shutil.copytree(house.documents, house.root / "further" / "documents")
    (house.home / "runs" / f"{house.id}.json").write_text(json.dumps({"definition": str(moved / "release.yaml")}))
    answer = house.sluice("approve", house.id, "--json")
    assert (answer.code, answer.json["published"]) == (DONE, str(house.target / house.id))
    assert house.shelf == [house.id]


def test_a_publication_that_nobody_approved_is_named() -> None:
    """Rows that somebody with the vault's key made up: they fit their hashes, and no second person signed."""
    almost = stages(House).at("almost")
    ledger, release = almost.workspace().ledger, almost.id
    assert verify(almost.workspace()).problems == ()
    ledger.append(release, "approved", "sluice", {"says": "2 of 2 decisions"})
    begun = ledger.append(
        release, "publishing", "sluice", {"folder": str(almost.target / release), "files": {}, "subject": ""}
    )
    assert ledger.verify() == []
    [problem] = [each for each in problems(almost) if f"row {begun.seq} " in each]
    golden(problem.replace(release, "RELEASE"))


def test_a_row_that_is_dated_before_the_one_in_front_is_told_and_stops_nothing(
    published: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = published.workspace().ledger.append(published.id, "note", "amara", {})
    for minutes, told in ((4, 0), (61, 1)):
        at = datetime.fromisoformat(before.at) - timedelta(minutes=minutes)
        monkeypatch.setattr(Ledger, "_time", lambda *_, at=at: at)
        row = published.workspace().ledger.append(published.id, "note", "amara", {})
        found = verify(published.workspace())
        assert (found.problems, found.unchecked) == ((), ())
        assert len([each for each in found.warnings if f"row {row.seq} " in each]) == told
    golden(found.warnings[-1].replace(published.id, "RELEASE"))


def test_a_ledger_that_was_tampered_with_vouches_for_nothing(published: House) -> None:
    alter(published.target / published.id, "manifest.json")
    anchor = published.workspace().vault.anchor
    anchor.write_text(json.dumps("forged"))
    golden(problems(published))


def rewrite_history(house: House) -> None:
    """What somebody can do who has the vault's key: other words in an approval, every hash and the anchor made anew."""
    workspace = house.workspace()
    key, anchor = workspace.vault.ledger_key(), workspace.vault.anchor
    file = house.home / "ledger.db"
    disarm(f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as database, database:
        database.row_factory = sqlite3.Row
        rows = [dict(row) for row in database.execute("SELECT * FROM sluice_ledger ORDER BY seq")]
        previous = START
        for row in rows:
            row["body"] = row["body"].replace(COMMENT, "I never looked at it")
            row["previous"], row["hash"] = previous, Chain(key).hash({**row, "previous": previous})
            previous = row["hash"]
        database.execute("DELETE FROM sluice_ledger")
        columns = ", ".join(f":{name}" for name in rows[0])
        database.executemany(f"INSERT INTO sluice_ledger ({', '.join(rows[0])}) VALUES ({columns})", rows)
    anchor.unlink()
    Anchor(anchor, key).move(len(rows), previous)
    assert house.workspace().ledger.verify() == []  # the ledger alone does not tell


def test_history_rewritten_with_the_key_of_the_vault_is_noticed_by_every_manifest(published: House) -> None:
    folder = published.target / published.id
    copy = Path(shutil.copy(folder / "manifest.json", published.root / "copy.json"))
    assert published.sluice("ledger", "verify", "--manifest", str(copy)).code == DONE
    rewrite_history(published)
    says = "the first {} rows are others than when it was written: history was rewritten"
    says = says.format(json.loads(copy.read_text())["ledger"]["size"])
    assert problems(published) == [f"{folder / 'manifest.json'}: {says}"]
    shutil.rmtree(published.target)
    answer = published.sluice("ledger", "verify", "--manifest", str(copy), "--json")
    assert answer.code == ERROR
    golden(answer.json["problems"])


def test_a_copy_of_a_manifest_tells_of_a_ledger_that_is_shorter(published: House) -> None:
    copy = Path(shutil.copy(published.target / published.id / "manifest.json", published.root / "copy.json"))
    shutil.rmtree(published.home)
    published.sluice("ledger", "verify", "--manifest", str(copy)).refused(figures=True)


@pytest.mark.parametrize(
    "forge",
    [
        lambda manifest: manifest.update(title="Another title"),
        lambda manifest: manifest.update(release="another"),
        lambda manifest: manifest["approvals"].clear(),
    ],
)
def test_a_copy_that_is_not_what_was_published_is_named(
    published: House, forge: Callable[[dict[str, Any]], None]
) -> None:
    manifest = json.loads((published.target / published.id / "manifest.json").read_text())
    forge(manifest)
    copy = published.root / "copy.json"
    copy.write_text(json.dumps(manifest, indent=2, ensure_ascii=False))
    published.sluice("ledger", "verify", "--manifest", str(copy)).refused()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"{}",
        b'{"release": "a", "ledger": {"seq": 1}}',
        b'{"release": "a", "release": "b"}',
        b"[" * 100_000,
    ],
)
def test_a_copy_that_is_no_manifest_could_not_be_checked(published: House, content: bytes) -> None:
    copy = published.root / "copy.json"
    copy.write_bytes(content)
    answer = published.sluice("ledger", "verify", "--manifest", str(copy))
    assert answer.code == UNCHECKED
    golden(answer.words)
    assert str(copy) in answer.words
    copy.unlink()
    golden(published.sluice("ledger", "verify", "--manifest", str(copy)).words)
    assert str(copy) in published.sluice("ledger", "verify", "--manifest", str(copy)).words


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority") / "keys")


@pytest.fixture
def stamping(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    """An authority that stamps what is published."""
    authority.asked, authority.answers = 0, []
    with authority.serving() as url:
        monkeypatch.setenv("SLUICE_TIMESTAMP_URL", url)
        monkeypatch.setenv("SLUICE_TIMESTAMP_CERTIFICATES", str(authority.certificates))
        yield authority


def test_the_manifest_is_stamped(stamping: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    house = stages(House).at("almost")
    assert house.approve("jonas").code == DONE
    folder = house.target / house.id
    assert stamping.verifies(folder / "manifest.tsr", folder / "manifest.json")
    assert "  manifest.tsr\n" in (folder / shelf.CHECKSUMS).read_text()
    keys = house.root / "keys"
    keys.write_text(house.sluice("people", "--keys").out)
    asked = ("verify", str(folder), "--keys", str(keys), "--unsigned", "--timestamp-certificates")
    answer = house.sluice(*asked, str(stamping.certificates))
    assert (answer.code, "Stamped on" in answer.words) == (DONE, True)
    golden.words(house.sluice(*asked, str(keys)).words)
    assert told(house).code == DONE
    monkeypatch.delenv("SLUICE_TIMESTAMP_URL")
    monkeypatch.delenv("SLUICE_TIMESTAMP_CERTIFICATES")
    found = verify(house.workspace())
    assert (found.problems, len(found.unchecked), told(house).code) == ((), 1, UNCHECKED)
    assert house.withdraw(house.id, "a mistake").code == DONE
    assert told(house).code == DONE  # nobody needs to believe it any more


def test_a_publication_waits_for_an_authority_that_is_down(
    stamping: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = stages(House).at("almost")
    stamping.answers = [b"", b"nonsense"]
    for says in ("does not answer", "is not a time stamp"):
        held = house.approve("jonas")
        assert held.code == ERROR
        assert says in held.words
        golden.words(held.words)
        assert house.shelf == []
    assert house.approve("jonas").code == DONE
    assert (house.target / house.id / "manifest.tsr").is_file()
    assert house.events().count("stamped") == 1


def test_a_publication_that_waits_for_an_authority_can_go_without_it(
    stamping: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = stages(House).at("almost")
    stamping.answers = [b""]
    assert house.approve("jonas").code == ERROR
    monkeypatch.delenv("SLUICE_TIMESTAMP_URL")
    assert house.approve("jonas").code == DONE
    assert not (house.target / house.id / "manifest.tsr").exists()
    assert told(house).code == DONE


@pytest.mark.parametrize("step", ["tasks.publish.shelf.publish", "tasks.publish._destroy_seed"])
def test_a_publication_that_was_interrupted_keeps_its_stamp(stamping: Authority, step: str) -> None:
    house = stages(House).at("almost")
    with patch(step, side_effect=OSError):
        assert house.approve("jonas").code == ERROR
    assert house.approve("jonas").code == DONE
    assert stamping.asked == 1
    assert told(house).code == DONE


def test_what_lies_on_the_shelf_unstamped_is_finished_as_it_is(
    stamping: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, url = stages(House).at("almost"), os.environ["SLUICE_TIMESTAMP_URL"]
    monkeypatch.delenv("SLUICE_TIMESTAMP_URL")
    with patch("tasks.publish._destroy_seed", side_effect=OSError):
        assert house.approve("jonas").code == ERROR
    monkeypatch.setenv("SLUICE_TIMESTAMP_URL", url)
    assert house.approve("jonas").code == DONE
    assert told(house).code == DONE


def test_what_is_made_up_later_cannot_be_stamped_in_the_past(stamping: Authority) -> None:
    """Whoever owns vault, ledger and shelf makes all of them anew, with earlier dates in the ledger."""
    house, past = stages(House).at("pending"), datetime.now(UTC) - timedelta(days=20)
    with ExitStack() as clocks:
        for place in (
            "sluice.custody.ledger",
            "tasks.release.decisions.signing_in",
            "tasks.release.decisions.under_review",
        ):
            clock = clocks.enter_context(patch(f"{place}.datetime", wraps=datetime))
            clock.now.return_value = past
        house.approve_as_both()
    [problem] = problems(house)
    golden.words(problem)


def test_a_stamp_of_another_authority_is_named(
    stamping: Authority, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    house = stages(House).at("almost")
    assert house.approve("jonas").code == DONE
    monkeypatch.setenv("SLUICE_TIMESTAMP_CERTIFICATES", str(Authority(tmp_path / "other").certificates))
    stamp = house.target / house.id / "manifest.tsr"
    assert problems(house) == [f"{stamp}: is no time stamp of its manifest by this authority"]
