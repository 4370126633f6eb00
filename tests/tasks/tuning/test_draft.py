"""A space that is drafted from contract and policy holds valid plans only, and treats each role as the policy asks."""

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.policy import Policy
from tasks.tuning.draft import draft_plan, draft_prices, removed_by
from tasks.tuning.search import at, point_of
from tasks.tuning.space import SpaceOfPlans
from tests.tasks.tuning.house_of_plans import policy, records, space, uniform

OWN = [
    {"method": "removal", "columns": ["household", "town", "age"]},
    {"method": "local_suppression", "columns": ["sex", "region"], "k": 5},
]


def drafted(of: Policy, own: list[dict[str, Any]] | None = None) -> SpaceOfPlans:
    known = records(300, of)
    prices = draft_prices(known.variables, own or ())
    return space(
        draft_plan(known.frame, known.variables, known.policy, own or ()), may_drop=prices,
        dropped_at_first=[name for name in removed_by(own or ()) if name in prices],
    )  # fmt: skip


def methods(of: SpaceOfPlans) -> set[str]:
    return {str(step["method"]) for seed in range(40) for step in of.steps(uniform(seed))}


@pytest.fixture(scope="module")
def grouped() -> SpaceOfPlans:
    return drafted(policy(), OWN)


@given(st.integers(0, 2**32))
def test_every_plan_of_a_draft_is_a_valid_definition(grouped: SpaceOfPlans, seed: int) -> None:
    point = point_of(grouped, uniform(seed))
    if grouped.steps(at(point)):
        grouped.definition(at(point))


def test_the_plan_of_the_definition_comes_first_and_those_near_it_keep_what_it_removes(grouped: SpaceOfPlans) -> None:
    assert sorted(grouped.steps()[0]["columns"]) == ["age", "household", "town"]
    assert grouped.steps()[1:] == OWN[1:]
    with_age = grouped.steps(lambda place, of: False if place == "may_drop.age" else of.first)
    assert sorted(with_age[0]["columns"]) == ["household", "town"]
    assert (with_age[1]["method"], with_age[2]["columns"]) == ("global_recoding", ["sex", "region", "age"])


def test_under_a_policy_on_groups_the_search_of_levels_supplies_recodings() -> None:
    of = drafted(policy())
    found = methods(of)
    assert {"generalization", "removal", "global_recoding", "sequential_trees"} <= found
    assert "spectral_swapping" not in found
    assert set(of.may_drop) == {"age", "sex", "region"}


def test_under_a_policy_on_attackers_alone_all_variables_are_perturbed() -> None:
    found = methods(drafted(policy(rules=[])))
    assert {"spectral_swapping", "microaggregation", "rank_swapping", "sequential_trees"} <= found
    assert "generalization" not in found


def test_names_and_texts_are_left_out() -> None:
    of = drafted(policy())
    for seed in range(10):
        steps = of.steps(uniform(seed))
        assert steps[0]["method"] == "removal"
        assert "household" in steps[0]["columns"]


def test_a_draft_says_of_the_records_no_more_than_round_cuts() -> None:
    known = records(300)
    few = known.frame.assign(income=pd.Series([float(f"{1234567 + i}.25") for i in range(300)]))
    text = str(draft_plan(few, known.variables, known.policy))
    assert "12345" not in text
