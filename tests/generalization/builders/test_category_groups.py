"""sluice.generalization.builders.category_groups."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import schemas
from schemas.contract import load_contract
from sluice.generalization.builders.category_groups import (
    OrderedGroups,
    Parents,
    Prefixes,
    Priority,
    Redaction,
    hierarchy_of_parents,
)
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


def codes(*categories: str) -> Variable:
    return Variable(name="region", kind=Kind.NOMINAL, categories=categories)


def test_regions_of_nuts_lie_in_those_of_the_levels_above() -> None:
    # Eurostat's NUTS 2021: DE212 is in DE21 (Oberbayern), in DE2 (Bayern), in DE
    rows = Prefixes(prefixes=(4, 3, 2)).build(codes("DE212", "DE213", "DE300", "FR101")).rows
    assert rows["DE212"] == ("DE21", "DE2", "DE", "*")
    assert rows["DE300"] == ("DE30", "DE3", "DE", "*")


@given(
    st.sets(st.text("A01", min_size=1, max_size=6), min_size=1, max_size=15),
    st.sets(st.integers(1, 6), min_size=1).map(lambda lengths: tuple(sorted(lengths, reverse=True))),
)
def test_codes_share_a_group_where_they_begin_alike(found: set[str], lengths: tuple[int, ...]) -> None:
    built = Prefixes(prefixes=lengths).build(codes(*sorted(found)))
    for level, length in enumerate(lengths, start=1):
        groups = built.at_level(level)
        for one in found:
            for other in found:
                assert (groups[one] == groups[other]) is (one[:length] == other[:length])


def test_a_shorter_code_stays_whole_and_leading_zeros_stay() -> None:
    rows = Prefixes(prefixes=(3,)).build(codes("01", "0123", "0124")).rows
    assert rows == {"01": ("01", "*"), "0123": ("012", "*"), "0124": ("012", "*")}


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


def test_zip_codes_lose_a_character_at_each_level() -> None:
    # Sweeney (2002), the hierarchy of ZIP codes: 02138 becomes 0213* and 021**; leading zeros stay
    rows = Redaction(redaction="right").build(codes("02138", "02139", "02141")).rows
    assert rows["02138"] == ("0213*", "021**", "02***", "0****", "*****")
    assert rows["02139"][0] == rows["02138"][0] != rows["02141"][0]
    left = Redaction(redaction="left", levels=(2, 4), character="x").build(codes("02138", "14139")).rows
    assert left["02138"] == ("xx138", "xxxx8", "*")


def test_a_shorter_code_lies_with_those_that_begin_alike() -> None:
    rows = Redaction(redaction="right", levels=(1,)).build(codes("K20", "K201", "K21")).rows
    assert rows["K20"] == rows["K201"] == ("K20*", "*")


@given(st.sets(st.text("ab01", min_size=1, max_size=5), min_size=1, max_size=12), st.sampled_from(["right", "left"]))
def test_codes_share_a_group_where_what_is_kept_is_alike(found: set[str], end: str) -> None:
    built = Redaction.model_validate({"redaction": end}).build(codes(*sorted(found)))
    longest = max(map(len, found))
    for level in range(1, built.depth + 1):
        groups = built.at_level(level)
        for one in found:
            for other in found:
                kept = [
                    [(code if end == "right" else code[::-1])[place : place + 1] for place in range(longest - level)]
                    for code in (one, other)
                ]
                assert (groups[one] == groups[other]) is (kept[0] == kept[1])
