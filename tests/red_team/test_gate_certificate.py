"""The truth by which the benchmark of the gate judges verdicts, and a few releases of each kind that it judges."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gate_certificate import Cell, Judged, design, judged_cell, read, run, table
from benchmarks.gate_releases import POPULATIONS, SORTS, numbered, of_a_household, told_by_another, turned
from policies.policy import Policy, load_policy
from sluice.ground.verdict import Finding, Verdict
from tests.red_team.battery import battery, beyond, limits, within
from tests.red_team.files import masked_by
from tests.red_team.reach import Reach
from tests.red_team.search import search
from tests.red_team.told_keys import key_solved, together

POLICIES = Path(__file__).parents[2] / "policies"


def policy(name: str) -> Policy:
    return load_policy(POLICIES / f"{name}.yaml")


@pytest.mark.parametrize("strength", [0, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in (1, 2))])
def test_columns_that_were_turned_together_are_turned_back(strength: int) -> None:
    files = turned(POPULATIONS["tax"](), 600, strength, 1).truth
    reaches = battery(files, [5])
    assert reaches["sure"].share > 0.5
    assert "sure" in {each.aim for each in beyond(policy("perturbed-file"), reaches)}


def test_nobody_is_found_among_other_people() -> None:
    sort = next(each for each in SORTS if each.name == "other people")
    files = sort.make(POPULATIONS["nhanes"](), 500, 1, 1).truth
    reaches = battery(files, [5])
    assert not beyond(policy("perturbed-file"), reaches)
    assert within(policy("perturbed-file"), {a: Reach(10 * r.right, 10 * r.people) for a, r in reaches.items()})


def test_a_household_is_found_by_how_it_is_made_up() -> None:
    release = of_a_household(POPULATIONS["households"](), 600, 1, 1)
    assert together(release.truth, "ori_hid").share > 0.3
    each_their_own = release.truth.masked.assign(amount=np.arange(600.0))
    assert together(replace(release.truth, masked=each_their_own), "ori_hid").share == 0


@pytest.mark.parametrize("strength", range(3))
def test_forty_known_numbers_give_the_function_of_all(strength: int) -> None:
    release = numbered(POPULATIONS["adult"](), 600, strength, 1)
    learners, judged = np.arange(300), np.arange(300, 600)
    assert key_solved(release.truth, "person_number", learners, judged).share > 0.6
    secret = np.random.default_rng(1).permutation(600) + 1_000
    assert key_solved(
        replace(release.truth, masked=release.truth.masked.assign(case=secret)), "person_number", learners, judged
    ).share == 0  # fmt: skip


def test_a_key_that_was_removed_is_told_by_the_code_that_begins_with_it() -> None:
    files = told_by_another(POPULATIONS["adult"](), 1_000, 1, 1).truth
    reached = battery(files, [5])
    assert reached["came back"].share > 0.02


def test_limits_are_those_of_the_policy() -> None:
    found = limits(policy("scientific-use-file"))
    assert (found["found by 3"], found["read by 3"]) == (0.2, 0.1)
    assert "found" not in found  # whoever knows everything does not bind there
    assert limits(policy("synthetic-file"))["took part"] == 0.1


@pytest.mark.exhaustive
def test_a_run_goes_on_where_it_ended_and_takes_the_attacks_of_another(tmp_path: Path) -> None:
    cells = [Cell("wide windows", strength, "tax", 300, "perturbed-file") for strength in (0, 2)]
    run(cells[:1], tmp_path / "first.jsonl", {})
    (first,) = read([tmp_path / "first.jsonl"])
    run(cells[:1], tmp_path / "first.jsonl", {})
    assert [each.cell for each in read([tmp_path / "first.jsonl"])] == cells[:1]
    known = {first.cell.id: replace_truth(first)}
    run(cells, tmp_path / "second.jsonl", known)
    again = list(read([tmp_path / "second.jsonl"]))
    assert [each.cell for each in again] == cells
    assert (again[0].truth, again[0].verdict) == ("bad", first.verdict)
    assert "| `perturbed-file` |" in table([again])


def replace_truth(judged: Judged) -> Judged:
    return replace(judged, truth="bad")


def test_the_design_holds_each_kind_and_policy() -> None:
    cells = design()
    assert len({cell.id for cell in cells}) == len(cells)
    assert {each.name for each in SORTS} <= {cell.sort for cell in cells}
    assert {cell.policy for cell in cells} == {path.stem for path in POLICIES.glob("*.yaml")} - {
        "business-tables", "count-tables",
    }  # fmt: skip


JUDGED = (
    "a few among others/1/nhanes/1000/perturbed-file",
    "a number under a function/0/households/1000/scientific-use-file",
    "a removed key comes back/0/census-income/1000/scientific-use-file",
    "columns turned together/0/census-income/1000/perturbed-file",
    "copies among others/2/nhanes/1000/synthetic-file",
    "editions, a few left/2/census-income/1000/public-use-file",
    "editions, a panel/2/adult/3000/public-use-file",
    "editions, nobody moves/1/adult/3000/public-use-file",
    "editions, other bands/1/census-income/3000/public-use-file",
    "in regions/0/firms/1000/public-use-business",
    "in regions/2/households/3000/scientific-use-file",
    "large groups of numbers/2/census-income/3000/perturbed-file",
    "large leaves/1/firms/1000/synthetic-file",
    "masked, called synthetic/1/census-income/1000/synthetic-file",
    "one number kept/1/census-income/1000/perturbed-file",
    "one small group/2/census-income/1000/perturbed-file",
    "other people/2/nhanes/3000/perturbed-file",
    "recoded and suppressed/2/firms/1000/public-use-business",
    "recoded and suppressed/1/households/3000/public-use-file",
    "recoded and swapped/1/firms/1000/public-use-business",
    "recoded and swapped/0/households/3000/scientific-use-file",
    "records that belong together/1/households/1000/scientific-use-file",
    "shuffled/2/diabetes/3000/perturbed-file",
    "small groups of numbers/0/tax/1000/perturbed-file",
    "small leaves/2/firms/1000/synthetic-file",
    "strong noise/0/adult/1000/perturbed-file",
    "strong noise/1/adult/3000/perturbed-file",
    "too fine/0/adult/1000/public-use-file",
    "weak noise/0/nhanes/1000/perturbed-file",
    "wide windows/0/nhanes/1000/perturbed-file",
    "wide windows/1/nhanes/3000/perturbed-file",
)
"""Releases of most kinds, bad or good, whose verdict is right; docs/reference-standard.md tells of the others."""


LONGEST = ("census-income", "nhanes", "in regions/0")  # the largest tables, and the most attacks


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.longest] * any(each in name for each in LONGEST)) for name in JUDGED]
)
def test_what_attacks_undo_does_not_pass_and_what_they_do_not_undo_does(name: str) -> None:
    cell = next(each for each in design() if each.id == name)
    judged = judged_cell(cell)
    assert judged.truth in ("bad", "good"), judged.reaches
    assert (judged.verdict == "PASS") is (judged.truth == "good"), f"{judged.stopped_by}, {judged.reaches}"


@pytest.mark.exhaustive
def test_a_search_finds_what_a_gate_lets_pass_that_passes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says of a gate that says nothing how much less it says than the attacks reach."""
    passes = Finding(rule="learned_linkage", scope="everything", verdict=Verdict.PASS, says=".", observed=0.0)
    monkeypatch.setattr("tests.red_team.search.judge", lambda files, policy: [passes])
    of = POPULATIONS["tax"]()
    people, _ = of.drawn(500, 1)
    found = search((people, of.variables(people, of.numbers)), policy("perturbed-file"), 2, 1)
    assert found.passed == found.judged > 0
    assert found.texts
    assert found.widest[0] > 0.1


def test_variables_that_left_their_records_together_are_looked_for_where_they_are() -> None:
    people, _ = POPULATIONS["tax"]().drawn(300, 1)
    variables = POPULATIONS["tax"]().variables(people, list(people))
    files = masked_by((people, variables), [{"method": "permutation", "columns": list(people), "jointly": True}])
    assert battery(files, [5])["found"].share > 0.9
    assert battery(replace(files, blocks=()), [5])["found"].share < 0.1
