"""Bad documents, bad data and a failing machine, through the whole command.

Every case starts from a house with one published edition. It must end in an error or a refusal that names the field or
column and no value, with nothing new on the shelf and the earlier edition untouched.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.custody import shelf
from tasks.release import running_step
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House, Told
from tests.flows.stages import stages
from tests.golden import golden

VALUE = "canary4711"  # planted in the data; no message may quote it


@pytest.fixture(scope="module")
def editions() -> tuple[Path, Path]:
    """A house with a published edition and the data of a next one; and this one judged and approved by one of two."""
    house = stages(House).at("published")
    house.new_edition()
    begun = house.save("faults-sound")
    assert house.release().code == WAITING
    assert house.approve("amara").code == WAITING
    return begun, house.save("faults-almost")


@pytest.fixture
def sound(editions: tuple[Path, Path]) -> Iterator[House]:
    yield from at_stage(editions[0])


@pytest.fixture
def almost(editions: tuple[Path, Path]) -> Iterator[House]:
    """The next edition lacks the approval of `jonas`."""
    yield from at_stage(editions[1])


def at_stage(saved: Path) -> Iterator[House]:
    house = stages(House).at("published")
    house.go_back(saved)
    earlier = house.ids[0]
    yield house
    assert shelf.read_back(house.target / earlier) == []  # whatever happened


def refused(house: House, told: Told, code: int, *says: str) -> None:
    """The command ended with this code and words, and published nothing."""
    assert told.code == code, told.words
    for words in says:
        assert words in told.words
    assert VALUE not in told.words
    assert len(house.shelf) == 1
    assert house.events().count("published") == 1


# -- the data

Change = Callable[[House], None]


def cell(column: str, value: Any) -> Change:
    def change(house: House) -> None:
        house.data[column] = house.data[column].astype(object)
        house.data.loc[7, column] = value
        house.write()

    return change


def text(old: str, new: str, encoding: str = "utf-8") -> Change:
    """Replace the first occurrence in the file itself."""

    def change(house: House) -> None:
        path = house.documents / "people.csv"
        path.write_bytes(path.read_text(encoding="utf-8").replace(old, new, 1).encode(encoding))

    return change


def rows(number: int) -> Change:
    def change(house: House) -> None:
        house.data = house.data.iloc[:number]
        house.write()

    return change


def without(column: str) -> Change:
    def change(house: House) -> None:
        house.data = house.data.drop(columns=column)
        house.write()

    return change


def emptied(column: str) -> Change:
    def change(house: House) -> None:
        house.data[column] = np.nan
        house.write()

    return change


def dated(value: str) -> Change:
    def change(house: House) -> None:
        house.contract["variables"].append({"name": "asked", "kind": "date", "minimum": "2020-01-01"})
        house.definition["plan"][0]["columns"].append("asked")
        house.data["asked"] = "2024-05-06"
        house.data.loc[7, "asked"] = value
        house.write()

    return change


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (text("Aldby", "Ålborg", "latin-1"), ERROR, "is not utf-8. Is it latin-1 or cp1252?"),
        (text("Person 00003,", "Person, 00003,"), ERROR, "line 4: 8 fields expected, 9 found"),
        (text("Person 00003,", '"Person 00003,'), ERROR, "fields expected"),
        (without("income"), ERROR, "no column 'income'"),
        (text("region", "regoin"), ERROR, "no column 'region'. Did you mean 'regoin'?"),
        (text(",sex,", ",age,"), ERROR, "column named twice: age"),
        (cell("region", VALUE), ERROR, "'region': 1 value (in record 8) is not one of the declared categories"),
        (cell("age", VALUE), ERROR, "'age': 1 value (in record 8) is not a finite number"),
        (cell("income", "inf"), ERROR, "'income': 1 value (in record 8) is not a finite number"),
        (cell("age", 17), BLOCKED, "'age': 1 record below the minimum, 18"),
        (cell("person", 9), BLOCKED, "2 records with the same key (person) as another record"),
        (emptied("income"), BLOCKED, "'income': every value is missing"),
        (rows(0), ERROR, "holds no record"),
        (rows(1), BLOCKED, "The table has 1 record; at least 100 are allowed"),
        (dated("1999-12-31"), BLOCKED, "'asked': 1 record below the minimum, 2020-01-01"),
        (dated(VALUE), ERROR, "'asked': 1 value (in record 8) is not a date"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_data(sound: House, change: Change, code: int, says: str) -> None:
    change(sound)
    refused(sound, sound.release(), code, says)


# -- the documents


def in_definition(**changes: Any) -> Change:
    return lambda house: house.definition.update(changes)


def in_plan(step: dict[str, Any]) -> Change:
    return lambda house: house.definition["plan"].append(step)


def in_policy(**changes: Any) -> Change:
    return lambda house: house.policy.update(changes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (in_definition(sorce={"type": "csv"}), "sorce: unknown key. Did you mean 'source'?"),
        (in_definition(policy="polcy.yaml"), "polcy.yaml"),
        (in_definition(plan=[]), "plan"),
        (in_plan({"method": "rank_swaping", "columns": ["income"]}), "Did you mean 'rank_swapping'?"),
        (in_plan({"method": "rank_swapping", "columns": ["income"], "window": 15}), "Use 0.15."),
        (in_plan({"method": "rank_swapping", "columns": ["incme"], "window": 0.1}), "plan.4"),
        (in_plan({"method": "rank_swapping", "columns": ["incme"], "window": 0.1}), "Did you mean 'income'?"),
        (in_plan({"method": "rank_swapping", "columns": ["town"], "window": 0.1}), "plan.4"),  # already removed
        (in_policy(rules=[{"rule": "k_anonimity", "k": 5}]), "Did you mean 'k_anonymity'?"),
        (in_policy(rules=[{"rule": "k_anonymity", "k": 1}]), "rules.0.k_anonymity.k"),
        (in_policy(rules=[], reference_standard=None), "rules"),
        (in_policy(aprovals={}), "Did you mean 'approvals'?"),
        (lambda house: house.variable("age").update(role="quasi"), "variables.3.role"),
        (lambda house: house.variable("age").update(minimun=1), "variables.3.minimun: unknown key. Did you mean"),
        (lambda house: house.contract.update(record_key=["persn"]), "Did you mean 'person'?"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_documents(sound: House, change: Change, says: str) -> None:
    change(sound)
    sound.write()
    before = len(sound.events())
    refused(sound, sound.release(), ERROR, says)
    assert len(sound.events()) == before  # refused before anything was begun


def test_a_bad_roster_is_not_adopted(sound: House) -> None:
    sound.people["people"]["amara"].update(role="x")
    sound.write()
    refused(
        sound, sound.sluice("adopt", str(sound.documents / "people.yaml"), "--as", "amara"), ERROR, "people.amara.role"
    )


def test_a_document_that_is_no_yaml(sound: House) -> None:
    (sound.documents / "policy.yaml").write_text("rules: [")
    refused(sound, sound.release(), ERROR, "policy.yaml: is not valid YAML")
    (sound.documents / "policy.yaml").unlink()
    refused(sound, sound.release(), ERROR, "policy.yaml: no such file.")


def test_a_plan_that_cannot_reach_its_k(sound: House) -> None:
    sound.definition["plan"].append({"method": "local_suppression", "columns": ["age", "sex"], "k": 5000})
    sound.write()
    says = "k of local_suppression must be at most the number of records, 1200; got 5000"
    refused(sound, sound.release(), ERROR, says)
    assert "masked" not in sound.events(sound.id)


# -- what cannot be judged is blocked


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (
            in_policy(rules=[{"rule": "minimum_frequency", "n": 3}, {"rule": "dominance", "n": 1, "k": 75}]),
            ERROR,  # before a record is read
            "need the cells of tables",
        ),
        (lambda house: house.policy.pop("reference_standard"), BLOCKED, "The policy names no reference standard"),
    ],
    ids=["for tables", "without a standard"],
)
def test_a_policy_that_cannot_judge_records_lets_none_out(sound: House, change: Change, code: int, says: str) -> None:
    change(sound)
    sound.write()
    refused(sound, sound.release(), code, says)


def crashes(monkeypatch: pytest.MonkeyPatch, measure: str, error: Exception) -> None:
    def crash(*args: Any, **kwargs: Any) -> None:
        raise error

    monkeypatch.setattr(measure, crash)


@pytest.mark.parametrize(
    ("measure", "error"),
    [
        pytest.param("sluice.risk.classes.k_anonymity.k_anonymity", MemoryError(), marks=pytest.mark.exhaustive),
        ("sluice.risk.classes.l_diversity.distinct_values", ZeroDivisionError(VALUE)),
        pytest.param("policies.standard.standard_checks.attack", ValueError(VALUE), marks=pytest.mark.exhaustive),
        ("sluice.utility.continuous.number_measures.il1s", RecursionError(VALUE)),
        ("tasks.ingest.check_frame", KeyError(VALUE)),
        ("tasks.ingest.check_batch", OSError(VALUE)),
    ],
)
def test_a_measure_that_crashes_is_unknown_and_blocks(
    sound: House, monkeypatch: pytest.MonkeyPatch, measure: str, error: Exception
) -> None:
    crashes(monkeypatch, measure, error)
    told = sound.sluice("release", str(sound.file), "--json")
    refused(sound, told, BLOCKED, f"The measure stopped with {type(error).__name__}.")
    assert told.json["verdict"] == "UNKNOWN"


def test_after_a_crash_the_release_is_judged_anew(sound: House, monkeypatch: pytest.MonkeyPatch) -> None:
    crashes(monkeypatch, "policies.standard.standard_checks.attack", MemoryError())
    refused(sound, sound.release(), BLOCKED, "could not be judged")
    monkeypatch.undo()
    assert sound.release().code == WAITING


def test_a_measure_that_finds_nothing_is_unknown_and_blocks(sound: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice.risk.classes.k_anonymity.KAnonymity.find", lambda *args: [])
    refused(sound, sound.release(), BLOCKED, "It found nothing to measure.")


def test_a_waiver_excuses_a_failure_and_no_unknown(sound: House, monkeypatch: pytest.MonkeyPatch) -> None:
    today = datetime.now(UTC).date()
    waiver = {
        "rule": "k_anonymity",
        "scope": "people-puf",
        "reason": "the file stays inside the research centre",
        "owner": "amara",  # who adopts the policy
        "granted": today.isoformat(),
        "expires": (today + timedelta(days=30)).isoformat(),
    }
    sound.policy["rules"][0]["k"] = 1000
    sound.policy["waivers"] = [waiver]
    sound.write()
    assert sound.release().code == WAITING
    assert waiver["reason"] in (sound.home / "reports" / f"{sound.id}.html").read_text()
    sound.policy["version"] = 2
    sound.write()

    crashes(monkeypatch, "sluice.risk.classes.k_anonymity.k_anonymity", ValueError())
    refused(sound, sound.release(), BLOCKED, "could not be judged")


# -- the machine


@contextmanager
def disk(place: Path, options: str) -> Iterator[Callable[[str], None]]:
    """A file system of its own at `place`, with what lies there; yields what changes its options."""
    kept = place.with_name(f"{place.name}.kept")
    place.mkdir(exist_ok=True)
    shutil.copytree(place, kept)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", place], check=False, capture_output=True)
    if made.returncode:
        shutil.rmtree(kept)
        pytest.skip("this account cannot mount a file system")
    try:
        shutil.copytree(kept, place, dirs_exist_ok=True)
        place.chmod(kept.stat().st_mode)

        def remount(options: str) -> None:
            subprocess.run(["mount", "-o", f"remount,{options}", place], check=True)

        remount(options)
        yield remount
    finally:
        shutil.rmtree(kept)
        subprocess.run(["umount", "--lazy", place], check=True)


def used(place: Path) -> int:
    """kB on the file system of `place`."""
    figures = os.statvfs(place)
    return (figures.f_blocks - figures.f_bfree) * figures.f_frsize // 1024


@pytest.mark.servers
@pytest.mark.parametrize("free", [0, 60, 160], ids=lambda free: f"{free} kB left")
def test_the_disk_of_the_workspace_is_full(sound: House, free: int) -> None:
    """It runs full in another step each time; with room again, the same command finishes."""
    with disk(sound.home, "size=20m") as remount:
        remount(f"size={used(sound.home) + free}k")
        told = sound.release()
        assert told.code == ERROR, told.words
        assert "no space left" in told.words or "its disk is full" in told.words
        assert len(sound.shelf) == 1
        remount("size=20m")
        assert sound.sluice("ledger", "verify").code == DONE
        assert not list((sound.home / "vault" / "scratch").iterdir())
        assert sound.release().code == WAITING
        assert sound.sluice("ledger", "verify").code == DONE


@pytest.mark.servers
@pytest.mark.parametrize("free", [0, 8, 24], ids=lambda free: f"{free} kB left")
def test_the_disk_of_the_target_is_full(almost: House, free: int) -> None:
    with disk(almost.target, "size=20m") as remount:
        remount(f"size={used(almost.target) + free}k")
        refused(almost, almost.approve("jonas"), ERROR, f"no space left on the disk of {almost.target}")
        assert [path.name for path in almost.target.iterdir() if ".partial" in path.name] == []
        remount("size=20m")
        assert almost.release().code == DONE
        assert len(almost.shelf) == 2


@pytest.mark.servers
def test_the_target_cannot_be_written(almost: House) -> None:
    with disk(almost.target, "ro") as remount:
        refused(almost, almost.approve("jonas"), ERROR, f"{almost.target} cannot be written by this account")
        remount("rw")
        assert almost.release().code == DONE


def test_the_target_is_no_folder(sound: House) -> None:
    sound.definition["target"] = "contract.yaml"
    sound.write()
    sound.release()
    sound.approve("amara")
    refused(sound, sound.approve("jonas"), ERROR, "cannot be made a folder to publish in")


def test_the_published_folder_exists_with_other_content(almost: House) -> None:
    squatter = almost.target / almost.id
    squatter.mkdir()
    (squatter / "notes.txt").write_text("mine")
    told = almost.approve("jonas")
    assert told.code == ERROR
    golden.words(told.words)
    assert [path.name for path in squatter.iterdir()] == ["notes.txt"]
    assert almost.events(almost.id)[-1] == "failed"
    shutil.rmtree(squatter)
    assert almost.release().code == DONE


def when(step: str, act: Callable[[], object]) -> running_step.Listener:
    """Do it once, when the step begins."""
    waiting = [act]

    def tell(told: str, seconds: float | None) -> None:
        if told == step and seconds is None and waiting:
            waiting.pop()()

    return tell


def test_the_source_goes_away(sound: House) -> None:
    source = sound.documents / "people.csv"
    with running_step.listening(when("ingest", source.unlink)):
        refused(sound, sound.release(), ERROR, "people.csv: no such file")


@pytest.mark.servers
@pytest.mark.reads_apart
def test_a_database_that_goes_away(sound: House) -> None:
    database = sound.documents / "people.db"
    with sqlite3.connect(database) as connection:
        sound.data.to_sql("people", connection, index=False)
    sound.definition["source"] = {"type": "sqlite", "path": "people.db", "table": "people"}
    sound.write()
    content = database.read_bytes()
    with running_step.listening(when("ingest", database.unlink)):
        refused(sound, sound.release(), ERROR, "people.db: no such file")
    assert not database.exists()  # SQLite would have made an empty one
    database.write_bytes(content)
    # Once they are staged, all that is judged and published is what was read.
    with running_step.listening(when("validate", database.unlink)):
        assert sound.release().code == WAITING


def test_a_table_that_is_not_there(sound: House) -> None:
    with sqlite3.connect(sound.documents / "people.db") as connection:
        sound.data.to_sql("people", connection, index=False)
    sound.definition["source"] = {"type": "sqlite", "path": "people.db", "table": "persons"}
    sound.write()
    refused(sound, sound.release(), ERROR, "table persons")


@pytest.mark.parametrize("step", ["ingest", "mask", "decide"])
def test_the_ledger_goes_away(sound: House, step: str) -> None:
    ledger = sound.home / "ledger.db"
    kept = ledger.read_bytes()
    with running_step.listening(when(step, ledger.unlink)):
        told = sound.release()
    assert told.code == ERROR
    assert "ledger" in told.words
    assert len(sound.shelf) == 1
    assert sound.sluice("ledger", "verify").code == ERROR  # a new, empty database is not taken for the ledger
    ledger.unlink(missing_ok=True)
    ledger.write_bytes(kept)
    # An older copy of the ledger is not taken for it either: the anchor in the vault knows of later rows.
    if step != "ingest":
        assert sound.sluice("ledger", "verify").code == ERROR
        assert sound.release().code == ERROR


@pytest.mark.parametrize(
    "breaks",
    [
        lambda home, env: env("SLUICE_LEDGER_URL", f"sqlite:///file:{home / 'ledger.db'}?mode=ro&uri=true"),
        lambda home, env: env("SLUICE_LEDGER_URL", "postgresql://clerk:hunter2@127.0.0.1:9/ledger"),
        lambda home, env: (home / "vault" / "secret").unlink(),
        lambda home, env: (home / "vault").chmod(0o755),
    ],
    ids=["ledger read-only", "ledger that does not answer", "secret lost", "vault open to others"],
)
def test_the_ledger_or_the_vault_cannot_be_used(
    sound: House, monkeypatch: pytest.MonkeyPatch, breaks: Callable[[Path, Callable[[str, str], None]], object]
) -> None:
    breaks(sound.home, monkeypatch.setenv)
    told = sound.release()
    (sound.home / "vault").chmod(0o700)
    assert told.code == ERROR
    golden.words(told.words)
    assert "hunter2" not in told.words
    assert len(sound.shelf) == 1


def test_a_later_failure_harms_no_earlier_edition(almost: House) -> None:
    """The earlier edition stays the current one until the next is on the shelf, whole."""
    earlier = almost.ids[0]
    (almost.target / almost.id).write_text("a file where the folder should be")
    assert almost.approve("jonas").code == ERROR
    assert almost.events(earlier)[-1] == "published"
    assert pd.read_csv(almost.target / earlier / "people-puf.csv").shape == (1200, 4)
