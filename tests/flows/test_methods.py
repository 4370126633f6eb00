"""Every masking method goes through the whole chain: typed, masked, judged and reported, whatever the verdict."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.masking.method_catalogue import methods
from tests.flows.house import BLOCKED, DONE, House, survey
from tests.listed import all_listed

NUMBERS = ["income", "rent", "hours"]
HOUSEHOLD = {"method": "removal", "columns": ["household"]}

PLANS: dict[str, list[dict[str, Any]]] = {
    "noise": [
        HOUSEHOLD,
        {"method": "additive_noise", "columns": NUMBERS, "amount": 0.2, "strata": ["region"]},
        {"method": "matrix_decomposition", "columns": NUMBERS, "rank": 2},
        {"method": "random_orthogonal_matrix", "columns": NUMBERS},
        {"method": "lossy_compression", "columns": NUMBERS, "quality": 80},
        {"method": "data_distortion", "columns": ["rent"]},
        {"method": "resampling", "columns": ["hours"], "samples": 5},
    ],
    "microaggregation": [
        HOUSEHOLD,
        {"method": "k_member_clustering", "columns": ["age", "sex"], "k": 3},
        {"method": "k_nearest_clustering", "columns": ["age", "sex"], "k": 3},
        {"method": "one_pass_k_means", "columns": ["age", "sex"], "k": 3},
        {"method": "bottom_up_local_recoding", "columns": ["age", "sex"], "k": 3},
        {"method": "mondrian", "columns": ["age", "sex"], "k": 3},
        {"method": "microaggregation", "columns": [*NUMBERS, "town"], "k": 3},
        {"method": "projected_microaggregation", "columns": NUMBERS, "k": 3},
        {"method": "univariate_microaggregation", "columns": NUMBERS, "k": 4},
        {"method": "recursive_histogram_sanitization", "columns": ["rent"], "k": 5, "small_cells": "whole"},
        {"method": "spectral_histogram_sanitization", "columns": NUMBERS, "k": 5},
    ],
    "swapping": [
        {
            "method": "data_swapping",
            "columns": ["town"],
            "risk_keys": ["age"],
            "k": 3,
            "swap_rate": 0.05,
            "unit": "record",
            "unmatched": "keep",
        },
        HOUSEHOLD,
        {"method": "rank_swapping", "columns": ["rent"], "window": 0.1},
        {"method": "data_shuffling", "columns": ["income", "hours"], "given": ["age"]},
        {"method": "permutation", "columns": ["sex"], "within": ["region"]},
        {"method": "pram", "columns": ["region"], "retention": 0.8, "invariant": True},
        {"method": "anatomization", "columns": ["town"], "l": 2},
    ],
    "recoding": [
        {"method": "sampling", "fraction": 0.95, "unit": "household", "weight": "weight"},
        {"method": "removal", "columns": ["household", "town"]},
        {"method": "global_recoding", "columns": ["age"], "bins": [40, 60]},
        {"method": "top_bottom_coding", "columns": ["income"], "top": {"quantile": 0.9}, "strata": ["region"]},
        {"method": "rounding", "columns": ["rent"], "base": 100},
        {"method": "random_rounding", "columns": ["hours"], "base": 5},
        {"method": "derived", "columns": ["hours"], "of": "rent", "by": "log"},
        {"method": "generalization", "columns": ["sex", "region"], "models": [{"model": "k_anonymity", "k": 5}]},
        {"method": "local_suppression", "columns": ["age", "sex", "region"], "k": 5},
    ],
    "synthetic": [
        HOUSEHOLD,
        {"method": "multiple_imputation", "columns": ["hours"], "given": ["age", "sex"]},
        {"method": "ipso", "columns": ["rent"], "given": ["income", "hours"]},
        {"method": "spectral_swapping", "columns": ["income", "sex"]},
        {"method": "sequential_trees", "columns": ["age", "sex", "region", *NUMBERS]},
    ],
}

_ALSO = ("noise", "swapping")  # methods that most definitions of the tests have, too


def test_every_method_is_among_them() -> None:
    on_sets = {"item_generalization", "item_suppression"}  # test_set_valued_release.py
    planned = {step["method"] for plan in PLANS.values() for step in plan}
    all_listed(planned | on_sets, methods(), "a plan in PLANS of tests/flows/test_methods.py")


def few_people(house: House) -> None:
    house.data = survey(400)
    house.policy["reference_standard"]["minimum_records"] = 400


def not_judged(house: House) -> None:
    """By the standard: what the plan tells of itself stands in the review all the same."""
    few_people(house)
    del house.policy["reference_standard"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.exhaustive] * (name in _ALSO)) for name in PLANS]
)
def test_a_plan_is_carried_out_and_judged(name: str, house: House) -> None:
    rng = np.random.default_rng(0)
    few_people(house)
    house.data["rent"] = np.round(rng.lognormal(6, 0.4, len(house.data)), 2)
    house.data["hours"] = rng.normal(35, 8, len(house.data)).round(1)
    house.data["weight"] = rng.uniform(1, 9, len(house.data)).round(2)
    house.contract["variables"] += [
        {"name": "rent", "kind": "continuous", "role": "other", "minimum": 0},
        {"name": "hours", "kind": "continuous", "role": "other"},
        {"name": "weight", "kind": "continuous", "role": "weight"},
    ]
    house.definition["plan"] = PLANS[name]
    house.write()
    told = house.sluice("check", str(house.file), "--json")
    assert told.code in (DONE, BLOCKED), told.err
    shown = house.sluice("review", house.id, "--json").json
    assert len(shown["plan"]) == len(PLANS[name])
    assert [each["says"] for each in shown["findings"] if each["code"] == "measure.stopped"] == []
    assert {"reference", "utility"} <= {finding["stage"] for finding in shown["findings"]}


def test_a_sample_is_published_and_its_weights_add_up(house: House) -> None:
    rng = np.random.default_rng(0)
    house.data["weight"] = rng.uniform(1, 9, len(house.data)).round(2)
    house.contract["variables"].append({"name": "weight", "kind": "continuous", "role": "weight"})
    house.definition["plan"] = [
        {"method": "sampling", "fraction": 0.9, "weight": "weight"},
        *house.definition["plan"],
        {"method": "permutation", "columns": ["weight"]},
    ]
    house.write()
    house.release_approved()
    published = pd.read_csv(house.target / house.id / "people-puf.csv")
    assert len(published) == 1080
    assert published["weight"].sum() == pytest.approx(house.data["weight"].sum(), rel=1e-9)


@pytest.mark.parametrize(
    ("strata", "recode", "told"), [("region", None, True), ("town", None, False), ("region", "region", False)]
)
def test_parameters_name_strata_only_where_their_values_are_public(
    strata: str, recode: str | None, told: bool, house: House
) -> None:
    """Towns are not declared in the contract: that one of them occurs is known from the data alone."""
    plan: list[dict[str, Any]] = [
        HOUSEHOLD,
        {"method": "pram", "columns": ["sex"], "retention": 0.6, "strata": [strata]},
    ]
    if recode:
        plan.append({"method": "removal", "columns": [recode]})
    not_judged(house)
    house.definition["plan"] = plan
    house.write()
    house.sluice("check", str(house.file))
    parameters = house.sluice("review", house.id, "--json").json["parameters"]
    assert bool(parameters) is told
    if told:
        matrix = parameters[0]["by_stratum"][0]
        assert matrix["stratum"] == {"region": "north"}
        assert matrix["matrix"]["sex"]["f"]["f"] == 0.6
    assert "Aldby" not in str(parameters)


def test_a_matrix_names_no_category_that_only_the_data_tell(house: House) -> None:
    not_judged(house)
    house.definition["plan"] = [HOUSEHOLD, {"method": "pram", "columns": ["sex", "town"], "retention": 0.6}]
    house.write()
    house.sluice("check", str(house.file))
    (told,) = house.sluice("review", house.id, "--json").json["parameters"]
    assert list(told["matrix"]) == ["sex"]
