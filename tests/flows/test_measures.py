"""Every rule and every attack goes through the whole chain: judged, told and reported, whatever the verdict."""

from typing import Any

import numpy as np
import pytest

from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from sluice.tabular.rules.sensitivity import SensitivityRule
from tests.flows.house import BLOCKED, DONE, House
from tests.golden import golden
from tests.listed import all_listed
from tests.report.pages import Page

RULES: list[dict[str, Any]] = [
    {"rule": "k_anonymity", "k": 3},
    {"rule": "l_diversity", "l": 2, "columns": ["income"]},
    {"rule": "t_closeness", "t": 0.5},
    {"rule": "sample_uniques_share", "at_most": 0},
    {"rule": "k_map", "k": 2, "population": "population.csv", "columns": ["sex", "region"]},
    {"rule": "reidentification_risk", "model": "prosecutor", "highest_at_most": 0.5},
    {"rule": "attribute_risk", "at_most": 0.2},
    {"rule": "population_uniques", "at_most": 0.1},
    {"rule": "loglinear_risk", "guesses_at_most": 0.1},
    {"rule": "individual_risk", "highest_at_most": 0.5},
    {"rule": "household_risk", "highest_at_most": 0.9},
    {"rule": "suda", "sampling_fraction": 0.01, "above": 0.1},
    {"rule": "attribute_combinations"},
    {"rule": "delta_presence", "at_most": 0.9},
    {"rule": "beta_likeness", "beta": 5},
    {"rule": "delta_disclosure", "delta": 3, "columns": ["income"]},
    {"rule": "alpha_k", "alpha": 0.9, "k": 2, "columns": ["income"]},
]
ATTACKS: list[dict[str, Any]] = [
    {"rule": "distance_linkage", "excess": 0.1},
    {"rule": "probabilistic_linkage", "excess": 0.1},
    {"rule": "rank_swapping_linkage", "window": 0.2, "excess": 0.1},
    {"rule": "microaggregation_linkage", "excess": 0.1},
    {"rule": "interval_disclosure", "limit": 0.9},
    {"rule": "linkage_score", "limit": 0.9},
    {"rule": "data_invasion", "excess": 0.2},
    {"rule": "maximum_knowledge", "limit": 0.5},
    {"rule": "attribute_divergence", "limit": 0.001},
    {"rule": "attribute_inference", "excess": 0.2},
    {"rule": "singling_out", "limit": 0.2, "attacks": 200},
    {"rule": "linkability", "limit": 0.2, "attacks": 200},
    {"rule": "inference", "limit": 0.2, "attacks": 200},
    {"rule": "membership", "limit": 0.2},
    {"rule": "rare_combinations", "limit": 0.2},
    {"rule": "participant_inference", "limit": 0.2, "attacks": 200},
    {"rule": "subset_inference", "limit": 0.2, "attacks": 200},
]


def test_every_rule_and_attack_is_among_them() -> None:
    on_microdata = {name for name, model in rules(PolicyRule).items() if not issubclass(model, SensitivityRule)}
    on_sets = {"km_anonymity"}  # test_set_valued_release.py
    all_listed({each["rule"] for each in RULES} | on_sets, on_microdata, "RULES of tests/flows/test_measures.py")
    all_listed([each["rule"] for each in ATTACKS], rules(AttackPolicyRule), "ATTACKS of tests/flows/test_measures.py")


def test_each_is_judged_and_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(house.documents)  # below which a policy's population list lies
    house.data["weight"] = np.random.default_rng(0).integers(20, 90, len(house.data))
    house.data["note"] = np.where(np.arange(len(house.data)) % 2, "=1+1", "none")
    house.contract["variables"] += [
        {"name": "weight", "kind": "integer", "role": "weight"},
        {"name": "note", "kind": "nominal", "role": "other"},
    ]
    house.definition["plan"] = [step for step in house.definition["plan"] if step["method"] != "removal"]
    house.definition["plan"] += [{"method": "removal", "columns": ["town"]}]
    population = house.documents / "population.csv"
    population.write_text(
        "sex,region,count\nf,north,9000\nf,south,9000\nm,north,9000\nm,south,9000\n", encoding="utf-8"
    )
    house.policy["rules"] = [rule | ({"population": str(population)} if "population" in rule else {}) for rule in RULES]
    house.policy["attacks"] = ATTACKS
    house.policy["reference_standard"] |= {"reference": "holdout", "holdout_share": 0.3, "minimum_records": 100}
    house.write()
    told = house.sluice("check", str(house.file), "--json")
    assert told.code in (DONE, BLOCKED), told.err
    findings = house.sluice("review", house.id, "--json").json["findings"]
    assert [finding["says"] for finding in findings if finding["code"] == "measure.stopped"] == []
    masked = {finding["rule"] for finding in findings if finding["stage"] == "masked"}
    assert {rule["rule"] for rule in RULES} <= masked
    attacked = [finding for finding in findings if finding["stage"] == "attack"]
    assert {attack["rule"] for attack in ATTACKS} <= {finding["rule"] for finding in attacked}
    measured = {finding["rule"] for finding in attacked if finding["completed"]}
    assert measured >= {"distance_linkage", "inference", "membership", "data_invasion"}
    (formulas,) = [finding for finding in findings if finding["rule"] == "formula_cells"]
    assert (formulas["scope"], formulas["stage"], formulas["binding"]) == ("note", "masked", False)
    page = (house.home / "reports" / f"{house.id}.html").read_text(encoding="utf-8")
    golden([each for each in Page(page).texts("h3") if "attack" in each])
