"""sluice.generalization.builders.category_groups."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.category_groups import Priority
from sluice.ground.variables import Kind, Variable

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
