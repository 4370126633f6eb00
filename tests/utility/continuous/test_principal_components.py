import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.continuous.principal_components import eigenvalue_shift, paired, principal_components


def correlated(seed: int, n: int = 60, d: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def test_loadings_are_correlations_with_the_scores_and_communalities_their_squares() -> None:
    """Independently, by the scores: numpy's singular value decomposition of the standardised file."""
    file = correlated(0)
    standardised = (file - file.mean(axis=0)) / file.std(axis=0)
    found = principal_components(np.corrcoef(file.T))
    scores = standardised @ found.coefficients
    loadings = np.array([[np.corrcoef(x, s)[0, 1] for s in scores.T] for x in file.T])
    assert found.loadings == pytest.approx(loadings)
    _, singular, _ = np.linalg.svd(standardised)
    assert found.eigenvalues == pytest.approx(singular**2 / len(file))
    assert found.communalities == pytest.approx(loadings[:, 0] ** 2)


def test_loadings_are_those_of_statsmodels() -> None:
    from statsmodels.multivariate.pca import PCA

    file = correlated(1)
    peer = PCA(file, standardize=True, method="svd")
    found = principal_components(np.corrcoef(file.T))
    assert found.eigenvalues == pytest.approx(peer.eigenvals / len(file))
    assert np.abs(found.coefficients) == pytest.approx(np.abs(np.asarray(peer.eigenvecs)))


@given(st.integers(0, 50), st.permutations(range(4)), st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4))
def test_order_and_sign_of_the_components_do_not_matter(seed: int, order: list[int], signs: list[float]) -> None:
    one = principal_components(np.corrcoef(correlated(seed).T))
    other = one._replace(
        eigenvalues=one.eigenvalues[order],
        coefficients=one.coefficients[:, order] * signs,
        loadings=one.loadings[:, order] * signs,
    )
    before, after = paired(one, other)
    assert after.loadings == pytest.approx(before.loadings, abs=1e-9)
    assert after.eigenvalues == pytest.approx(before.eigenvalues)


def test_axes_of_equal_eigenvalues_are_turned_to_agree() -> None:
    one = principal_components(np.eye(3))
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    before, after = paired(one, one._replace(coefficients=turn, loadings=turn))
    assert after.loadings == pytest.approx(before.loadings, abs=1e-9)


def test_the_shift_by_hand() -> None:
    """Two variables: eigenvalues 1 + r and 1 - r. From r = 1 to 0 half of the variance moves."""

    def of(r: float) -> np.ndarray:
        return np.array([[1, r], [r, 1]])

    assert eigenvalue_shift(of(1.0), of(0.0)) == pytest.approx(0.5)
    assert eigenvalue_shift(of(0.5), of(0.2)) == pytest.approx(0.15)


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_shift_is_symmetric_and_bounded(one: int, other: int) -> None:
    r, s = (np.corrcoef(correlated(seed).T) for seed in (one, other))
    assert eigenvalue_shift(r, s) == pytest.approx(eigenvalue_shift(s, r))
    assert 0 <= eigenvalue_shift(r, s) <= 1
    assert eigenvalue_shift(r, r) == 0


def test_the_shift_stays_finite_on_collinear_data() -> None:
    """A published tool divided by eigenvalues of 1e-17 here, and reported a utility of -1e16."""
    file = correlated(2)
    collinear = np.column_stack([file, file[:, 0], 2 * file[:, 1] - file[:, 2]])
    noisy = collinear + 0.1 * np.random.default_rng(3).normal(size=collinear.shape)
    assert 0 < eigenvalue_shift(np.corrcoef(collinear.T), np.corrcoef(noisy.T)) < 0.1


def test_a_removed_variable_takes_its_part_of_the_variance_along() -> None:
    r = np.eye(4)
    removed = r.copy()
    removed[3, :] = removed[:, 3] = np.nan
    assert eigenvalue_shift(r, removed) == pytest.approx(1 / 4)
    assert eigenvalue_shift(r, np.full((4, 4), np.nan)) == 1
    assert np.isnan(eigenvalue_shift(np.full((2, 2), np.nan), np.eye(2)))
