"""Data shuffling. Published figures: tests/published/test_lasko_vinterbo_shuffling.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, rankdata, spearmanr

from sluice.masking.synthesis.data_shuffling import DataShuffling, normal_correlations, shuffle_sources
from tests.masking.survey import VARIABLES, survey


def data_shuffle(confidential: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.take_along_axis(confidential, shuffle_sources(confidential, given, rng), axis=0)


def centred_ranks(values: np.ndarray) -> np.ndarray:
    """One row a column, from SciPy's ranks; NaN where missing."""
    return (rankdata(values, axis=0, nan_policy="omit").T - 0.5) / np.isfinite(values).sum(axis=0)[:, None] - 0.5


@given(n=st.integers(2, 60), m=st.integers(1, 4), others=st.integers(0, 3), seed=st.integers(0, 1000))
def test_columns_with_ties_and_gaps_keep_their_values(n: int, m: int, others: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.lognormal(size=(n, m + others)))
    values[rng.random(values.shape) < 0.3] = np.nan
    shuffled = data_shuffle(values[:, :m], values[:, m:], rng)
    np.testing.assert_array_equal(np.isnan(shuffled), np.isnan(values[:, :m]))
    np.testing.assert_array_equal(np.sort(shuffled, axis=0), np.sort(values[:, :m], axis=0))


def test_the_sines_turn_rank_correlations_into_those_of_a_normal_distribution() -> None:
    """Pearson's 2 sin(pi rho / 6), on a sample of a known normal distribution; monotonic changes do not matter."""
    known = np.array([[1.0, 0.8, -0.5], [0.8, 1.0, 0.1], [-0.5, 0.1, 1.0]])
    sample = multivariate_normal(cov=known, seed=0).rvs(200_000)
    found = normal_correlations(centred_ranks(np.column_stack([np.exp(sample[:, 0]), sample[:, 1] ** 3, sample[:, 2]])))
    assert found == pytest.approx(known, abs=0.01)
    exact = 2 * np.sin(np.pi / 6 * spearmanr(sample).statistic)
    np.fill_diagonal(exact, 1.0)
    assert found == pytest.approx(exact, abs=1e-9)


def test_rank_correlations_are_kept_and_records_are_not() -> None:
    rng = np.random.default_rng(0)
    original = np.exp(rng.normal(size=(20_000, 4)) @ rng.normal(size=(4, 4)))
    shuffled = data_shuffle(original, original[:, :0], rng)
    assert spearmanr(shuffled).statistic == pytest.approx(spearmanr(original).statistic, abs=0.02)
    same_place = [spearmanr(original[:, j], shuffled[:, j]).statistic for j in range(4)]
    assert same_place == pytest.approx([0] * 4, abs=0.03)


def test_rank_correlations_with_given_columns_are_kept() -> None:
    """Of normal scores: what two columns have in common with the given ones, and what is left between them."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20_000, 4)) @ rng.normal(size=(4, 4))
    original = np.column_stack([np.exp(scores[:, :2]), scores[:, 2:]])
    shuffled = np.column_stack([data_shuffle(original[:, :2], original[:, 2:], rng), original[:, 2:]])
    assert spearmanr(shuffled).statistic == pytest.approx(spearmanr(original).statistic, abs=0.02)
    # A record is found again as far as its given values tell, R, and no farther: rho = R^2 with its own value.
    total = np.corrcoef(scores.T)
    explained = total[:2, 2:] @ np.linalg.inv(total[2:, 2:]) @ total[2:, :2]
    same_place = [np.corrcoef(scores[:, j], np.log(shuffled[:, j]))[0, 1] for j in (0, 1)]
    assert same_place == pytest.approx(np.diag(explained), abs=0.02)


def test_what_the_given_columns_determine_stays_where_it_is() -> None:
    """The extreme: rank correlation 1, so the conditional variance is 0."""
    values = np.random.default_rng(0).normal(size=(200, 1))
    assert data_shuffle(values, np.exp(values), np.random.default_rng(1)) == pytest.approx(values)
    fully = np.column_stack([values, -values])
    assert data_shuffle(fully, np.hstack([values, 2 * values]), np.random.default_rng(1)) == pytest.approx(fully)


def test_contradicting_correlations_are_repaired() -> None:
    """Each pair is seen on other records: a rises with b, b with c, but c falls with a. No distribution has these."""
    rising, gap = np.linspace(-0.5, 0.5, 50), np.full(50, np.nan)
    ranks = np.array(
        [
            np.concatenate([rising, gap, rising]),
            np.concatenate([rising, rising, gap]),
            np.concatenate([gap, rising, -rising]),
        ]
    )
    correlations = normal_correlations(ranks)
    assert np.diag(correlations) == pytest.approx([1, 1, 1])
    assert np.linalg.eigvalsh(correlations).min() > -1e-12
    assert correlations[0, 1] == pytest.approx(0.5)
    assert correlations[0, 2] == pytest.approx(-0.5)
    shuffled = data_shuffle(ranks.T, ranks.T[:, :0], np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(shuffled, axis=0), np.sort(ranks.T, axis=0))


def test_two_records_a_constant_and_no_record_at_all() -> None:
    rng = np.random.default_rng(0)
    pair = np.array([[1.0, 5.0], [2.0, 5.0]])
    drawn = [data_shuffle(pair, pair[:, :0], rng) for _ in range(60)]
    assert all(sorted(one[:, 0]) == [1, 2] and (one[:, 1] == 5).all() for one in drawn)
    assert 0 < sum(one[0, 0] == 1 for one in drawn) < 60
    assert data_shuffle(np.empty((0, 2)), np.empty((0, 1)), rng).shape == (0, 2)


def test_the_step_keeps_relations_to_given_columns() -> None:
    frame = survey()
    step = DataShuffling(columns=("income", "sex"), given=("hours",))
    masked = step.mask(frame, VARIABLES, np.random.default_rng(1))
    assert step.released(VARIABLES) == VARIABLES
    before, after = (data["income"].corr(data["hours"], method="spearman") for data in (frame, masked))
    assert after == pytest.approx(before, abs=0.06)
