"""A space that is drafted from contract and policy holds valid plans only, and treats each role as the policy asks."""

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.policy import Policy
from tasks.release.records.record_variables import variables_after
from tasks.tuning.drafted_space import draft_plan, draft_prices, removed_by
from tasks.tuning.first_drafts import drafts
from tasks.tuning.parameter_ranges import at
from tasks.tuning.plan_search import point_of
from tasks.tuning.search_context import fits
from tasks.tuning.space import SpaceOfPlans
from tests.tasks.tuning.house_of_plans import policy, records, space, uniform
from tests.tasks.tuning.test_fitting import with_hierarchy

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


def test_drafts_of_a_first_plan_are_ways_of_the_space_each_set_of_methods_once() -> None:
    known = records(300, policy(rules=[]))
    found = draft_plan(known.frame, known.variables, known.policy, OWN, drafts(known, {}))
    ways = found[0]["alternatives"]
    methods = [[step["method"] for step in way] for way in ways[1:-1]]
    assert methods
    assert any("sequential_trees" in each for each in methods)
    told = [(each, [step.get("calibrated") for step in way]) for each, way in zip(methods, ways[1:-1], strict=True)]
    assert len({repr(each) for each in told}) == len(told)
    leaves = [step["minimum_leaf"] for way in ways[1:-1] for step in way if step["method"] == "sequential_trees"]
    assert all(len(leaf["any_of"]) > 1 for leaf in leaves)
    of = space(found)
    assert of.ways == len(ways)


def test_numbers_drawn_anew_may_be_calibrated_and_categories_alone_may_not() -> None:
    known = records(300, policy(rules=[]))
    steps = drafted(policy(rules=[])).steps
    tried = [step for seed in range(40) for step in steps(uniform(seed)) if step["method"] == "sequential_trees"]
    assert {step["calibrated"] for step in tried} == {True, False}
    numbers = [name for name, v in known.variables.items() if v.kind.is_numeric]
    alone = draft_plan(
        known.frame.drop(columns=numbers), {n: v for n, v in known.variables.items() if n not in numbers}, known.policy
    )
    assert "sequential_trees" in str(alone)
    assert "calibrated" not in str(alone)


def test_no_plan_codes_a_tail_that_nobody_has_or_keeps_what_tells_the_same() -> None:
    known = records(300, policy())
    income = pd.Series([1.0] * 268 + [10.0 + i for i in range(12)] + [5000.0] * 20)  # nobody is beyond the 95th
    frame = known.frame.assign(income=income)
    steps = draft_plan(frame, known.variables, known.policy)
    tops = [each["top"]["quantile"] for each in _all_steps(steps) if each["method"] == "top_bottom_coding"]
    assert tops
    assert {share for each in tops for share in each} == {0.9}
    without = draft_plan(frame, known.variables, known.policy, OWN, repeats=["region"])
    drafted_anew = without[0]["alternatives"][-1]
    assert all("region" not in each["columns"] for each in _all_steps(drafted_anew) if each["method"] != "removal")
    assert "region" not in draft_prices(known.variables, OWN, ["region"])


def _all_steps(items: Any) -> list[dict[str, Any]]:
    if isinstance(items, dict):
        return _all_steps(items["alternatives"]) if "alternatives" in items else [items]
    return [step for each in items for step in _all_steps(each)]


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


def test_no_plan_of_a_draft_is_refused_by_contract_or_policy() -> None:
    """A hierarchy knows no blurred value; a model of the whole file is kept by no single group of look-alikes."""
    known = with_hierarchy(300)
    of = space(draft_plan(known.frame, known.variables, known.policy), may_drop=draft_prices(known.variables))
    points = [point_of(of, uniform(seed)) for seed in range(80)]
    assert all(fits(of, point, known) for point in points)
    steps = [step for point in points for step in of.steps(at(point))]
    assert any(step.get("refine") and "under" not in step for step in steps)
    assert any(step["method"] == "sequential_trees" for step in steps)


def test_what_has_more_categories_than_synthesis_takes_is_not_synthesised() -> None:
    known = records(900, policy(rules=[]))
    towns = known.variables["town"].model_copy(update={"categories": None})
    frame = known.frame.assign(town=pd.Categorical([f"town {i}" for i in range(len(known))]))
    of = space(draft_plan(frame, known.variables | {"town": towns}, known.policy))
    plans = [of.steps(uniform(seed)) for seed in range(40)]
    drawn = [plan for plan in plans if any(step["method"] == "sequential_trees" for step in plan)]
    assert drawn
    for plan in drawn:
        by = {step["method"]: step["columns"] for step in plan}
        assert "town" not in by["sequential_trees"]
        assert by["pram"] == ["town"]


def test_a_sensitive_number_that_a_rule_is_about_may_be_grouped_so_that_the_search_of_levels_knows_it() -> None:
    of_values = {"rule": "l_diversity", "l": 1.5, "variant": "entropy", "columns": ["income"]}
    rules = [{"rule": "k_anonymity", "k": 3}, of_values]
    of = drafted(policy(rules=rules))
    plans = [of.steps(uniform(seed)) for seed in range(60)]
    cut = [plan for plan in plans if any(s["method"] == "global_recoding" and s["columns"] == ["income"] for s in plan)]
    cut = [plan for plan in cut if any(step["method"] == "generalization" for step in plan)]  # not all keys dropped
    assert cut
    known = records(300, policy(rules=rules))
    for plan in cut:
        definition = space(plan).definition().under(known.policy)
        levels = next(step for step in definition.plan if step.method == "generalization")
        before = definition.plan[: definition.plan.index(levels)]
        found = levels._all_models(variables_after(before, known.variables, "a test"))
        assert any("income" in model.describe() for model in found)
    without = drafted(policy(rules=rules[:1]))
    drawn = [step for seed in range(40) for step in without.steps(uniform(seed))]
    assert not any(step["method"] == "global_recoding" and step["columns"] == ["income"] for step in drawn)
