"""What is public is judged again: by a policy that became stricter, by a new attack, and without its data."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from flows.reassessment import reassess
from policies.check import check
from sluice.custody.states import IN_DOUBT, REASSESSED, told_of
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Finding, Verdict
from tasks.release.vault.vault_retention import prune
from tests.flows.house import BLOCKED, DONE, UNCHECKED, House
from tests.flows.stages import stages
from tests.flows.tables_house import TablesHouse
from tests.golden import golden


def stricter(house: House, **change: object) -> Path:
    """The policy with another rule, in a file of its own."""
    policy = house.policy | {"version": 2} | change
    file = house.documents / "stricter.yaml"
    file.write_text(yaml.safe_dump(policy, sort_keys=False), encoding="utf-8")
    return file


def remarks(house: House) -> list[str]:
    return [event for event in house.events(house.id) if event in (REASSESSED, IN_DOUBT)]


@pytest.mark.parametrize("kind", [House, TablesHouse])
def test_what_passed_passes_again_and_nothing_but_the_ledger_changes(kind: type[House]) -> None:
    house = stages(kind).at("published")
    before = {path: path.stat().st_mtime_ns for path in _files(house)}
    told = house.sluice("reassess")
    assert told.code == DONE, told.words
    golden(told.words)
    assert str(house.id) in told.words
    assert str(house.policy["name"]) in told.words
    assert {path: path.stat().st_mtime_ns for path in _files(house)} == before
    assert remarks(house) == [REASSESSED]
    assert house.sluice("status", "--json").json[0]["state"] == "published"
    assert house.sluice("ledger", "verify").code == DONE


def test_a_release_whose_policy_cannot_be_read_is_unknown_and_hides_no_other() -> None:
    """Else one of an earlier version ends the command, or passes by being left out."""
    house = stages(House).at("published")
    workspace, first = house.workspace(), house.id
    unknown = workspace.vault.keep_bytes(b'{"name": "public-use", "rule_of_old": 3}', ".json")
    folder = {"folder": str(house.target / "old-puf-1")}
    events = {
        "received": {"definition": "old-puf", "policy": unknown}, "validated": {}, "masked": {}, "evaluated": {},
        "pending_review": {}, "approved": {}, "publishing": folder, "published": folder,
    }  # fmt: skip
    for event, body in events.items():
        workspace.ledger.append("old-puf-1", event, "sluice", body)
    for options in ([], ["--policy", str(house.documents / "policy.yaml")]):
        told = house.sluice("reassess", "--json", *options)
        assert told.code == UNCHECKED, told.words
        judged, lost = told.json
        assert (judged["release"], judged["policy"]) == (first, f"'{house.policy['name']}', version 1")
        assert (lost["release"], lost["verdict"]) == ("old-puf-1", "UNKNOWN")
        golden(lost["reasons"][0])


def _files(house: House) -> list[Path]:
    held = (house.home / "vault" / "objects", house.home / "vault" / "seeds", house.home / "reports", house.target)
    return [path for folder in held for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        (House, [{"rule": "k_anonymity", "k": 700}]),
        (TablesHouse, [{"rule": "minimum_frequency", "n": 40}, {"rule": "p_percent", "p": 10}]),
    ],
)
def test_a_stricter_policy_says_what_would_not_pass_and_why(kind: type[House], rules: list[dict[str, object]]) -> None:
    house = stages(kind).at("published")
    file = stricter(house, rules=rules)
    tried = house.sluice("reassess", "--policy", str(file), "--json")
    assert tried.code == BLOCKED, tried.words
    (row,) = tried.json
    assert (row["release"], row["verdict"], row["news"]) == (house.id, "FAIL", True)
    assert row["reasons"]
    assert remarks(house) == [], "a policy that nobody adopted is tried, and puts nothing in doubt"
    (house.documents / "policy.yaml").write_bytes(file.read_bytes())
    house.adopt()
    assert house.sluice("reassess").code == BLOCKED
    assert house.sluice("reassess").code == BLOCKED
    assert remarks(house) == [IN_DOUBT, REASSESSED], "people are told once"
    golden(told_of(IN_DOUBT))
    shown = house.sluice("ledger", "show", house.id, "--json").json["events"]
    assert next(event for event in shown if event["event"] == IN_DOUBT)["body"]["verdict_now"] == "FAIL"
    assert house.sluice("review", house.id).code == DONE, "what people decided then is as it was"


def test_a_new_attack_of_the_product_is_played_on_what_is_public(published: House) -> None:
    says = "An intruder nobody thought of finds everybody."
    found = Finding(rule="new_attack", verdict=Verdict.FAIL, stage="attack", says=says)
    played = check("new_attack", "attack", lambda files: [found])
    with patch("tasks.release.records.record_findings.attack_checks", return_value=[played]):
        told = published.sluice("reassess")
    assert told.code == BLOCKED
    assert says in told.words


def test_without_data_or_seed_nobody_can_tell(published: House) -> None:
    """Never is that a pass, whatever the policy is."""
    seeds = published.home / "vault" / "seeds"
    kept = {path.name: path.read_bytes() for path in seeds.iterdir()}
    release = next(iter(kept))
    published.workspace().vault.destroy_seed(release)
    told = published.sluice("reassess", "--json")
    assert told.code == UNCHECKED
    assert told.json[0]["verdict"] == "UNKNOWN"
    golden(told.json[0]["reasons"][0])
    for path in seeds.iterdir():
        path.unlink()
    told = published.sluice("reassess", "--json")
    golden(told.json[0]["reasons"][0])
    assert remarks(published) == [IN_DOUBT, IN_DOUBT]


def test_of_what_was_pruned_it_says_so(tmp_path: Path) -> None:
    from tests.tasks.release.vault.test_pruning import RetainingHouse

    house = stages(RetainingHouse).at("published")
    prune(house.workspace(), datetime.now(UTC) + timedelta(days=61))
    told = house.sluice("reassess", "--json")
    assert (told.code, told.json[0]["verdict"]) == (UNCHECKED, "UNKNOWN")
    golden(told.json[0]["reasons"])


def test_a_plan_that_gives_another_file_now_is_not_judged_by_it(published: House) -> None:
    with patch("tasks.release.records.release_comparison.apply_plan") as apply_plan:
        from sluice.masking.plan import apply_plan as real

        def other(*args: object) -> object:
            masked, steps = real(*args)  # type: ignore[arg-type]
            return masked.assign(income=masked["income"] + 1000), steps

        apply_plan.side_effect = other
        told = published.sluice("reassess", "--json")
    assert told.json[0]["verdict"] == "UNKNOWN"
    golden(told.json[0]["reasons"][0])


def test_an_unknown_id_and_a_ledger_that_is_not_whole_are_refused(published: House) -> None:
    published.sluice("reassess", "people-puf-0").refused(figures=True)
    workspace = published.workspace()
    (published.home / "vault" / "anchor").write_text("0\n")
    golden.refused(SluiceError, list, reassess(workspace))


def test_a_withdrawn_release_is_not_public(published: House) -> None:
    published.withdraw(published.id, "wrong codes")
    told = published.sluice("reassess", "--json")
    assert (told.code, told.json) == (DONE, [])
    assert json.loads(told.out) == []
