"""sluice.generalization.builders.priority."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.errors import DocumentError
from sluice.generalization.builders.priority import Priority
from sluice.variables import Kind, Variable

COUNTRIES = Variable(name="country", kind=Kind.NOMINAL, categories=("Cuba", "India", "Mexico", "Peru"))


def test_the_named_stay_and_the_others_are_one_group() -> None:
    rows = Priority(priority=(("Mexico", "India"), ("Mexico",)), others="elsewhere").build(COUNTRIES).rows
    assert rows["Mexico"] == ("Mexico", "Mexico", "*")
    assert rows["India"] == ("India", "elsewhere", "*")
    assert rows["Cuba"] == rows["Peru"] == ("elsewhere", "elsewhere", "*")


@given(st.permutations(["Cuba", "India", "Mexico", "Peru"]), st.integers(1, 4), st.data())
def test_levels_nest_whatever_stays(order: list[str], first: int, data: st.DataObject) -> None:
    second = data.draw(st.integers(1, first))
    built = Priority(priority=(tuple(order[:first]), tuple(order[:second]))).build(COUNTRIES)
    for level, kept in enumerate((first, second), start=1):
        groups = built.at_level(level)
        assert {leaf for leaf, group in groups.items() if leaf == group} == set(order[:kept])
        assert {groups[leaf] for leaf in order[kept:]} <= {"other"}


def test_all_may_stay() -> None:
    assert Priority(priority=(COUNTRIES.categories or (),)).build(COUNTRIES).rows["Peru"] == ("Peru", "*")


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({"priority": [["a"], ["b"]]}, "priority of level 2 must be among that of level 1; got 'b'"),
        ({"priority": [["a", "a"]]}, "priority of level 1 must name categories, each once"),
        ({"priority": [[]]}, "must name categories"),
    ],
)
def test_levels_that_do_not_nest_are_refused(written: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Priority.model_validate(written)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({"priority": [["Mexiko"]]}, "it has no category 'Mexiko'. Did you mean 'Mexico'"),
        ({"priority": [["Mexico"]], "others": "Peru"}, "'others' is 'Peru', which is a category itself"),
    ],
)
def test_what_does_not_fit_the_categories_is_refused(written: dict[str, object], says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        Priority.model_validate(written).build(COUNTRIES)
