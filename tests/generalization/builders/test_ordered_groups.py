"""sluice.generalization.builders.category_groups."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import schemas
from schemas.contract import load_contract
from sluice.generalization.builders.category_groups import OrderedGroups
from sluice.ground.variables import Kind, Variable
from sluice.sources.hierarchy_file import read_hierarchy

CONTRACTS = Path(schemas.__path__[0])


def ordinal(count: int) -> Variable:
    return Variable(name="x", kind=Kind.ORDINAL, categories=tuple(f"c{place:03d}" for place in range(count)))


def test_education_of_adult_is_grouped_as_in_arx(reference_data: Path) -> None:
    """The widest groups of ARX's hierarchy: 3 categories of primary, 6 of secondary and 7 of higher education."""
    education = load_contract(CONTRACTS / "adult.yaml").by_name["education"]
    arx = read_hierarchy(reference_data / "adult" / "hierarchies_arx" / "adult_hierarchy_education.csv")
    names = ("Primary education", "Secondary education", "Higher education")
    built = OrderedGroups(groups=((3, 6, 7),), names=(names,)).build(education)
    assert built.at_level(1) == arx.at_level(2)


def test_names_tell_the_first_and_the_last_of_a_group() -> None:
    rows = OrderedGroups(groups=(2, 2)).build(ordinal(5)).rows
    assert rows["c001"] == ("c000 to c001", "c000 to c003", "*")
    assert rows["c004"] == ("c004", "c004", "*")


@given(st.integers(1, 60), st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_groups_are_the_runs_that_counting_makes(count: int, sizes: list[int]) -> None:
    variable = ordinal(count)
    built = OrderedGroups(groups=tuple(sizes)).build(variable)
    together = 1
    for level, size in enumerate(sizes, start=1):
        together *= size
        groups = built.at_level(level)
        runs = [place // together for place in range(count)]
        found = [groups[leaf] for leaf in variable.categories or ()]
        assert [found.index(group) for group in found] == [runs.index(run) for run in runs]
