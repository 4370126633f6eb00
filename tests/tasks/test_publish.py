"""What was approved appears, whole and once; what was altered on the way does not."""

import copy
import json
import sqlite3
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import yaml

import sluice.custody.ledger
import tasks.publish
from sluice.custody import shelf
from sluice.custody.states import State
from sluice.ground.verdict import Finding, Verdict
from tasks.decide import approve, decide
from tasks.failure import StepFailed
from tasks.publish import publish
from tasks.record_steps import mask
from tasks.release.decisions.decisions_of_people import approve as approve_as
from tasks.release.decisions.signing_in import Credentials
from tasks.release.decisions.under_review import approved_files, report_path, subject
from tasks.release.product import AnyRelease
from tasks.report import report
from tasks.settle import settle
from tests.flows.clocks import in_days
from tests.flows.house import WAITING, House
from tests.golden import golden
from tests.publication.data_package import problems

Bring = Callable[[House], AnyRelease]


FINE = Finding(rule="k", verdict=Verdict.PASS, says="Fine.")


def decided(release: AnyRelease, *people: str, found: Finding = FINE) -> AnyRelease:
    """Judged, and approved by these people."""
    decide(release, report(release, [found], mask(release)))
    for who in people:
        approve_as(release, Credentials(declared=who), "")
    return release


def approved(release: AnyRelease) -> AnyRelease:
    assert approve(decided(release, "amara", "jonas"))
    return release


def begun(house: House, release: AnyRelease) -> AnyRelease:
    """The ledger says that its publication was begun, whoever may have written it."""
    files = {file: sha256 for file, (sha256, _) in approved_files(release).items()}
    folder = str(house.target / release.id)
    release.record(State.PUBLISHING, subject=subject(release).digest(), folder=folder, files=files)
    return release


def kept_back(house: House, release: AnyRelease) -> str:
    """Why it is not published."""
    with pytest.raises(StepFailed) as failure:
        publish(release)
    assert house.shelf == []
    return failure.value.detail


def test_the_approved_files_are_on_the_shelf_with_what_describes_them(house: House, validated: Bring) -> None:
    release = approved(validated(house))
    folder = publish(release)
    assert folder == house.target / release.id
    assert shelf.read_back(folder) == []
    for file, (sha256, suffix) in approved_files(release).items():
        assert (folder / file).read_bytes() == release.vault.verify(sha256, suffix).read_bytes()
    package = json.loads((folder / "datapackage.json").read_text())
    assert {resource["path"] for resource in package["resources"]} == set(approved_files(release))
    assert release.state is State.PUBLISHED


def test_copies_for_statistics_packages_are_approved_published_and_named_like_the_data(
    house: House, validated: Bring
) -> None:
    house.definition["copies"] = ["stata", "spss"]
    house.definition["plan"][0]["columns"] = ["household"]  # towns are published, and no contract lists them
    release = approved(validated(house))
    folder = publish(release)
    assert folder is not None
    names = {f"people-puf.{ending}" for ending in ("parquet", "csv", "dta", "sav")}
    assert set(approved_files(release)) == names
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {each["path"] for each in manifest["files"]} == names
    assert {"stata", "spss"} < set(manifest["hashes"])
    assert problems(folder) == []
    found, known = pyreadstat.read_dta(folder / "people-puf.dta")
    assert found["income"].tolist() == pd.read_parquet(folder / "people-puf.parquet")["income"].tolist()
    assert set(found["town"]) == {"Aldby", "Borgen", "Cresthill"}  # as text: a list of them would be of the data
    assert set(known.variable_value_labels) == {"age", "sex", "region"}


@pytest.mark.parametrize("copy", ["dta", "sav"])
def test_a_copy_that_was_altered_after_approval_does_not_appear(house: House, validated: Bring, copy: str) -> None:
    house.definition["copies"] = ["stata", "spss"]
    release = approved(validated(house))
    sha256, suffix = approved_files(release)[f"people-puf.{copy}"]
    path = release.vault.path(sha256, suffix)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-8] + bytes(8))
    assert kept_back(house, release)


def test_formulas_are_escaped_in_the_csv_alone_where_the_policy_says_so(house: House, validated: Bring) -> None:
    house.data["note"] = np.where(np.arange(len(house.data)) % 2, "=HYPERLINK(1)", "none")
    house.contract["variables"].append({"name": "note", "kind": "nominal", "role": "other"})
    house.policy["formula_cells"] = "escape"
    house.write()
    folder = publish(approved(validated(house)))
    assert folder is not None
    assert set(pd.read_csv(folder / "people-puf.csv")["note"]) == {"'=HYPERLINK(1)", "none"}
    assert set(pd.read_parquet(folder / "people-puf.parquet")["note"]) == {"=HYPERLINK(1)", "none"}
    assert problems(folder) == []


@pytest.mark.parametrize("what", ["the file", "the report", "the ledger"])
def test_what_was_altered_after_approval_does_not_appear(house: House, validated: Bring, what: str) -> None:
    release = approved(validated(house))
    if what == "the file":
        sha256, suffix = approved_files(release)["people-puf.csv"]
        path = release.vault.path(sha256, suffix)
        path.chmod(0o600)
        path.write_bytes(path.read_bytes() + b"1,f,north,2\r\n")
    elif what == "the report":
        report_path(release).write_bytes(b"<p>All is well.</p>")
    else:
        with sqlite3.connect(house.home / "ledger.db") as database:
            for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                database.execute(f'DROP TRIGGER "{trigger}"')
            database.execute("UPDATE sluice_ledger SET actor = 'mina' WHERE event = 'decision'")
    assert kept_back(house, release)


def test_a_state_does_not_stand_in_for_the_approvals(house: House, validated: Bring) -> None:
    """Who hides rows of the ledger from the step before, and puts them back, makes it record what never was."""
    release = decided(validated(house), "amara")
    release.record(State.APPROVED, subject=subject(release).digest(), says="2 of 2 approvals")
    golden.words(kept_back(house, release))


def test_the_edition_before_is_superseded(house: House, validated: Bring) -> None:
    first = approved(validated(house))
    publish(first)
    house.new_edition()
    second = approved(validated(house))
    publish(second)
    settle(second.product)
    assert (first.state, second.state) == (State.SUPERSEDED, State.PUBLISHED)
    assert house.shelf == sorted([first.id, second.id])


@pytest.mark.parametrize("approved_by", [(), ("amara",)])
def test_a_publication_that_was_only_said_to_have_begun_publishes_nothing(
    house: House, validated: Bring, approved_by: tuple[str, ...]
) -> None:
    """Who can write in the ledger, and has nobody's approval, makes it look like one that was interrupted."""
    release = decided(validated(house), *approved_by)
    release.record(State.APPROVED, subject=subject(release).digest(), says="2 of 2 decisions; approved.")
    golden.words(kept_back(house, begun(house, release)))


def test_a_publication_that_was_begun_by_a_policy_that_did_not_count_publishes_nothing(
    house: House, validated: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.policy["name"] = "a-policy-of-nobody"
    monkeypatch.setattr(House, "adopt", lambda self: None)
    release = validated(house)
    monkeypatch.undo()
    house.policy["name"] = "test-policy"
    house.write()
    house.adopt()
    house.policy["name"] = "a-policy-of-nobody"
    house.write()
    golden.words(kept_back(house, begun(house, approved(release))))


def test_a_waiver_that_ended_lets_no_publication_begin(
    house: House, validated: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = datetime.now(UTC).date()
    house.policy["waivers"] = [
        {
            "rule": "k_anonymity", "scope": "age", "owner": "jonas", "reason": "agreed with those asked, file 7",
            "granted": str(today - timedelta(days=1)), "expires": str(today + timedelta(days=1)),
        }
    ]  # fmt: skip
    house.write()
    unsafe = Finding(rule="k_anonymity", verdict=Verdict.FAIL, says="Unsafe.", scope="age")
    release = decided(validated(house), "amara", "jonas", found=unsafe)
    release.record(State.APPROVED, subject=subject(release).digest(), says="2 of 2 decisions; approved.")

    later = in_days(3)
    monkeypatch.setattr(sluice.custody.ledger, "datetime", later)
    monkeypatch.setattr(tasks.publish, "datetime", later)
    assert "waiver" in kept_back(house, begun(house, release))


def test_two_publications_at_the_same_time_see_each_other(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    house.definition["plan"] = [
        {"method": "removal", "columns": ["household"]},
        {"method": "global_recoding", "columns": ["age"], "bins": [40, 60]},
        {"method": "rank_swapping", "columns": ["income"], "window": 0.2},
    ]
    house.write()
    assert house.release().code == WAITING
    first = house.id
    other = copy.deepcopy(house.definition) | {"name": "people-two", "source": {"type": "csv", "path": "two.csv"}}
    house.data.drop(index=int(house.data["income"].idxmax())).to_csv(house.documents / "two.csv", index=False)
    (house.documents / "two.yaml").write_text(yaml.safe_dump(other, sort_keys=False))
    assert house.sluice("release", str(house.documents / "two.yaml")).code == WAITING  # one person less
    second = house.id
    refuse_unfit, began = tasks.publish._refuse_unfit, threading.Event()

    def slowly(release: Any) -> None:
        """The first has been held beside all that is public; before it begins, the second is approved."""
        refuse_unfit(release)
        if release.id == first and not began.is_set():
            began.set()
            other_one.start()
            other_one.join(5)  # it waits for the first to have begun

    def approve(release: str) -> None:
        for person in ("amara", "jonas"):
            house.sluice("approve", release, "--as", person)

    other_one = threading.Thread(target=approve, args=(second,))
    monkeypatch.setattr(tasks.publish, "_refuse_unfit", slowly)
    approve(first)
    assert began.is_set()
    other_one.join()
    assert house.shelf == [first]
