"""What the command line says when something outside the documents is wrong."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.flows.house import ERROR, House
from tests.golden import golden

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def empty(tmp_path: Path) -> House:
    return House(tmp_path / "house")


def test_a_workspace_that_cannot_be_is_named_with_the_way_out(empty: House) -> None:
    empty.home.write_text("a file stands where the workspace should be")
    told = empty.sluice("status").refused(figures=True)
    assert str(empty.home) in told.words


def test_a_database_without_a_table_is_asked_for_it(empty: House) -> None:
    told = empty.sluice("init", "postgresql://reader@warehouse/survey")
    assert (told.code, told.out) == (ERROR, "")
    golden.words(told.words)


def test_a_database_in_a_file_is_asked_for_its_table(empty: House) -> None:
    with closing(sqlite3.connect(empty.documents / "people.db")) as database:
        database.executescript("CREATE TABLE people (age INTEGER); CREATE TABLE firms (size INTEGER);")
    told = empty.sluice("init", str(empty.documents / "people.db"), "--yes")
    assert (told.code, told.out) == (ERROR, "")
    golden(told.words)


def test_a_draft_in_a_folder_that_is_not_there_says_so(empty: House) -> None:
    told = empty.sluice("init", str(empty.documents / "people.csv"), "-o", str(empty.root / "schemas" / "people.yaml"))
    assert told.code == ERROR
    golden(told.words)
    assert str(empty.root) in told.words


def test_init_reads_a_database_by_an_address_that_a_person_types(empty: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(empty.documents / "people.db")) as database:
        empty.data.to_sql("people", database, index=False)
    url = f"sqlite:///{empty.documents}/people.db"
    monkeypatch.setenv("HOUSE_URL", url)
    for address in (url, "${HOUSE_URL}"):
        told = empty.sluice("init", address, "--table", "people", "-o", "-")
        assert told.code == 0
        assert "income" in told.out
    told = empty.sluice("init", "postgresql://reader:swordfish-7193@warehouse/survey", "--table", "people").refused()
    assert "swordfish" not in told.words


def test_what_a_release_may_not_read_is_said_with_who_may_allow_it(empty: House) -> None:
    for source, says in (
        ({"type": "sql", "url": "${HOUSE_URL}", "table": "people"}, "a definition holds no address"),
        ({"connection": "house", "table": "people"}, f"Whoever runs Sluice names it in {empty.home}/connections.yaml"),
        ({"type": "csv", "path": "/etc/passwd"}, "source.path: '/etc/passwd' may not be read. Files are read below"),
    ):
        empty.definition["source"] = source
        empty.write()
        told = empty.release()
        assert told.code == ERROR
        assert says in told.words


def test_init_reads_a_german_file(empty: House) -> None:
    path = empty.documents / "german.csv"
    path.write_text("Größe;Einkommen\n" + '"1,80";"2500,5"\n' * 20, encoding="cp1252")
    german = ("--separator", ";", "--decimal", ",", "--encoding", "cp1252")
    told = empty.sluice("init", str(path), "-o", "-", *german)
    assert told.code == 0
    assert 'name: "Größe"' in told.out
    assert told.out.count("kind: continuous") == 2
    assert empty.sluice("init", str(path), "-o", "-").out == told.out  # found without a word
    refused = empty.sluice("init", str(path), "--separator", ";;")
    golden.words(refused.words)
    golden(empty.sluice("init", str(path), "--decimal", "'").words)  # said once


@pytest.mark.servers
def test_ctrl_c_is_answered_in_words_whatever_a_library_makes_of_it() -> None:
    """A library turns the interrupt into an error of its own, as Prefect does."""
    program = (
        "import sys, os, signal\n"
        "from flows.cli import main as cli\n"
        "@cli.app.command()\n"
        "def hang() -> None:\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        raise ValueError('of a library') from None\n"
        "sys.exit(cli.main(['hang']))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert run.returncode == 128 + signal.SIGINT
    golden(run.stderr)
