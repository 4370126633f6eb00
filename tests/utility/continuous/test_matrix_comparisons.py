import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.utility.continuous.matrix_comparisons import MatrixComparisons, MatrixDivergence, matrix_comparisons
from tests.golden import golden

ORIGINAL = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 4.0], [6.0, 5.0]])
MASKED = np.array([[1.0, 3.0], [2.0, 1.0], [4.0, 4.0], [6.0, 7.0]])


def figures(divergence: MatrixDivergence) -> list[float | None]:
    return [divergence.mean_square_error, divergence.mean_absolute_error, divergence.mean_variation]


def losses(found: MatrixComparisons) -> list[float | None]:
    return [figure for name in type(found).model_fields for figure in figures(getattr(found, name))]


def test_values_by_hand() -> None:
    """Torra (2013): squares 0 1 0 1 1 0 0 4, over 8 cells. The zero that became 1 is a change of 1."""
    found = matrix_comparisons(ORIGINAL, MASKED).values
    assert figures(found) == pytest.approx([7 / 8, 5 / 8, (0.5 + 1 + 1 / 3 + 2 / 5) / 8])
    assert found.cells == 8


def test_covariances_and_correlations_are_those_of_numpy() -> None:
    found = matrix_comparisons(ORIGINAL, MASKED)
    half = np.triu_indices(2)
    v, w = np.cov(ORIGINAL.T)[half], np.cov(MASKED.T)[half]
    expected = [np.mean((v - w) ** 2), np.mean(np.abs(v - w)), np.mean(np.abs(v - w) / np.abs(v))]
    assert figures(found.covariances) == pytest.approx(expected)
    r, s = np.corrcoef(ORIGINAL.T)[0, 1], np.corrcoef(MASKED.T)[0, 1]
    assert figures(found.correlations) == pytest.approx([(r - s) ** 2, abs(r - s), abs(r - s) / r])
    assert found.correlations.cells == 1


def test_components_of_two_variables_by_hand() -> None:
    """Eigenvalues 1 + r and 1 - r, axes at 45 degrees: loadings are the roots of (1 +- r) / 2."""
    r, s = np.corrcoef(ORIGINAL.T)[0, 1], np.corrcoef(MASKED.T)[0, 1]
    found = matrix_comparisons(ORIGINAL, MASKED)
    off = [abs(np.sqrt((1 + sign * s) / 2) - np.sqrt((1 + sign * r) / 2)) for sign in (1, -1)]
    weighted = [(1 + r) * 2 * off[0] ** 2 + (1 - r) * 2 * off[1] ** 2, (1 + r) * 2 * off[0] + (1 - r) * 2 * off[1]]
    assert figures(found.loadings)[:2] == pytest.approx([each / 4 for each in weighted])
    assert found.communalities.mean_absolute_error == pytest.approx(abs(r - s) / 2)
    assert found.coefficients.mean_absolute_error == pytest.approx(0, abs=1e-9)


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 9), st.integers(1, 50))
def test_an_unchanged_file_loses_nothing_and_deviations_have_no_unit(n: int, d: int, seed: int, unit: int) -> None:
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(n, d)).round(1)
    assume((np.ptp(original, axis=0) > 0).all())  # a constant has no deviation, and is compared as it is
    masked = original + rng.normal(size=(n, d)).round(1)
    order = rng.permutation(n)
    same = matrix_comparisons(original, original[order], paired_records=False)
    assert all(loss is None or loss == pytest.approx(0, abs=1e-9) for loss in losses(same))
    if n <= d:
        return  # components without variance have no direction of their own
    one = matrix_comparisons(original, masked, in_deviations=True)
    other = matrix_comparisons(original * unit, masked * unit, in_deviations=True)
    assert losses(one) == [None if loss is None else pytest.approx(loss, rel=1e-6, abs=1e-9) for loss in losses(other)]


def test_a_removed_variable_is_lost() -> None:
    rng = np.random.default_rng(0)
    original = rng.normal(size=(200, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
    masked = original.copy()
    masked[:, 2] = np.nan
    found = matrix_comparisons(original, masked)
    assert figures(found.values) == pytest.approx([0, 0, 1 / 3])
    assert found.values.cells == 400
    assert found.correlations.mean_variation == pytest.approx(2 / 3)
    assert found.correlations.mean_absolute_error == pytest.approx(np.abs(np.corrcoef(original.T)[[0, 1], 2]).sum() / 3)
    assert found.communalities.mean_variation > 0


def test_extremes() -> None:
    constant = np.ones((5, 2))
    found = matrix_comparisons(constant, constant + 1)
    assert figures(found.values) == [1, 1, 1]
    assert figures(found.covariances) == [0, 0, 0]
    assert figures(found.correlations) == [None] * 3
    assert figures(found.loadings) == [None] * 3
    assert losses(matrix_comparisons(np.zeros((0, 2)), np.zeros((0, 2)))) == [None] * 18
    collinear = np.column_stack([np.arange(9.0), 2 * np.arange(9.0)])
    noisy = collinear + np.random.default_rng(0).normal(size=(9, 2))
    assert all(loss is not None and np.isfinite(loss) for loss in losses(matrix_comparisons(collinear, noisy)))


def test_refusals() -> None:
    golden.refused(DataError, matrix_comparisons, ORIGINAL, MASKED[:3])
    assert matrix_comparisons(ORIGINAL, MASKED[:3], paired_records=False).values.cells == 0
