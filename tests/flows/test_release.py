"""The whole way of a release: judged, reviewed, published once, superseded, withdrawn; and what lies on the shelf."""

import hashlib
import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from flows.chain import release_quietly
from flows.cli.releases import _say_what_to_change
from policies.kept_policy import KeptPolicy
from sluice.custody import shelf
from sluice.custody.ledger import Ledger
from sluice.custody.ledger_chain import roots
from sluice.custody.states import State
from sluice.custody.vault import Vault
from sluice.ground.databases import database_url
from sluice.ground.verdict import Verdict
from tests.conftest import LedgerRoles
from tests.flows.house import BLOCKED, DONE, ERROR, RECORDS, TOP, WAITING, House, survey
from tests.golden import golden
from tests.publication.data_package import problems
from tests.report.pages import dossier, finding


def folder(house: House) -> Path:
    return house.target / house.id


def test_a_run_in_anothers_place_judges_anew_what_was_staged(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was lost after it had masked: as before, the release waits for people, and the source is not read."""
    house.adopt()
    with patch("flows.chain.evaluate", side_effect=OSError):
        assert house.release().code == ERROR
    assert house.events()[-1] == "masked"
    (house.documents / "people.csv").unlink()
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    outcome = release_quietly(str(house.file), house.id)
    assert outcome.state is State.PENDING_REVIEW
    judged = ["received", "validated", "masked", "evaluated", "pending_review"]
    assert house.events(house.id) == [*judged[:3], *judged]


@pytest.mark.servers
@pytest.mark.smoke
@pytest.mark.reads_apart
def test_the_good_way_to_publication_and_beyond(house: House) -> None:
    waiting = house.release()
    assert waiting.code == WAITING
    golden(waiting.words)
    assert str(house.id) in waiting.words
    assert house.shelf == []

    shown = house.sluice("review", house.id)
    assert shown.code == DONE
    assert "0 of 2 decisions" in shown.words
    assert "k_anonymity" in shown.words

    assert house.approve("amara").code == WAITING
    assert house.shelf == []
    last = house.approve("jonas")
    assert last.code == DONE
    golden(last.words)
    assert str(house.id) in last.words
    first = house.id
    assert house.shelf == [first]
    assert house.sluice("ledger", "verify").code == DONE
    assert house.sluice("status", "--json").json[0]["state"] == "published"

    before = {path.name: path.read_bytes() for path in folder(house).iterdir()}
    again = house.release()
    assert again.code == DONE
    assert house.shelf == [first]
    assert house.events(first).count("published") == 1
    assert {path.name: path.read_bytes() for path in folder(house).iterdir()} == before

    house.new_edition()
    assert house.release().code == WAITING
    second = house.id
    assert second != first
    house.approve_as_both()
    assert house.shelf == sorted([first, second])
    assert house.events(first)[-1] == "superseded"
    assert house.events(second)[-1] == "published"

    assert house.withdraw(second, "x").code == ERROR  # nobody could learn from that why it went
    gone = house.withdraw(second, "two towns were mixed up")
    assert gone.code == DONE
    assert not (house.target / second).exists()
    assert "two towns were mixed up" in (house.target / f"{second}.withdrawn.txt").read_text()
    assert house.release().code == BLOCKED  # a release that was withdrawn does not come back
    assert not (house.target / second).exists()
    assert house.withdraw(first, "the same mistake").code == DONE  # superseded, yet on the shelf
    assert [path.name for path in house.target.glob("[!.]*/")] == []
    assert house.sluice("ledger", "verify").code == DONE


@pytest.mark.parametrize("what", ["is of another version", "is lost"])
def test_a_release_whose_policy_nobody_can_read_any_more_can_be_withdrawn(
    published: House, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """By people of the roster; one of them is the head, as nobody knows which other roles the policy named."""

    class Later(KeptPolicy):
        new_rule: int

    release = published.id
    if what == "is lost":
        [received] = [e for e in published.workspace().ledger.entries(release) if e.event == "received"]
        published.workspace().vault.path(received.body["policy"], ".json").unlink()
    else:
        for module in ("under_review", "decisions_of_people"):
            monkeypatch.setattr(f"tasks.release.decisions.{module}.KeptPolicy", Later)
    for who in ("jonas", "mina"):
        told = published.sluice("withdraw", release, "--reason", "wrong codes", "--as", who)
        assert told.code == WAITING
    golden.words(told.words)
    golden.words(published.sluice("board").words)
    assert published.sluice("withdraw", release, "--reason", "wrong codes", "--as", "amara").code == DONE
    assert published.shelf == [f"{release}.withdrawn.txt"]
    assert published.events(release)[-1] == "withdrawn"


def test_a_published_release_can_be_withdrawn_though_its_documents_have_changed(published: House) -> None:
    release = published.id
    published.policy["rules"][0]["k"] = 10
    published.contract["variables"] = []  # at the moment not even a contract
    published.write()
    assert published.withdraw(release, "the policy was too mild").code == DONE
    assert not (published.target / release).exists()
    assert published.withdraw(release, "again").code == ERROR


def test_a_blocked_release_is_judged_again_from_the_same_seed(house: House) -> None:
    """A rerun is no second throw of the dice; another policy is another release, and the report counts the attempts."""
    house.policy["rules"][0]["k"] = 1000
    house.write()
    first = house.release()
    assert (first.code, house.shelf) == (BLOCKED, [])
    masked = [entry.body["data"] for entry in house.workspace().ledger.entries() if entry.event == "masked"]
    assert house.release().code == BLOCKED
    assert [entry.body["data"] for entry in house.workspace().ledger.entries() if entry.event == "masked"] == masked * 2
    assert len(house.ids) == 1
    house.policy["rules"][0]["k"] = 5
    house.write()
    house.release()
    assert len(house.ids) == 2
    dossier = next((house.home / "reports").glob(f"{house.id}.html")).read_text()
    assert "earlier" in dossier.lower()


def test_check_judges_and_asks_nobody(house: House) -> None:
    told = house.sluice("check", str(house.file))
    assert told.code == DONE
    assert house.events()[-1] == "evaluated"
    assert house.approve("amara").code == ERROR
    assert house.release().code == WAITING  # it hinders nothing
    house.policy["rules"][0]["k"] = 1000
    house.write()
    assert house.sluice("check", str(house.file)).code == BLOCKED


# -- what lies on the shelf


def test_the_folder_is_whole_and_its_checksums_are_right(published: House) -> None:
    assert shelf.read_back(folder(published)) == []
    assert problems(folder(published)) == []
    names = {path.name for path in folder(published).iterdir()}
    assert names == {
        "people-puf.parquet",
        "people-puf.csv",
        "datapackage.json",
        "codebook.html",
        "codebook.xml",
        "croissant.json",
        "CITATION.cff",
        "README.md",
        "read.R",
        "read.do",
        "read.py",
        "manifest.json",
        "attestation.json",
        "checksums.sha256",
    }
    for line in (folder(published) / "checksums.sha256").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder(published) / name).read_bytes()).hexdigest() == digest


def test_parquet_csv_and_descriptor_tell_the_same_table(published: House) -> None:
    parquet = pq.read_table(folder(published) / "people-puf.parquet").to_pandas()
    csv = pd.read_csv(folder(published) / "people-puf.csv")
    pd.testing.assert_frame_equal(parquet, csv, check_dtype=False)
    described = json.loads((folder(published) / "datapackage.json").read_text())
    for resource in described["resources"]:
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == list(csv.columns) == ["age", "sex", "region", "income"]
        assert resource["rows"] == len(csv) == RECORDS
        for field in fields:
            assert set(csv[field["name"]]) <= set(field["constraints"].get("enum", csv[field["name"]]))
        content = (folder(published) / resource["path"]).read_bytes()
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert {"household", "town"} == {variable["name"] for variable in described["sluice:notReleased"]}


def test_the_plan_was_carried_out(published: House) -> None:
    csv, original = pd.read_csv(folder(published) / "people-puf.csv"), survey()
    assert csv["income"].max() <= TOP < original["income"].max()
    bins = pd.cut(original["age"], [0, 39, 59, 200], labels=["under 40", "40 to 59", "60 and over"])
    assert csv["age"].value_counts().to_dict() == bins.value_counts().to_dict()
    # Rank swapping keeps the values of a column as they are.
    assert sorted(csv["income"]) == sorted(original["income"].clip(upper=TOP))


def test_the_records_are_in_another_order(published: House) -> None:
    """Sex and region were not perturbed: in the original's order they would agree in every record, here by chance."""
    csv, original = pd.read_csv(folder(published) / "people-puf.csv"), survey()
    for name in ("sex", "region"):
        agreement = np.mean(csv[name].to_numpy() == original[name].to_numpy())
        assert 0.4 < agreement < 0.6


def test_the_manifest_says_who_and_what_and_holds_no_secret(published: House) -> None:
    text = (folder(published) / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["release"] == published.id
    assert [approval["who"] for approval in manifest["approvals"]] == ["amara", "jonas"]
    assert [approval["role"] for approval in manifest["approvals"]] == ["methodologist", "data_steward"]
    assert {file["path"] for file in manifest["files"]} == {"people-puf.csv", "people-puf.parquet"}
    entries = published.workspace().ledger.entries()
    begun = next(entry for entry in entries if entry.event == "publishing")
    root = roots([bytes.fromhex(entry.hash) for entry in entries], [begun.seq])[begun.seq].hex()
    assert manifest["ledger"] == {"seq": begun.seq, "hash": begun.hash, "size": begun.seq, "root": root}
    seed = next((published.home / "vault" / "seeds").iterdir()).read_bytes()
    for secret in (seed.hex(), str(int.from_bytes(seed, "big")), "seed", str(published.home), "people.csv"):
        assert secret not in text


def test_the_public_can_read_the_folder_and_nobody_else_the_workspace(published: House) -> None:
    assert folder(published).stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in folder(published).iterdir()} == {0o644}
    assert (published.home / "vault").stat().st_mode & 0o077 == 0
    private = [path for path in published.home.rglob("*") if path.is_file() and "data_docs" not in path.parts]
    assert {path.name for path in private if path.stat().st_mode & 0o077} == set()


# -- other ways


def test_a_seed_that_is_to_be_destroyed_is_gone_after_publication(house: House) -> None:
    house.definition["seed"] = "destroy"
    house.write()
    house.release()
    (seed,) = (house.home / "vault" / "seeds").iterdir()
    house.approve("amara")
    assert seed.exists()
    assert house.approve("jonas").code == DONE
    assert not seed.exists()
    assert house.events()[-2:] == ["seed_destroyed", "published"]
    assert house.release().code == DONE


def test_the_ledger_may_lie_in_postgresql(
    house: House, monkeypatch: pytest.MonkeyPatch, ledger_in_postgresql: LedgerRoles
) -> None:
    url = ledger_in_postgresql.writer
    writer = str(database_url(url).username)
    assert house.sluice("ledger", "create", "--writer", writer).code == ERROR  # in SQLite, none needs to be made
    monkeypatch.setenv("SLUICE_LEDGER_URL", ledger_in_postgresql.owner)
    made = house.sluice("ledger", "create", "--writer", writer)
    assert made.code == DONE
    golden.where(f"'{writer}'", made.out)
    assert not house.home.exists()  # whoever owns the table needs no vault
    monkeypatch.setenv("SLUICE_LEDGER_URL", url)
    house.release_approved()
    assert house.sluice("ledger", "verify").code == DONE
    assert house.release().code == DONE
    assert not (house.home / "ledger.db").exists()
    vault = house.home / "vault"
    ledger = Ledger(url, Vault(vault).ledger_key(), vault / "anchor")
    assert [entry.event for entry in ledger.entries()].count("published") == 1
    assert house.shelf == [house.id]


def test_whole_households_are_held_out_and_never_published(house: House) -> None:
    """The published file holds the others' records alone; every household is on one side."""
    house.policy["reference_standard"] |= {"reference": "holdout", "holdout_share": 0.3, "minimum_records": 300}
    house.write()
    house.release_approved()
    received = next(entry for entry in house.workspace().ledger.entries() if entry.event == "received").body
    parts = {
        name: pq.read_table(house.home / "vault" / "objects" / f"{received[name]['sha256']}.parquet").to_pandas()
        for name in ("original", "holdout")
    }
    assert len(parts["original"]) + len(parts["holdout"]) == RECORDS
    assert 0.25 * RECORDS < len(parts["holdout"]) <= 0.3 * RECORDS
    assert not set(parts["original"]["household"]) & set(parts["holdout"]["household"])
    csv = pd.read_csv(folder(house) / "people-puf.csv")
    # Swapping and reordering keep the values of a column: they are those of the others, to the last one.
    assert sorted(csv["income"]) == sorted(parts["original"]["income"].clip(upper=TOP))
    assert csv["sex"].value_counts().to_dict() == parts["original"]["sex"].value_counts().to_dict()
    assert manifest_of(house)["records"] == len(parts["original"])


def manifest_of(house: House) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder(house) / "manifest.json").read_text())
    return manifest


def test_two_who_ask_for_a_withdrawal_at_different_times_withdraw_nothing(
    published: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one person asked for long ago is not what another means today."""
    monkeypatch.setattr("tasks.release.decisions.decisions_of_people.LAPSES_AFTER", timedelta(0))
    told = published.withdraw(published.id, "a mistake")
    assert (told.code, published.shelf) == (WAITING, [published.id])
    golden.words(told.words)


@pytest.mark.parametrize(
    ("rule", "searched"), [("k_anonymity", True), ("differencing", False), ("joint_classes", False)]
)
def test_a_search_is_offered_only_where_it_looks(rule: str, searched: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """None that cannot see what stands in the way."""
    _say_what_to_change(dossier(finding(Verdict.FAIL, rule)), "release.yaml")
    assert ("sluice suggest release.yaml" in "".join(capsys.readouterr())) is searched
