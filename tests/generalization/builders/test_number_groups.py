"""sluice.generalization.builders.number_groups."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import Intervals
from sluice.ground.variables import Kind, Variable
from sluice.sources.hierarchy_file import read_hierarchy


def ages(minimum: int, maximum: int) -> Variable:
    return Variable(name="age", kind=Kind.INTEGER, minimum=minimum, maximum=maximum)


def test_ages_of_adult_are_grouped_as_in_arx(reference_data: Path) -> None:
    """ARX groups 1 to 5, 6 to 10, ...; its labels, '0-4' and '5-9', are off by one and not compared."""
    theirs = read_hierarchy(reference_data / "adult" / "hierarchies_arx" / "adult_hierarchy_age.csv")
    ours = Intervals(intervals=(5, 10, 20), origin=1).build(ages(1, 100))
    assert list(ours.rows) == list(theirs.rows)
    assert ours.depth == theirs.depth == 4
    for level in range(1, 5):
        pairs = set(zip(ours.at_level(level).values(), theirs.at_level(level).values(), strict=True))
        assert (
            len(pairs)
            == len({one for one, _ in pairs})
            == len({other for _, other in pairs})
            == [0, 20, 10, 5, 1][level]
        )


def test_open_ends_are_one_group_at_every_level() -> None:
    rows = Intervals(intervals=(5, 10), lowest=18, highest=80).build(ages(0, 99)).rows
    assert rows["0"] == rows["17"] == ("under 18", "under 18", "*")
    assert rows["18"] == ("18 to 19", "18 to 19", "*")
    assert rows["20"] == ("20 to 24", "20 to 29", "*")
    assert rows["80"] == rows["99"] == ("80 and over", "80 and over", "*")


def test_neither_smallest_nor_largest_value_shows() -> None:
    rows = Intervals(intervals=(10,)).build(ages(17, 83)).rows
    assert rows["17"] == ("10 to 19", "*")
    assert rows["83"] == ("80 to 89", "*")


@given(
    st.integers(-300, 300),
    st.integers(0, 200),
    st.integers(1, 12),
    st.lists(st.integers(2, 4), max_size=3),
    st.integers(-50, 50),
    st.booleans(),
)
def test_every_value_lies_in_the_interval_that_its_group_names(
    minimum: int, span: int, width: int, factors: list[int], origin: int, below: bool
) -> None:
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    lowest = minimum + 3 if below else None
    built = Intervals(intervals=tuple(widths), origin=origin, lowest=lowest).build(ages(minimum, minimum + span))
    for leaf, groups in built.rows.items():
        for wide, group in zip(widths, groups, strict=False):
            if group == "*":
                continue
            if group.startswith("under "):
                assert int(leaf) < int(group.removeprefix("under "))
                continue
            first, _, last = group.partition(" to ")
            low, high = int(first), int(last or first)
            assert low <= int(leaf) <= high
            assert (high + 1 - origin) % wide == 0  # it ends where the next begins, on the grid
            assert high + 1 - low == wide or low == lowest


def test_an_interval_that_holds_everything_needs_no_star_above_it() -> None:
    assert Intervals(intervals=(100,)).build(ages(0, 99)).rows["7"] == ("0 to 99",)
    assert Intervals(intervals=(1,)).build(ages(7, 8)).rows["7"] == ("7", "*")
