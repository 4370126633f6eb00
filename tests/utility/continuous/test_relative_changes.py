import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.continuous.relative_changes import relative_changes

numbers = st.floats(-1e6, 1e6)


def test_by_hand() -> None:
    """Torra (2013), "Information Loss Measures: Continuous Data": |x - x'| / |x|."""
    assert relative_changes(np.array([2.0, -4.0, 5.0]), np.array([1.0, -6.0, 5.0])).tolist() == [0.5, 0.5, 0]


def test_a_zero_that_changed_and_a_figure_that_is_gone_are_a_change_of_the_whole() -> None:
    """A tool that left zeros out reported 0 when every changed original was one."""
    changes = relative_changes(np.array([0.0, 0.0, 3.0, np.nan]), np.array([0.0, 7.0, np.nan, 1.0]))
    assert changes[:3].tolist() == [0, 1, 1]
    assert np.isnan(changes[3])


def test_what_is_negligible_counts_as_0() -> None:
    """An eigenvalue of 1e-17 made a loss of 1e16 in a published tool."""
    assert relative_changes(np.array([1e-17, 1e-17]), np.array([0.3, -2e-17]), 1e-12).tolist() == [1, 0]


@given(numbers, numbers, st.floats(0.1, 1e3))
def test_the_unit_does_not_matter(before: float, after: float, unit: float) -> None:
    one = relative_changes(np.array([before]), np.array([after]), 1e-9)
    other = relative_changes(np.array([before * unit]), np.array([after * unit]), 1e-9 * unit)
    assert one[0] == pytest.approx(other[0], rel=1e-6, abs=1e-9) or abs(before) == pytest.approx(1e-9, rel=1e-6)
