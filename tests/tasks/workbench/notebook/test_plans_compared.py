"""Masked frames side by side in a notebook."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import policy

POLICY = policy(rules=[{"rule": "k_anonymity", "k": 2}], utility={"pair_marginals": {"at_most": 0.9}})
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["income"]}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 400), "sex": rng.choice(["f", "m"], 400)})
    return frame.assign(income=(20_000 + 300 * frame["age"] + rng.normal(0, 4_000, 400)).round())


@pytest.fixture(scope="module")
def found(people: pd.DataFrame) -> Any:
    plan = [
        {"method": "global_recoding", "columns": ["age"], "bins": [50]},
        {"method": "rank_swapping", "columns": ["income"], "window": 0.4},
    ]
    groups = sluice.mask(people, plan, **ROLES, seed=1)
    return sluice.compare(people, {"groups": groups, "as it is": people}, policy=POLICY, **ROLES, seed=1)


@pytest.fixture(scope="module")
def alone(people: pd.DataFrame) -> Any:
    return sluice.assess(people, people, policy=POLICY, **ROLES, seed=1)


def test_those_that_pass_are_told_from_those_that_do_not(found: Any) -> None:
    assert (found.plans, found.passing) == (2, 1)
    assert {name: each.verdict for name, each in found.assessments.items()} == {
        "groups": Verdict.PASS, "as it is": Verdict.FAIL,
    }  # fmt: skip
    table = found.table.set_index("plan")
    assert table.loc["groups", "stopped by"] == ""
    assert "k_anonymity" in table.loc["as it is", "stopped by"]
    assert table.loc["groups", "loss"] > table.loc["as it is", "loss"] == 0
    assert table.loc["groups", "variables"] == "3 of 3"
    assert any(column.startswith("models: ") for column in table.columns), "the analyses that were drafted"


def test_each_is_judged_as_by_itself(found: Any, alone: Any) -> None:
    assert found.assessments["as it is"].findings == alone.findings


def test_what_was_assessed_is_not_judged_again_and_stands_where_it_stood(
    found: Any, alone: Any, people: pd.DataFrame
) -> None:
    known = {"groups": found.assessments["groups"], "as it is": alone}
    again = sluice.compare(people, known, policy=POLICY)
    assert again.assessments == known
    pd.testing.assert_frame_equal(again.table, found.table)


def test_what_was_judged_by_another_policy_or_of_other_records_is_refused(alone: Any, people: pd.DataFrame) -> None:
    for records, by in ((people, None), (people.iloc[1:], POLICY)):
        golden.refused(DataError, sluice.compare, records, {"as it is": alone}, policy=by)


def test_the_map_has_a_point_for_each_and_the_page_all_of_it(found: Any) -> None:
    ax = found.plot()
    assert {text.get_text() for text in ax.texts} == {"groups", "as it is"}
    assert found.report().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(("masked", "error"), [({}, DataError), ([1], TypeError)])
def test_what_is_no_mapping_of_frames_is_refused(people: pd.DataFrame, masked: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        sluice.compare(people, masked, **ROLES)


def test_new_records_belong_to_nobody_and_nobody_is_asked_about_their_order(people: pd.DataFrame) -> None:
    """Sluice knows the order of what it masked. Rows from elsewhere that resemble none need a decision."""
    shuffled = sluice.mask(people, [{"method": "sequential_trees", "columns": [*people], "minimum_leaf": 200}], **ROLES)
    own = sluice.assess(people, shuffled, policy=POLICY, seed=1)
    foreign = sluice.assess(people, shuffled.frame, policy=POLICY, **ROLES, paired=True, seed=1)
    asked = [{each.rule for each in found.findings} & {"pairs", "row_order"} for found in (own, foreign)]
    assert asked == [set(), {"pairs", "row_order"}]
