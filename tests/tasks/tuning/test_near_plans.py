"""Plans near to a plan: other values that its methods take, and one variable more."""

from typing import Any

import pytest

from tasks.tuning.near_plans import opened, values_near, with_variable
from tests.tasks.tuning.house_of_plans import records


@pytest.mark.parametrize(
    ("step", "field", "values"),
    [
        ({"method": "local_suppression", "columns": ["a"], "k": 5}, "k", [5, 2, 4, 7, 10, 20]),
        (
            {"method": "rank_swapping", "columns": ["a"], "window": 0.4}, "window",
            [0.4, 0.1, 0.2, 0.28, 0.56, 0.8, 1.0],
        ),
        (
            {"method": "global_recoding", "columns": ["a"], "bins": [20, 30]}, "bins",
            [[20, 30], [30], [20], [20, 25, 30]],
        ),
        (
            {"method": "global_recoding", "columns": ["a"], "bins": list(range(0, 80, 10))}, "bins",
            [list(range(0, 80, 10)), [10, 30, 50, 70], [20, 60], [40]],
        ),
    ],
)  # fmt: skip
def test_a_step_is_opened_around_its_values(step: dict[str, Any], field: str, values: list[Any]) -> None:
    assert opened(step)[field] == {"any_of": values}
    assert [value for name, _, value in values_near(step) if name == field] == values[1:]


def test_cut_points_with_names_of_their_own_stay() -> None:
    step = {"method": "global_recoding", "columns": ["a"], "bins": [20, 30], "labels": ["low", "middle", "high"]}
    assert opened(step) == step


def test_a_variable_comes_back_coarser_and_into_the_steps_on_keys() -> None:
    known = records(300)
    plan = [
        {"method": "removal", "columns": ["household", "age"]},
        {"method": "local_suppression", "columns": ["sex", "region"], "k": 5},
    ]
    found = with_variable(plan, "age", known.variables, known.frame)
    assert found is not None
    assert found[0] == {"method": "removal", "columns": ["household"]}
    assert found[1]["method"] == "global_recoding"
    assert found[2]["columns"] == ["sex", "region", "age"]
    assert with_variable(plan, "sex", known.variables, known.frame) is None
