"""`sluice explain`: a rule in general, and what it found in a release."""

import json
from pathlib import Path

import pytest

from flows.cli.reference_commands import findings_by, rules_beginning, say_explanation
from flows.cli.terminal import release_ids
from tasks.checks import explain, explained
from tests.flows.house import BLOCKED, DONE, ERROR, House, answered
from tests.golden import golden
from tests.report.pages import FAIL, dossier, finding


def test_a_rule_is_explained_without_a_workspace() -> None:
    shown = answered(["explain", "l-diversity"]).out
    golden(shown)


def test_an_unknown_rule_names_the_nearest() -> None:
    golden(answered(["explain", "l_divercity"], ERROR).err)


def test_without_a_rule_all_are_named_by_what_they_are() -> None:
    kinds = json.loads(answered(["explain", "--json"]).out)
    assert "k_anonymity" in kinds["Rules of a policy"]
    assert "pair_marginals" in kinds["Limits on the loss of information"]
    assert "contract.kind" in kinds["Checks under every policy"]
    named = [name for names in kinds.values() for name in names]
    assert sorted(named) == explained()
    shown = answered(["explain"]).out
    assert all(name in shown for name in named)


def test_a_shell_completes_the_names_of_rules() -> None:
    assert rules_beginning("k_") == ["k_anonymity", "k_map"]
    assert rules_beginning("nothing") == []


def test_the_findings_of_a_release_stand_beside_it_and_nothing_in_them_is_obeyed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The attacker named a category so that a terminal clears the screen and shows another verdict."""
    escape = "\x1b[2Jk_anonymity: meets the rule\n"
    of = dossier(finding(FAIL, observed=2, limit=5, where=(f"town: '{escape}'",)), finding(FAIL, rule="suda"))
    assert len(findings_by("k_anonymity", of)) == 1
    say_explanation(explain("k_anonymity"), of)
    shown = capsys.readouterr().out
    assert "Figure: 2, limit: 5." in shown
    assert "\x1b[2J" not in shown
    assert not any(line.startswith("k_anonymity: meets") for line in shown.splitlines())


def test_a_shell_completes_the_ids_of_reported_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path))
    assert release_ids("") == []
    (tmp_path / "reports").mkdir()
    for name in ("adult-1.html", "adult-2.html", "fair-1.html", "x.json"):
        (tmp_path / "reports" / name).touch()
    assert release_ids("adult") == ["adult-1", "adult-2"]
    assert release_ids("*") == []


def test_check_explains_what_it_found_and_refuses_an_unknown_rule_before_it_begins(tmp_path: Path) -> None:
    house = House(tmp_path / "house")
    house.definition["plan"][1]["bins"] = list(range(20, 80, 2))
    house.write()
    wrong = house.sluice("check", str(house.file), "--explain", "k_anonimity")
    assert wrong.code == ERROR
    golden.where("'k_anonymity'", wrong.words)
    assert not house.workspace().ledger.entries()
    told = house.sluice("check", str(house.file), "--explain", "k_anonymity")
    assert told.code == BLOCKED
    golden.where("(masked data)", told.out)
    again = house.sluice("explain", "k_anonymity", told.out.split()[0])
    assert again.code == DONE, again.words
    golden.where("(masked data)", again.out)
