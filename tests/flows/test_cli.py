"""The command line: exit codes that scripts rely on, JSON for machines, and words for people."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House
from tests.golden import golden


@pytest.mark.parametrize(
    "arguments",
    [
        ("release",),  # no file
        ("release", "release.yaml", "--no-such-option"),
        ("no-such-command",),
        ("approve",),
        ("withdraw", "people-puf-000000000000"),  # no reason
        ("status", "surplus"),
        ("ledger", "no-such-command"),
        ("release", "no-such-file.yaml"),
        ("review", "no-such-release"),
        ("init", "no-such-file.csv"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_an_error_and_never_a_refusal(house: House, arguments: tuple[str, ...]) -> None:
    """2 says that data were judged and kept back; a typing mistake must not be taken for that."""
    told = house.sluice(*arguments)
    assert told.code == ERROR
    assert told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize("arguments", [("--help",), ("release", "--help"), ("ledger", "--help")], ids=" ".join)
def test_help_is_no_error(house: House, arguments: tuple[str, ...]) -> None:
    told = house.sluice(*arguments)
    assert told.code == DONE
    assert "Usage" in told.out


def test_a_near_miss_is_answered_with_a_suggestion(pending: House) -> None:
    assert f"'{pending.id}'" in pending.sluice("review", pending.id[:-1] + "x").words


def test_every_command_has_json_for_machines(house: House) -> None:
    assert house.sluice("status", "--json").json == []

    checked = house.sluice("check", str(house.file), "--json")
    assert (checked.code, checked.json["state"], checked.json["verdict"]) == (DONE, "evaluated", "PASS")
    assert house.sluice("ledger", "verify", "--json").json == {"problems": [], "unchecked": [], "warnings": []}

    released = house.sluice("release", str(house.file), "--json")
    assert (released.code, released.json["state"], released.json["published"]) == (WAITING, "pending_review", None)
    release = released.json["release"]
    assert Path(released.json["report"]).is_file()

    reviewed = house.sluice("review", release, "--json").json
    assert reviewed["verdict"] == "PASS"
    assert {finding["rule"] for finding in reviewed["findings"]} >= {"k_anonymity", "prediction_distance"}

    first = house.sluice("approve", release, "--as", "amara", "--json")
    assert (first.code, first.json["release"]) == (WAITING, release)
    second = house.sluice("approve", release, "--as", "jonas", "--json")
    assert (second.code, second.json["state"]) == (DONE, "published")
    assert Path(second.json["published"]).is_dir()

    assert house.sluice("status", "--json").json[0]["state"] == "published"
    withdrawn = house.withdraw(release, "only a test", "--json")
    assert (withdrawn.code, withdrawn.json["state"]) == (DONE, "withdrawn")
    again = house.sluice("release", str(house.file), "--json")
    assert (again.code, again.json["state"]) == (BLOCKED, "withdrawn")


@pytest.mark.parametrize("who", ["owner", "amara"])
def test_an_approval_after_publication_says_that_it_is_none(published: House, who: str) -> None:
    before = published.events()
    who = published.definition["owner"] if who == "owner" else who
    told = published.sluice("approve", published.id, "--as", who)
    assert (told.code, published.events()) == (DONE, before)
    golden.where("nothing was recorded", told.err)


@pytest.mark.parametrize("command", ["reject", "request-changes"])
def test_refusals_have_json_too(pending: House, command: str) -> None:
    told = pending.sluice(command, pending.id, "--as", "amara", "--comment", "too few women", "--json")
    assert (told.code, told.json["release"], told.json["state"]) == (WAITING, pending.id, "pending_review")
    told = pending.sluice(command, pending.id, "--as", "jonas", "--comment", "too few women", "--json")
    assert (told.code, told.json["release"]) == (BLOCKED, pending.id)
    assert told.json["state"] in ("rejected", "changes_requested")


def test_a_blocked_release_says_why(house: House) -> None:
    house.policy["rules"][0]["k"] = 1000
    house.write()
    told = house.release()
    assert told.code == BLOCKED
    golden.where("age, sex and region", told.out)
    assert house.sluice("release", str(house.file), "--json").json["verdict"] == "FAIL"
    assert house.sluice("review", house.id).code == DONE
    assert house.approve("amara").code == ERROR


def test_text_of_documents_and_data_is_never_taken_for_markup(house: House) -> None:
    """Rich would read [/...] as a tag: swallow the text, or stop with an error of its own."""
    house.data = house.data.rename(columns={"income": "[/income]"})
    house.write()
    told = house.release().refused()
    assert "[/income]" in told.words


def test_a_ledger_from_before_versions_is_upgraded_by_one_command(pending: House) -> None:
    with closing(sqlite3.connect(pending.home / "ledger.db")) as database:
        database.execute("DROP TABLE sluice_ledger_schema")
    told = pending.sluice("status")
    assert told.code == ERROR
    assert "sluice ledger upgrade" in told.words
    told = pending.sluice("ledger", "upgrade")
    assert told.code == DONE
    golden(told.words)
    assert pending.sluice("ledger", "upgrade", "--json").json["before"] == "0001"
    assert pending.sluice("ledger", "verify").code == DONE


def test_a_ledger_that_was_tampered_with_is_an_error(pending: House) -> None:
    anchor = pending.home / "vault" / "anchor"
    anchor.write_text(anchor.read_text().replace(anchor.read_text()[:1], "9", 1))
    told = pending.sluice("ledger", "verify")
    assert told.code == ERROR
    assert "anchor" in told.words
    assert pending.sluice("ledger", "verify", "--json").json["problems"]


@pytest.mark.servers
@pytest.mark.smoke
def test_the_installed_command_gives_the_exit_code_and_keeps_the_streams_apart(pending: House) -> None:
    """As a user runs it: standard output holds the answer, standard error the rest."""
    sluice = Path(sys.executable).with_name("sluice")

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        environment = {"SLUICE_HOME": str(pending.home), "PATH": "/usr/bin:/bin"}
        return subprocess.run([sluice, *arguments], env=environment, capture_output=True, text=True, check=False)

    verified = run("ledger", "verify", "--json")
    assert (verified.returncode, verified.stderr) == (DONE, "")
    assert json.loads(verified.stdout) == {"problems": [], "unchecked": [], "warnings": []}
    wrong = run("release", "--wrong")
    assert (wrong.returncode, wrong.stdout) == (ERROR, "")
    assert "--wrong" in wrong.stderr
