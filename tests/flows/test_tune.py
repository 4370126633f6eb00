"""`sluice tune` and `sluice suggest`: what they write, what they record, and what the next report says of it."""

import re
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.cli.terminal import INTERRUPTED
from sluice.custody.states import SEARCHES
from tasks.tuning import plan_search, suggestions, tuning
from tasks.tuning.allowance import Allowance, stopping
from tests.flows.house import BLOCKED, DONE, ERROR, House, survey
from tests.flows.tables_house import TablesHouse
from tests.golden import golden
from tests.report.pages import FAIL, Page, dossier, finding


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A plan that is stronger than it need be, a search that is short, and half as many people as other houses have."""
    house = House(tmp_path / "house")
    house.data = survey(600)
    house.policy["reference_standard"] |= {"minimum_records": 500, "learned": {"found": 0.3, "claims": 0.08}}
    house.definition["plan"][1]["bins"] = [60]
    house.definition["search"] = {"trials": 6, "seed": 3, "people": 1}
    house.write()
    return house


def searched(house: House, *options: str) -> Any:
    return house.sluice("tune", str(house.file), "--workers", "1", *options)


@pytest.fixture(autouse=True)
def _two_other_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a judgement of all records."""
    monkeypatch.setattr("tasks.tuning.confirmation.DRAWS", 2)
    monkeypatch.setattr(suggestions, "DRAWS", 2)


@pytest.mark.exhaustive
def test_the_plan_that_is_found_passes_as_a_release_and_loses_less(house: House) -> None:
    told = searched(house)
    assert told.code == DONE, told.words
    tuned = house.documents / "release-tuned.yaml"
    text = tuned.read_text()
    assert "`sluice tune`" in text
    golden.where("ithout it", text)
    assert re.search(r"\b[0-2] of 2 ", " ".join(text.replace("#", "").split())), "of so many other draws"
    assert re.search(r"\b[0-2] of 2 ", told.words)
    for line in ("# variables kept, of ", "# k-marginal score of triples, all: ", "# S_pMSE of those kept: "):
        assert line in text
        assert line.removeprefix("# ").split(":")[0] in told.out
    assert yaml.safe_load(text)["name"] == "people-puf"
    assert house.sluice("check", str(tuned)).code == DONE
    events = house.workspace().ledger.entries(SEARCHES)
    assert [entry.event for entry in events] == ["search_begun", "search_ended"]
    assert events[0].body["trials"] == 6
    assert 1 <= events[1].body["trials"] <= 6
    report = next((house.home / "reports").glob("*.html")).read_text()
    golden.words([each for each in Page(report).lines if "by a search" in each])
    golden([each for each in Page(report).lines if each.startswith("No other release")])  # no trial is another one
    refused = searched(house)
    assert refused.code == ERROR
    golden.where("overwrite", refused.err)
    plan = searched(house, "--trial", "0")
    assert plan.code == DONE
    assert yaml.safe_load(plan.out)["plan"]
    beyond = searched(house, "--trial", "99")
    assert beyond.code == ERROR
    golden.where("--trial", beyond.err)
    again = searched(house, "--output", str(house.documents / "again.yaml"), "--minutes", "0.001")
    golden([line for line in again.err.splitlines() if "6 trials" in line])  # and there is time for the first alone


@pytest.mark.parametrize("command", ["tune", "suggest"])
def test_data_that_are_not_what_their_contract_says_are_refused_before_any_plan_is_tried(
    house: House, command: str
) -> None:
    del house.definition["search"]
    house.data["region"] = house.data["region"].where(house.data.index > 4)
    house.write()
    told = house.sluice(command, str(house.file)).refused()
    assert "'region'" in told.words
    assert not house.workspace().ledger.entries(SEARCHES)


@pytest.mark.exhaustive
def test_a_definition_without_search_fields_is_tuned_and_not_changed(house: House) -> None:
    del house.definition["search"]
    house.write()
    before = house.file.read_bytes()
    told = searched(house, "--trials", "4", "--json")
    assert told.json["trials"] <= 4
    assert "best" not in told.err  # machines hear no progress
    assert told.json["before"]["kept"] <= told.json["before"]["of"]
    assert set(told.json) >= {"kept", "prices", "warning", "safer"}
    assert told.json["other_draws"] is None or told.json["other_draws"]["of"] == 2
    for finalist in told.json["finalists"]:
        assert all(bool(each["falls_by"]) is (each["end"] == "fails") for each in finalist["judged"])
    assert house.file.read_bytes() == before
    assert told.code == (DONE if told.json["passed"] else BLOCKED)


def test_what_cannot_be_met_is_named_by_rule_and_nothing_is_written(house: House) -> None:
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 1100}]
    house.definition["plan"] = [
        {"method": "removal", "columns": ["household", "town"]},
        {"method": "global_recoding", "columns": ["age"], "bins": {"any_of": [[40], [60]]}},
    ]
    house.write()
    told = searched(house)
    assert told.code == BLOCKED
    assert "k_anonymity" in told.words
    assert not (house.documents / "release-tuned.yaml").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("cut_off", [2, 100])
def test_a_search_that_is_stopped_says_what_it_found(
    house: House, monkeypatch: pytest.MonkeyPatch, cut_off: int
) -> None:
    """In the middle of a trial, and after the best was judged again, when there is something to write."""
    trial, judge = plan_search.outcome_at, tuning.pruned

    def cut(known: Any, of: Any, point: Any, number: int, *more: Any, **named: Any) -> Any:
        if number == cut_off:
            raise KeyboardInterrupt
        return trial(known, of, point, number, *more, **named)

    def no_pruning(*of: Any) -> Any:
        if cut_off == 100:
            raise KeyboardInterrupt
        return judge(*of)

    monkeypatch.setattr(plan_search, "outcome_at", cut)
    monkeypatch.setattr(tuning, "pruned", no_pruning)
    told = searched(house)
    tuned = house.documents / "release-tuned.yaml"
    assert told.code == INTERRUPTED
    assert "nan" not in told.words.split()
    assert told.out.startswith("stopped: ")
    assert " 6 plans" in told.out
    ended = house.workspace().ledger.entries(SEARCHES)[-1]
    assert (ended.event, ended.body["passed"]) == ("search_ended", cut_off == 100)
    assert tuned.exists() is (cut_off == 100)
    if cut_off == 2:
        golden(told.out.splitlines()[0])
        assert ended.body["trials"] == 2
        assert house.sluice("tune", str(house.file), "--trial", "1").code == DONE


def test_sigterm_ends_a_search_as_ctrl_c_does() -> None:
    allowance, before = Allowance(), signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), stopping(allowance):
        signal.raise_signal(signal.SIGTERM)
    assert allowance.stopped
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_wrong_space_and_another_folder_are_refused(house: House, tmp_path: Path) -> None:
    told = house.sluice("tune", str(house.file), "--output", str(tmp_path / "x.yaml"))
    golden.words(told.err)
    house.definition["plan"][3]["window"] = {"from": 0.1, "to": 7}
    house.write()
    golden(house.sluice("tune", str(house.file)).words)


def test_suggestions_are_tried_and_stand_in_the_next_report(house: House) -> None:
    del house.definition["search"]
    house.definition["plan"][1]["bins"] = list(range(20, 80, 2))
    house.write()
    blocked = house.sluice("check", str(house.file))
    assert blocked.code == BLOCKED
    golden.where(" age: ", blocked.out)
    assert f"sluice suggest {house.file}" in blocked.out
    told = house.sluice("suggest", str(house.file), "--trials", "4", "--workers", "1")
    assert told.code == DONE, told.words
    assert "1. " in told.out
    golden.where("the plan does", told.out)
    golden.where("not known", told.out)  # which a check names, too
    again = house.sluice("check", str(house.file))
    first = told.out.partition("\n  1. ")[2].splitlines()[0]  # other sentences may end in 1
    assert first not in blocked.out
    assert first in again.out
    golden.where("Changes of the plan", again.out)
    assert "sluice suggest" not in again.out
    for_machines = house.sluice("check", str(house.file), "--json").json
    assert first in for_machines["suggestions"]
    assert any(each["where"] for each in for_machines["what_to_change"])
    report = next((house.home / "reports").glob("*.html")).read_text()
    golden(sorted({each.partition(":")[0] for each in Page(report).lines if "when it was tried" in each}))


def test_a_check_says_by_how_many_other_draws_the_plan_passes(pending: House) -> None:
    told = pending.sluice("check", str(pending.file), "--repeat", "2")
    golden.where("2 of 2", told.out)
    pending.definition["plan"] = [{"method": "removal", "columns": ["town"]}]
    pending.definition["policy"] = "test-policy"  # by the name under which it was adopted
    pending.write()
    for_machines = pending.sluice("check", str(pending.file), "--repeat", "2", "--json")
    assert for_machines.code == BLOCKED
    draws = for_machines.json["other_draws"]
    assert (draws["passed"], draws["of"], draws["stopped_by"]["k_anonymity"]) == (0, 2, 2)


def test_tables_are_not_drawn_again(tmp_path: Path) -> None:
    house = TablesHouse(tmp_path / "tables")
    house.write()
    told = house.sluice("check", str(house.file), "--repeat", "2")
    assert (told.code, "--repeat" in told.words, list(house.home.glob("reports/*.html"))) == (ERROR, True, [])


def test_suggest_starts_from_the_verdict_of_the_release(pending: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """As judged with the release's own seed and all people; another draw that passes makes it no better."""
    release, asked = pending.id, ("suggest", str(pending.file), "--trials", "1", "--workers", "1")
    as_it_is = pending.sluice(*asked)
    assert f"{release} passed" in as_it_is.words
    near = finding(FAIL, rule="participant_inference", stage="attack", observed=106, limit=94)
    monkeypatch.setattr(suggestions, "kept_dossier", lambda *_: dossier(near))
    monkeypatch.setattr(suggestions, "DRAWS", 1)
    monkeypatch.setattr(suggestions, "CHANGED_DRAWS", 1)
    told = pending.sluice(*asked)
    assert told.code == BLOCKED
    assert "106 of 94" in told.words
    golden.where("participant_inference", told.out)
    golden.where("1 of 1", told.out)

    earlier = finding(FAIL, rule="differencing", stage="masked")
    monkeypatch.setattr(suggestions, "kept_dossier", lambda *_: dossier(earlier))
    beyond = pending.sluice(*asked, "--json")
    assert beyond.code == BLOCKED
    assert (beyond.json["passes"], beyond.json["judged"], beyond.json["beyond"]) == (False, release, ["differencing"])
