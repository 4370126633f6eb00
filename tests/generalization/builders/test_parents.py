"""sluice.generalization.builders.category_groups."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.category_groups import Parents, hierarchy_of_parents
from sluice.ground.variables import Kind, Variable

REGION = Variable(name="region", kind=Kind.NOMINAL)


def test_a_classification_becomes_levels() -> None:
    # NACE Rev. 2: 01.11 is in group 01.1, in division 01, in section A; Eurostat writes each with its parent
    parents = {"01.11": "01.1", "01.1": "01", "01": "A", "02.10": "02.1", "02.1": "02", "02": "A", "A": "Total"}
    built = Parents(parents=parents).build(REGION)
    assert built.rows == {"01.11": ("01.1", "01", "A", "Total"), "02.10": ("02.1", "02", "A", "Total")}


def test_a_branch_of_fewer_levels_repeats_its_leaf_and_several_tops_get_one() -> None:
    rows = hierarchy_of_parents("x", {"a": "b", "b": "c", "d": "c", "e": "f"}).rows
    assert rows == {"a": ("b", "c", "*"), "d": ("d", "c", "*"), "e": ("e", "f", "*")}


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=30))
def test_a_leaf_lies_in_a_group_where_climbing_meets_it(draws: list[int]) -> None:
    parents = {f"n{code}": f"n{draw % code}" for code, draw in enumerate(draws, start=1)}  # n0 is the top
    built = hierarchy_of_parents("x", parents)
    assert set(built.rows) == set(parents) - set(parents.values())
    for leaf, groups in built.rows.items():
        climbed, code = [], leaf
        while code in parents:
            code = parents[code]
            climbed.append(code)
        assert [group for group in groups if group != leaf] == climbed
        assert groups[-1] == "n0"
