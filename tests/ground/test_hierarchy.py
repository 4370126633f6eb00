"""sluice.ground.hierarchy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.ground.hierarchy import Hierarchy
from tests.golden import golden

ZIP = Hierarchy(rows={"4217": ("42xx", "*"), "1742": ("1000-1999", "*"), "1691": ("1000-1999", "*")})


def test_numbers_and_truth_values_are_written_as_categories_are() -> None:
    rows = {3: (0.0,), 3.5: (True,), False: (1,)}
    assert Hierarchy.model_validate({"rows": rows}).rows == {"3": ("0",), "3.5": ("true",), "false": ("1",)}


def test_above_leaves_the_wider_levels_of_the_zip_codes_of_table_2_5() -> None:
    # Desfontaines (2020), Tables 2.4 and 2.5: 1742 and 1691 both become 1000-1999
    assert [len(set(ZIP.at_level(level).values())) for level in range(ZIP.depth + 1)] == [3, 2, 1]
    assert ZIP.at_level(1)["1742"] == ZIP.at_level(1)["1691"] == "1000-1999"
    assert ZIP.above(0) == ZIP
    assert ZIP.above(1) == Hierarchy(rows={"42xx": ("*",), "1000-1999": ("*",)})
    assert ZIP.above(2) is None


@given(st.integers(1, 30), st.integers(1, 4), st.integers(2, 4), st.data())
def test_recoding_twice_is_recoding_once(leaves: int, depth: int, width: int, data: st.DataObject) -> None:
    rows = {str(leaf): tuple(str(leaf // width**level) for level in range(1, depth + 1)) for leaf in range(leaves)}
    hierarchy = Hierarchy(rows=rows)
    low = data.draw(st.integers(0, depth - 1))
    high = data.draw(st.integers(low, depth))
    rest = hierarchy.above(low)
    assert rest is not None
    once, first, second = hierarchy.at_level(high), hierarchy.at_level(low), rest.at_level(high - low)
    assert once == {leaf: second[first[leaf]] for leaf in rows}


@pytest.mark.parametrize("level", [-1, 3])
def test_a_level_outside_is_refused(level: int) -> None:
    with golden.raises(ValueError):
        ZIP.at_level(level)
    with golden.raises(ValueError):
        ZIP.above(level)


@pytest.mark.parametrize("rows", [{}, {"a": ()}, {"a": ("x",), "b": ("x", "y")}, {"a": ("x", "y"), "b": ("x", "z")}])
def test_rows_that_are_no_hierarchy_are_refused(rows: dict[str, tuple[str, ...]]) -> None:
    with golden.raises(ValidationError):
        Hierarchy(rows=rows)
