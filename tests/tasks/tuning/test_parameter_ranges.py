"""What stands in place of a value is told from a value by what the field takes."""

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.masking.method_catalogue import methods
from tasks.tuning.parameter_ranges import Between, Choice, first, is_scale, step_with
from tests.golden import golden


def places_of(step: dict[str, Any]) -> dict[str, Any]:
    """Every range of a step, by its place in a plan of this step alone."""
    found: dict[str, Any] = {}

    def note(place: str, of: Any) -> Any:
        found[place] = of
        return of.first

    step_with(step, note, "plan.0")
    return found


@pytest.mark.parametrize(
    ("step", "ranges"),
    [
        ({"method": "local_suppression", "columns": ["a"], "k": [3, 5]}, {"plan.0.k": Choice(any_of=(3, 5))}),
        (
            {"method": "rank_swapping", "columns": ["a"], "window": {"from": 0.1, "to": 0.5}},
            {"plan.0.window": Between.model_validate({"from": 0.1, "to": 0.5})},
        ),
        (
            {"method": "local_suppression", "columns": ["a"], "k": {"from": 3, "to": 9}},
            {"plan.0.k": Between.model_validate({"from": 3, "to": 9, "whole": True})},
        ),
        ({"method": "global_recoding", "columns": ["a"], "bins": [25, 35]}, {}),
        (
            {"method": "global_recoding", "columns": ["a"], "bins": {"any_of": [[25], [35]]}},
            {"plan.0.bins": Choice(any_of=([25], [35]))},
        ),
        (
            {
                "method": "generalization", "columns": ["a", "b"], "under": "policy",
                "levels": {"a": {"from": 0, "to": 2}, "b": [0, 1]},
            },
            {"plan.0.levels.b": Choice(any_of=(0, 1))},
        ),
        (
            {"method": "top_bottom_coding", "columns": ["a"], "top": {"quantile": [0.9, 0.99]}},
            {"plan.0.top.quantile": Choice(any_of=(0.9, 0.99))},
        ),
        ({"method": "pram", "columns": [["a"], ["a", "b"]], "retention": 0.5}, {
            "plan.0.columns": Choice(any_of=(["a"], ["a", "b"]))
        }),
    ],
)  # fmt: skip
def test_a_range_is_what_the_field_does_not_take(step: dict[str, Any], ranges: dict[str, Any]) -> None:
    assert places_of(step) == ranges


@pytest.mark.parametrize("model", methods().values(), ids=list(methods()))
def test_the_examples_of_the_catalogue_hold_no_range(model: Any) -> None:
    import yaml

    assert places_of(yaml.safe_load(model.example)) == {}


def test_any_leaves_the_field_out() -> None:
    step = {"method": "generalization", "columns": ["a"], "under": "policy", "levels": "any"}
    assert step_with(step, first, "plan.0") == {"method": "generalization", "columns": ["a"], "under": "policy"}


@given(st.floats(0.001, 100), st.floats(1, 1000), st.booleans(), st.floats(0, 1))
def test_a_share_of_a_range_lies_in_it_and_comes_back(low: float, factor: float, log: bool, share: float) -> None:
    between = Between.model_validate({"from": low, "to": low * factor, "log": log})
    value = between.at(share)
    assert between.low <= value <= between.high
    assert between.share(between.low) == pytest.approx(0)
    assert factor == 1 or between.share(between.high) == pytest.approx(1)


def test_numbers_in_an_order_are_a_scale_and_alternatives_are_none() -> None:
    assert is_scale("plan.0.k", Choice(any_of=(3, 5, 10)))
    assert not is_scale("plan.0.k", Choice(any_of=(5, 3, 10)))
    assert not is_scale("plan.0.alternative", Choice(any_of=(0, 1, 2)))
    assert not is_scale("plan.0.taken", Choice(any_of=(True, False)))


@pytest.mark.parametrize(
    "content", [{"from": 2, "to": 1}, {"from": 0, "to": 1, "log": True}, {"from": 0.5, "to": 1, "whole": True}]
)
def test_a_range_that_cannot_be_is_refused(content: dict[str, Any]) -> None:
    golden.refused(ValidationError, Between.model_validate, content)


def test_what_tells_a_range_of_a_field_is_made_once() -> None:
    """A search asks some thousand times, and each is half a millisecond."""
    step = {"method": "rank_swapping", "columns": ["a"], "window": [0.1, 0.2]}
    step_with(step, first, "plan.0")
    with patch("tasks.tuning.parameter_ranges.TypeAdapter", side_effect=AssertionError("made again")):
        assert step_with(step, first, "plan.0")["window"] == 0.1
