import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sluice.ground.errors import DataError
from sluice.utility.continuous.mean_variations import il1s, mean_variations, relative_changes
from tests.golden import golden

numbers = st.floats(-1e6, 1e6)


def plainly(original: np.ndarray, masked: np.ndarray) -> list[float]:
    """IL1 to IL5 written with numpy alone, for files without zeros and missing values."""
    pairs = np.triu_indices(original.shape[1], 1)

    def relative(one: np.ndarray, other: np.ndarray) -> float:
        return float(np.mean(np.abs(one - other) / np.abs(one)))

    return [
        relative(original, masked),
        relative(original.mean(axis=0), masked.mean(axis=0)),
        relative(original.var(axis=0), masked.var(axis=0)),
        relative(np.cov(original.T)[pairs], np.cov(masked.T)[pairs]),
        float(np.mean(np.abs(np.corrcoef(original.T)[pairs] - np.corrcoef(masked.T)[pairs]))),
    ]


@given(st.integers(3, 40), st.integers(2, 5), st.integers(0, 9))
def test_the_five_are_those_written_plainly_in_any_order_of_the_records(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, masked = (np.exp(rng.normal(size=(n, d))) for _ in range(2))
    order = rng.permutation(n)
    found = mean_variations(original[order], masked[order])
    assert list(found) == pytest.approx(plainly(original, masked))
    assert found.loss == pytest.approx(np.mean(plainly(original, masked)))
    assert list(mean_variations(original, original)) == [0] * 5


def test_changed_zeros_and_suppressed_values_are_changes_of_the_whole() -> None:
    original = np.array([[0.0, 1.0], [0.0, 2.0], [4.0, 5.0]])
    masked = np.array([[3.0, 1.0], [0.0, np.nan], [4.0, 5.0]])
    assert mean_variations(original, masked).values == pytest.approx(2 / 6)


def test_a_removed_variable_takes_its_statistics_along() -> None:
    original = np.random.default_rng(0).normal(loc=5, size=(50, 2))
    masked = original.copy()
    masked[:, 1] = np.nan
    found = mean_variations(original, masked)
    assert list(found)[:4] == [0.5, 0.5, 0.5, 1]
    assert found.correlations == pytest.approx(abs(np.corrcoef(original.T)[0, 1]))


def test_extremes() -> None:
    constant = np.ones((4, 2))
    found = mean_variations(constant, constant)
    assert list(found)[:4] == [0, 0, 0, 0]
    assert np.isnan(found.correlations)
    assert np.isnan(mean_variations(constant[:, :1], constant[:, :1]).loss)  # one column has no covariances
    assert mean_variations(constant, constant * 2).values == 1


def test_refusals() -> None:
    golden.refused(DataError, mean_variations, np.ones((3, 2)), np.ones((4, 2)))
    assert np.isnan(mean_variations(np.ones((3, 2)), np.ones((4, 2)), paired_records=False).values)


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


columns = arrays(np.float64, st.tuples(st.integers(2, 10), st.integers(1, 3)), elements=st.integers(-9, 9).map(float))


def test_il1s_by_hand() -> None:
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


def test_il1s_extremes() -> None:
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
