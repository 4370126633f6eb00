import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sluice.utility.continuous.mean_variations import il1s

columns = arrays(np.float64, st.tuples(st.integers(2, 10), st.integers(1, 3)), elements=st.integers(-9, 9).map(float))


def test_by_hand() -> None:
    """Yancey et al. 2002: S = 2 for the column -2, 0, 2; the changes 1, 0, 3 average 4/3; over 2 sqrt(2)."""
    original, masked = np.array([[-2.0], [0.0], [2.0]]), np.array([[-1.0], [0.0], [-1.0]])
    assert il1s(original, masked) == pytest.approx(4 / 3 / (2 * np.sqrt(2)))


def test_the_expected_loss_of_an_independent_normal_redraw() -> None:
    """|x - x'| of two independent N(0, 1) has mean 2 / sqrt(pi), so IL1s is sqrt(2 / pi) = 0.798."""
    rng = np.random.default_rng(0)
    assert il1s(rng.normal(size=(50_000, 2)), rng.normal(size=(50_000, 2))) == pytest.approx(0.798, abs=0.01)


def test_a_change_of_zeros_is_a_loss() -> None:
    """A tool that divided by the value reported 0 when the changed originals are zeros."""
    original = np.array([[0.0], [0.0], [0.0], [4.0]])
    assert il1s(original, original + 1) == pytest.approx(1 / (np.sqrt(2) * 2))


def test_extremes() -> None:
    original = np.array([[1.0, 5.0], [2.0, 5.0]])
    assert il1s(original, original) == 0
    assert il1s(original, original + np.array([[0, 1], [0, 0]])) == np.inf  # a constant column was changed
    assert il1s(original[:1], original[:1]) == 0
    assert np.isnan(il1s(original, np.full((2, 2), np.nan)))
    assert np.isnan(il1s(np.empty((0, 2)), np.empty((0, 2))))


def test_cells_missing_in_either_file_are_left_out() -> None:
    original = np.array([[0.0], [2.0], [np.nan], [4.0]])
    masked = np.array([[1.0], [np.nan], [9.0], [4.0]])
    assert il1s(original, masked) == pytest.approx(0.5 / (np.sqrt(2) * 2))
