"""Every plan of a space is a valid release definition's, and a space that holds others is refused by its field."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DocumentError
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.parameter_ranges import first
from tasks.tuning.space import SpaceOfPlans, without
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import PLAN, space, uniform

MIXED = space(
    [
        *PLAN,
        {
            "order": "any",
            "steps": [
                {"method": "rank_swapping", "columns": ["age"], "window": [0.1, 0.2]},
                {"method": "local_suppression", "columns": ["sex"], "k": {"from": 3, "to": 9}, "optional": True},
            ],
        },
    ],
    may_drop={"region": 0.1},
)


@given(st.integers(0, 2**32))
def test_every_instance_is_a_valid_definition(seed: int) -> None:
    assert isinstance(MIXED.definition(uniform(seed)), RecordsDefinition)


def test_the_first_instance_has_the_first_values() -> None:
    plan = space().definition().plan
    assert [step.method for step in plan] == ["removal", "global_recoding", "local_suppression", "rank_swapping"]
    assert plan[3].window == 0.02  # type: ignore[union-attr]


def test_a_choice_decides_what_else_is_asked() -> None:
    asked: list[str] = []

    def last(place: str, of: Any) -> Any:
        asked.append(place)
        return of.ends[-1]

    steps = space().steps(last)
    assert [step["method"] for step in steps] == ["removal", "global_recoding"]
    assert asked == ["plan.1.bins", "plan.2.taken", "plan.3.alternative"]


@pytest.mark.parametrize(
    "change",
    [
        {"plan": [{"method": "removl", "columns": ["a"]}]},
        {"plan": [{"method": "rank_swapping", "columns": ["a"], "window": {"from": 0.1, "to": 5}}]},
        {"plan": [{"method": "local_suppression", "columns": ["a"], "k": [5, 0]}]},
        {"plan": [{"alternatives": [{"method": "removal", "columns": ["a"]}]}]},
        {"plan": [{"method": "removal", "columns": ["a"], "kk": 3}]},
        {"plan": []},
        {"search": {"trial": 3}},
        {"search": {"people": 1.5}},
        {"search": {"loss": {"marginals": 0}}},
        {"may_drop": {"age": -1}},
    ],
)
def test_a_wrong_space_is_refused_by_its_field(change: dict[str, Any]) -> None:
    content = space().model_dump(mode="json") | {"plan": PLAN} | change
    content["source"] = {"type": "csv", "path": "people.csv"}
    with golden.raises(DocumentError, ValidationError):
        parse_document(SpaceOfPlans, content, "tune.yaml")


def test_alternatives_are_tried_at_all_their_ends_when_the_document_is_read() -> None:
    plan = [{"alternatives": [[], {"method": "rank_swapping", "columns": ["a"], "window": [0.1, 2.0]}]}]
    golden.refused(ValidationError, space, [*PLAN[:1], *plan])


def test_what_is_dropped_is_removed_first_and_spoken_of_no_more() -> None:
    steps = [
        {"method": "removal", "columns": ["x"]},
        {"method": "local_suppression", "columns": ["a", "b"], "k": 3, "importance": {"a": 1}},
        {"method": "rank_swapping", "columns": ["a"], "window": 0.1},
        {"method": "sequential_trees", "columns": ["c"], "given": ["a"]},
    ]
    assert without(steps, ["a"]) == [
        {"method": "removal", "columns": ["a", "x"]},
        {"method": "local_suppression", "columns": ["b"], "k": 3},
        {"method": "sequential_trees", "columns": ["c"]},
    ]
    assert without(steps, []) == steps


def test_a_place_names_its_step() -> None:
    of = space()
    for place, method in (("plan.1.bins", "global_recoding"), ("plan.3.0.0.window", "rank_swapping")):
        step = of.step_at(place)
        assert step is not None
        assert step.method == method
    assert of.step_at("plan.3.alternative") is None


def test_a_shipped_definition_is_a_space_of_one_plan() -> None:
    from sluice.documents.document_reading import read_yaml

    path = Path("deployments/releases/fair-survey.yaml")
    written = read_yaml(path)
    of = parse_document(SpaceOfPlans, written, str(path))
    assert of.definition(first) == parse_document(RecordsDefinition, written, str(path))


def test_editors_take_what_the_search_takes_and_refuse_what_it_refuses() -> None:
    editor = Draft202012Validator(SpaceOfPlans.model_json_schema())
    of = {
        "name": "people", "title": "People", "owner": "emil", "source": {"type": "csv", "path": "people.csv"},
        "contract": "contract.yaml", "policy": "policy.yaml", "target": "../published", "plan": PLAN,
        "may_drop": {"region": 0.1}, "search": {"trials": 10, "loss": {"measures": {"mean": 0.5}}},
    }  # fmt: skip
    assert not [error.message for error in editor.iter_errors(of)]
    assert list(editor.iter_errors(of | {"search": {"trails": 10}}))
    assert list(editor.iter_errors(of | {"plan": [{"method": "magic"}]}))
    assert list(editor.iter_errors(of | {"plan": [{"alternatives": [[]]}]}))
