"""sluice.generalization.builders.category_groups."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.category_groups import Prefixes
from sluice.ground.variables import Kind, Variable


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
