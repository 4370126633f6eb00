"""Whole units of a last decimal as text, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.publication.published_table import in_decimals, units_of
from tests.golden import golden


@given(st.none() | st.integers(), st.integers(0, 9))
def test_what_is_written_reads_back(units: int | None, decimals: int) -> None:
    assert units_of(in_decimals(units, decimals), decimals, "here") == units


@pytest.mark.parametrize(
    ("units", "decimals", "text"), [(1234, 2, "12.34"), (-5, 2, "-0.05"), (0, 1, "0.0"), (7, 0, "7"), (None, 3, "")]
)
def test_each_number_has_all_its_decimals(units: int | None, decimals: int, text: str) -> None:
    assert in_decimals(units, decimals) == text


@pytest.mark.parametrize("text", ["1.5", "1", "1.50 ", "1,50", "+1.50", "1e2", "١.50", "-"])
def test_another_form_is_refused(text: str) -> None:
    with golden.raises(DataError):
        units_of(text, 2, "line 3")
