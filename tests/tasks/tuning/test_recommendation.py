"""What is written is the plan that was judged."""

from typing import Any

import pytest

from sluice.ground.errors import SluiceError
from tasks.tuning.confirmation import plan_yaml, recommended_yaml
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import space

PLAN: list[dict[str, Any]] = [
    {"method": "removal", "columns": ["household", "town"]},
    {"method": "rank_swapping", "columns": ["income"], "window": 1e-05},
    {"method": "top_bottom_coding", "columns": ["income"], "top": {"quantile": 0.99}},
]
WRITTEN = {
    "name": "people",
    "title": "No: people, on",
    "owner": "emil",
    "policy": "policy.yaml",
    "target": "~",
    "plan": [],
}


def written(steps: list[dict[str, Any]]) -> str:
    return recommended_yaml(WRITTEN, steps, space(PLAN).definition(), (), (), (), 0.5, ["Found."])


def test_the_text_read_again_is_the_definition() -> None:
    text = written(PLAN)
    assert "1.0e-05" in text
    assert text.startswith("# Found.")


def test_a_text_that_would_be_another_plan_is_not_written() -> None:
    other = [*PLAN[:1], PLAN[1] | {"window": 0.1}, *PLAN[2:]]
    for steps in (other, PLAN[:2]):
        with pytest.raises((SluiceError, IndexError)):
            written(steps)
    golden.refused(SluiceError, written, other)
    golden.refused(SluiceError, plan_yaml, PLAN[:2], space(PLAN).definition())
    assert plan_yaml(PLAN, space(PLAN).definition()).startswith("plan:")
