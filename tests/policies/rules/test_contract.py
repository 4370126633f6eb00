"""What holds of every rule on records and on cells: it passes at its limit, fails beyond it, is UNKNOWN without data.

A new rule is added to `PROMISES` or `CELLS`, and to `REFUSED`; an attack to test_attack_contract.py and to `REFUSED`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter

from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from sluice.ground.errors import DataError
from sluice.ground.rule import Rule
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.population.population_rule import PopulationEstimate
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.sensitivity import SensitivityRule
from sluice.tabular.rules.zero_cells import ZeroCells
from tasks.checks import advice_on, with_advice
from tests.golden import golden
from tests.items.set_columns import column_of, variable
from tests.listed import all_listed
from tests.policies.rules.test_attack_contract import ATTACKS
from tests.policies.rules.written_rules import documented, is_sensitive, load, refusal
from tests.report.decided import misquoted
from tests.risk.classes import ill_people
from tests.risk.population.weighted_survey import READING

QUASI, SENSITIVE, WEIGHT, HOUSEHOLD = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT, Role.HOUSEHOLD
VARIABLES = ill_people.VARIABLES | {"home": Variable(name="home", kind=Kind.INTEGER, role=HOUSEHOLD)}


def survey(ages: list[int | None], areas: str, illnesses: str = "", weight: float = 10.0) -> pd.DataFrame:
    """Two people to a home."""
    homes = pd.array(np.arange(len(ages)) // 2, dtype="Int64")
    return ill_people.people(ages, areas, illnesses, weight).assign(home=homes)


CROWDS = survey([30, 30, 30, 40, 40, 40], "aaaaaa", "ccfcfg")  # two groups of three; in one of them a gout
RARE = survey([30, 30, 40, 50], "aabb")  # two people alone, in one home
MANY = survey([*(age // 2 for age in range(40)), *range(10)], "a" * 40 + "b" * 10, weight=4.0)
BASKETS = column_of([{"apple", "beer"}, {"apple", "beer"}, {"apple"}]).to_frame("basket")
ALONE = 0.1 / 0.9 * np.log(10)  # the risk of who is alone in the file with a weight of 10


@dataclass(frozen=True)
class Promise:
    """What a rule finds in a file of which the figure can be told by hand.

    settings : with a limit that the file keeps, exactly where it can be
    stricter : the limit that it does not keep
    observed : the figure
    needs    : roles without which nothing can be judged
    """

    settings: dict[str, Any]
    stricter: dict[str, Any]
    observed: float
    frame: pd.DataFrame
    needs: tuple[Role, ...] = (QUASI,)
    variables: Variables = field(default_factory=lambda: VARIABLES)

    @property
    def limit(self) -> Any:
        (limit,) = self.stricter.values()
        return limit


ON_VALUES, WEIGHTED = (QUASI, SENSITIVE), (QUASI, WEIGHT)
PROMISES = {
    "alpha_k": Promise({"alpha": 2 / 3, "k": 3}, {"alpha": 0.6}, 2 / 3, CROWDS, ON_VALUES),
    "attribute_combinations": Promise({"at_most": 0.5}, {"at_most": 0.4}, 0.5, RARE),
    "attribute_risk": Promise({"at_most": 0.75}, {"at_most": 0.7}, 0.75, RARE),
    "beta_likeness": Promise({"beta": 1, "variant": "basic"}, {"beta": 0.9}, 1, CROWDS, ON_VALUES),
    "delta_disclosure": Promise(
        {"delta": 0.7, "absent_values": "ignore"}, {"delta": 0.69}, np.log(2), CROWDS, ON_VALUES
    ),
    "delta_presence": Promise({"at_most": 0.1}, {"at_most": 0.09}, 0.1, RARE, WEIGHTED),
    "household_risk": Promise(
        {"highest_at_most": 0.5}, {"highest_at_most": 0.4}, 1 - (1 - ALONE) ** 2, RARE, (*WEIGHTED, HOUSEHOLD)
    ),
    "individual_risk": Promise({"highest_at_most": 0.3}, {"highest_at_most": 0.2}, ALONE, RARE, WEIGHTED),
    "k_anonymity": Promise({"k": 3}, {"k": 4}, 3, CROWDS),
    "k_map": Promise({"k": 4, "population": "population.csv"}, {"k": 5}, 4, RARE),
    "km_anonymity": Promise({"k": 2, "m": 2}, {"k": 3}, 2, BASKETS, (), {"basket": variable()}),
    "l_diversity": Promise({"l": 2}, {"l": 3}, 2, CROWDS, ON_VALUES),
    "loglinear_risk": Promise(  # by main effects half a person has the keys of who is alone: nine tenths were not drawn
        {"uniques_at_most": 0.01, "interactions": "none"}, {"uniques_at_most": 0.005}, np.exp(-4.5) / 2, RARE, WEIGHTED
    ),
    "population_uniques": Promise(  # hypergeometric: of 10 groups of one and 20 of two a quarter was drawn
        {"at_most": 0.5, "estimator": "zayatz"}, {"at_most": 0.01},
        0.2 * 2.5 / (2.5 + 20 * 2 * 50 * 150 / (200 * 199)), MANY, WEIGHTED,
    ),
    "reidentification_risk": Promise(
        {"model": "prosecutor", "highest_at_most": 1 / 3}, {"highest_at_most": 0.3}, 1 / 3, CROWDS
    ),
    "sample_uniques_share": Promise({"at_most": 0.5}, {"at_most": 0.4}, 0.5, RARE),
    "suda": Promise(  # DIS is 2 / (2 + 2 * 9) of both who are alone: by the age, not first by age and area
        {"sampling_fraction": 0.1, "above": 0.09, "at_most": 0.5}, {"at_most": 0.25}, 0.5, RARE
    ),
    "t_closeness": Promise({"t": 0.17}, {"t": 0.16}, 1 / 6, CROWDS, ON_VALUES),
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """A promise with its rules, as a policy has them."""

    promise: Promise
    passes: Rule
    fails: Rule

    def find(self, rule: Rule, frame: pd.DataFrame | None = None, variables: Variables | None = None) -> list[Finding]:
        given = self.promise.frame if frame is None else frame
        return rule.find(given, variables or self.promise.variables, "masked", "people", READING)

    def broken(self, frame: pd.DataFrame | None = None, variables: Variables | None = None) -> Finding:
        return next(each for each in self.find(self.fails, frame, variables) if each.verdict is Verdict.FAIL)


def judged(name: str) -> Judged:
    promise = PROMISES[name]
    lenient, strict = (load(rule=name, **promise.settings | more) for more in ({}, promise.stricter))
    return Judged(promise, lenient, strict)


# Rules on cells: as a policy writes them, what then judges the cells, and contributions to a cell that is sensitive.
CELLS: list[tuple[dict[str, Any], SensitivityRule, list[int]]] = [
    ({"rule": "dominance", "n": 2, "k": 85.5}, Dominance(n=2, k=85.5), [90, 5]),
    ({"rule": "minimum_frequency", "n": 3}, MinimumFrequency(n=3, protection_percent=10), [90, 5]),
    (
        {"rule": "minimum_frequency", "n": 4, "protection_percent": 15, "zeros_safe": True},
        MinimumFrequency(n=4, protection_percent=15, zeros_safe=True),
        [90, 5],
    ),
    ({"rule": "p_percent", "p": 10}, PPercent(p=10), [90, 5]),
    ({"rule": "p_percent", "p": 10, "coalition": 3}, PPercent(p=10, coalition=3), [90, 5]),
    ({"rule": "prior_posterior", "p": 10, "q": 50}, PriorPosterior(p=10, q=50), [90, 5]),
    ({"rule": "request_rule", "k": 70}, RequestRule(k=70), [90, 5]),
    ({"rule": "zero_cells", "protection_units": 5}, ZeroCells(protection_units=5), [0, 0]),
]

# Settings that a policy must not have.
REFUSED: dict[str, list[dict[str, Any]]] = {
    "alpha_k": [{"alpha": 0.5, "k": 1}, {"alpha": 0.5, "k": 2, "values": []}],
    "attribute_combinations": [{"k": 1}],
    "attribute_divergence": [{"limit": 0.1, "excess": 0.1}, {}],
    "attribute_inference": [{}],
    "attribute_risk": [{"at_most": 20}],
    "beta_likeness": [{"beta": 0}],
    "data_invasion": [{}, {"limit": 15}],
    "delta_disclosure": [{"delta": float("inf")}],
    "delta_presence": [{"at_most": 1}],
    "distance_linkage": [{}, {"limit": float("inf")}],
    "dominance": [{"n": 1, "k": 0.75}, {"n": 0, "k": 75}, {"n": 85, "k": 2}],
    "household_risk": [{"expected_at_most": 0}],
    "individual_risk": [{}],
    "inference": [{"limit": 5}, {"limit": 0.1, "excess": 0.1}],
    "interval_disclosure": [{"limit": 0.1, "widths": []}],
    "k_anonymity": [{"k": 1}, {"k": 5, "missing_matches": "none"}, {"k": 5, "columns": []}, {"k": 5, "limit": 3}],
    "k_map": [{"k": 1, "population": "p.csv"}, {"k": 9, "population": "p.csv", "population_sha256": "abc"}],
    "km_anonymity": [{"k": 1}, {"k": 2, "m": 5}],
    "l_diversity": [
        {"l": 0.5},
        {"l": 2, "variant": "probable"},
        {"l": 2, "variant": "recursive"},
        {"l": 2, "c": 3},
        {"l": 2.5, "variant": "recursive", "c": 3},
        {"l": 2, "variant": "recursive", "c": 0},
    ],
    "linkability": [{"limit": 0.1, "known": [["age", "sex"], ["age"]]}],
    "linkage_score": [
        {},
        {"limit": 0.5, "weighting": "table"},
        {"limit": 0.5, "window": 0.1},
        {"excess": 0.1, "of": "score"},
    ],
    "loglinear_risk": [{}],
    "maximum_knowledge": [{"limit": 0.1, "excess": 0.1}, {}],
    "membership": [{"limit": 0.1, "nearer": 0.3}],
    "microaggregation_linkage": [{}],
    "minimum_frequency": [{"n": 1}],
    "p_percent": [{"p": 0.1}, {"p": 101}, {"p": 10, "coalition": 0}],
    "participant_inference": [{"limit": 10}],
    "population_uniques": [{"at_most": 0.1, "population": 9, "sampling_fraction": 0.1}, {"at_most": 5}],
    "prior_posterior": [{"p": 50, "q": 10}, {"p": 0.1, "q": 50}],
    "probabilistic_linkage": [{"limit": 0.1, "tolerances": [0.1, -1]}],
    "rank_swapping_linkage": [{"limit": 0.1, "window": 15}],
    "rare_combinations": [{"limit": 15}],
    "reidentification_risk": [
        {"model": "prosecutor"},
        {"model": "journalist", "highest_at_most": 0.1},
        {"model": "prosecutor", "highest_at_most": 0.1, "population": "p"},
        {"model": "marketer", "highest_at_most": 0.1, "population": "p"},
        {"model": "prosecutor", "highest_at_most": 20},
    ],
    "request_rule": [{"k": 0.7}, {}],
    "sample_uniques_share": [{"at_most": 5}],
    "singling_out": [{}, {"limit": 0.1, "attacks": 10}],
    "subset_inference": [{"limit": 10}],
    "suda": [
        {"above": 0.2},
        {"sampling_fraction": 10, "above": 0.2},
        {"sampling_fraction": 0.1, "above": 0.2, "size": 0},
    ],
    "t_closeness": [{"t": 0.2, "ground_distance": "far"}, {"t": 0}, {"t": 20}],
    "zero_cells": [{"protection_units": 0}],
}

_THIS = "tests/policies/rules/test_contract.py"
each_rule = pytest.mark.parametrize("name", PROMISES)


@pytest.fixture(autouse=True)
def population(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of the population, in the current folder."""
    (tmp_path / "population.csv").write_text("age,area,count\n30,a,4\n40,b,10\n50,b,5\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_no_rule_is_without_a_promise_and_a_refusal() -> None:
    promised = {*PROMISES, *(written["rule"] for written, _, _ in CELLS), *(name for name, _, _, _ in ATTACKS)}
    every = rules(PolicyRule) | rules(AttackPolicyRule)
    places = f"PROMISES of {_THIS} (a rule on cells to CELLS there, an attack to ATTACKS of test_attack_contract.py)"
    all_listed(promised, every, places)
    all_listed(REFUSED, every, f"REFUSED of {_THIS}")


@pytest.mark.parametrize(
    ("name", "settings"), [(name, settings) for name, each in REFUSED.items() for settings in each], ids=str
)
def test_settings_out_of_bounds_are_refused(name: str, settings: dict[str, Any]) -> None:
    golden(refusal(rule=name, **settings))


@each_rule
def test_it_passes_at_its_limit_and_fails_beyond_for_its_own_reason(name: str) -> None:
    of = judged(name)
    passed, failed = of.find(of.passes), of.broken()
    assert {finding.verdict for finding in passed} == {Verdict.PASS}
    assert (failed.observed, failed.limit) == (pytest.approx(of.promise.observed), of.promise.limit)
    assert (failed.rule, failed.stage, failed.binding) == (name, "masked", True)
    assert failed.attempted == failed.completed == len(of.promise.frame)
    assert failed.code
    assert misquoted([*passed, failed]) == []
    golden([*passed, failed])


@each_rule
def test_it_says_what_it_asks_and_is_read_as_it_was_written(name: str) -> None:
    rule = judged(name).fails
    golden(rule.describe())
    assert TypeAdapter(PolicyRule).validate_python(rule.model_dump(mode="json")) == rule


@each_rule
def test_no_records_are_unknown_never_a_pass(name: str) -> None:
    of = judged(name)
    (nobody,) = of.find(of.passes, of.promise.frame.head(0))
    assert (nobody.verdict, nobody.attempted, nobody.completed) == (Verdict.UNKNOWN, 0, 0)
    golden(nobody)


@each_rule
def test_what_fails_or_cannot_be_judged_has_the_advice_of_its_rule(name: str) -> None:
    of = judged(name)
    advised = with_advice(of.find(of.fails))
    assert {each.advice for each in advised if each.verdict is Verdict.FAIL} == {of.fails.advice}
    (unknown,) = of.find(of.fails, of.promise.frame.head(0))
    assert advice_on(unknown) == f"{of.fails.needs} A waiver cannot excuse what was not measured."


@pytest.mark.parametrize(("name", "role"), [(name, role) for name, each in PROMISES.items() for role in each.needs])
def test_without_what_it_needs_it_is_unknown_never_a_pass(name: str, role: Role) -> None:
    of = judged(name)
    variables = {
        key: each.model_copy(update={"role": Role.OTHER}) if each.role is role else each
        for key, each in VARIABLES.items()
    }
    for stage in ("masked", "original"):
        unknown = of.passes.find(of.promise.frame, variables, stage, "people")[-1]
        assert (unknown.verdict, unknown.attempted, unknown.completed) == (Verdict.UNKNOWN, len(of.promise.frame), 0)
        golden(unknown)
    golden(of.passes.needs)


@each_rule
def test_the_example_in_the_documentation_judges(name: str) -> None:
    findings = judged(name).find(documented(name))
    assert {finding.rule for finding in findings} == {name}
    assert [finding.says for finding in findings if finding.verdict is Verdict.UNKNOWN] == []


@each_rule
def test_neither_the_order_of_the_records_nor_the_index_matters(name: str) -> None:
    of = judged(name)
    frame, n = of.promise.frame, len(of.promise.frame)
    for rule in (of.passes, of.fails):
        expected = of.find(rule)
        for moved in (frame.iloc[::-1], frame.set_axis(range(n, 0, -1)), frame.set_axis([7] * n)):
            assert of.find(rule, moved) == expected


@pytest.mark.parametrize("name", [name for name in PROMISES if name not in ("delta_presence", "k_map")])
def test_several_records_of_one_person_are_one(name: str) -> None:
    """Else three stays of one patient were a crowd of three."""
    of = judged(name)
    n = len(of.promise.frame)
    stays = pd.concat([of.promise.frame] * 3).assign(patient=[*map(str, range(n))] * 3)
    person = {"patient": Variable(name="patient", kind=Kind.TEXT, role=Role.PERSON)}
    assert of.broken(stays, {**of.promise.variables, **person}).observed == pytest.approx(of.promise.observed)


@pytest.mark.parametrize("name", [name for name in PROMISES if name != "km_anonymity"])
def test_a_missing_key_is_a_category_of_its_own(name: str) -> None:
    of = judged(name)
    first = np.arange(len(of.promise.frame)) == 0
    missing, other = (of.promise.frame.assign(age=of.promise.frame["age"].mask(first, age)) for age in (pd.NA, 99))
    for rule in (of.passes, of.fails):
        here, there = of.find(rule, missing), of.find(rule, other)
        assert [(each.verdict, each.observed) for each in here] == [(each.verdict, each.observed) for each in there]


@each_rule
def test_a_column_that_is_not_in_the_file_is_an_error(name: str) -> None:
    of = judged(name)
    first = next(iter(of.promise.frame))
    golden.refused(DataError, of.find, of.passes, of.promise.frame.drop(columns=first))
    golden.refused(DataError, of.find, of.passes.model_copy(update={"columns": (f"{first}e",)}))


@pytest.mark.parametrize("name", [each for each in PROMISES if issubclass(rules(PolicyRule)[each], PopulationEstimate)])
def test_weights_that_cannot_be_used_are_unknown(name: str) -> None:
    of = judged(name)
    two = VARIABLES | {"other": Variable(name="other", kind=Kind.CONTINUOUS, role=WEIGHT)}
    both = of.promise.frame.assign(other=1.0)
    gap = both["weight"].mask(both.index == 1)
    for frame, variables in ((both, two), (both.assign(weight=gap), VARIABLES), (both.assign(weight="ten"), VARIABLES)):
        (unknown,) = of.find(of.passes, frame, variables)
        assert (unknown.verdict, unknown.completed) == (Verdict.UNKNOWN, 0)
        golden(unknown)
    named = of.find(of.passes.model_copy(update={"weight": "weight"}), both, two)
    assert {each.verdict for each in named} == {Verdict.PASS}


@pytest.mark.parametrize(
    ("written", "judges", "sensitive"), CELLS, ids=[f"{each[0]['rule']} {at}" for at, each in enumerate(CELLS)]
)
def test_a_rule_on_cells_judges_them_as_it_is_written_and_lets_no_file_of_records_out(
    written: dict[str, Any], judges: SensitivityRule, sensitive: list[int]
) -> None:
    rule = load(**written)
    assert isinstance(rule, SensitivityRule)
    assert (rule, rule.rule) == (judges, judges.rule)  # waivers and findings name it alike
    assert TypeAdapter(PolicyRule).validate_python(rule.model_dump(mode="json")) == rule
    assert is_sensitive(rule, sensitive)
    assert not is_sensitive(rule, [30] * 6)
    golden(rule.describe())
    golden.refused(DataError, is_sensitive, rule, [1, -1])
    (finding,) = rule.find(CROWDS, VARIABLES, "masked", "people")
    assert (finding.verdict, finding.binding, finding.attempted, finding.completed) == (Verdict.UNKNOWN, True, 6, 0)
    golden(finding)
    assert advice_on(finding).startswith(rule.needs)
    assert is_sensitive(documented(rule.rule), sensitive)
