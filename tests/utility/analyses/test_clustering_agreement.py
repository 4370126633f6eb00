from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, mutual_info_score, pair_confusion_matrix, rand_score

from sluice.ground.errors import DataError
from sluice.utility.analyses.clustering_agreement import (
    IndexLoss,
    clustering_agreement,
    fuzzy_centres,
    memberships,
    partition_indices,
)
from tests.golden import golden

parts = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40)

pytestmark = pytest.mark.chain

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0], [8, 0], [0, 8]])
GROUPS = RNG.integers(0, 3, 300)
POINTS = CENTRES[GROUPS] + RNG.normal(size=(300, 2))


def agree(masked: np.ndarray, method: Any = "k_means", clusters: int = 3, **given: Any) -> dict[str, IndexLoss]:
    paired = given.pop("paired", True)
    found = clustering_agreement(POINTS, masked, method, clusters, paired, np.random.default_rng(1))
    return {each.index: each for each in found}


@pytest.mark.parametrize("method", ["k_means", "fuzzy_c_means"])
def test_clear_clusters_are_found_again_and_a_shuffled_file_has_lost_them(method: Any) -> None:
    kept = agree(POINTS + RNG.normal(size=POINTS.shape) / 10, method)
    assert kept["adjusted_rand"].itself > 0.95
    assert kept["adjusted_rand"].loss < 0.05
    lost = agree(RNG.permutation(POINTS), method)
    assert lost["adjusted_rand"].masked < 0.1
    assert lost["adjusted_rand"].loss > 0.85
    assert lost["mantaras"].loss > 0.85
    assert lost["rand"].low <= lost["rand"].loss <= lost["rand"].high


def test_what_the_method_does_not_find_again_itself_is_no_loss_of_the_file() -> None:
    """Points without clusters: k-means disagrees with itself from another start, and no more with the same file."""
    cloud = np.random.default_rng(5).uniform(size=(400, 4))
    found = {
        each.index: each for each in clustering_agreement(cloud, cloud, "k_means", 12, True, np.random.default_rng(2))
    }
    assert found["adjusted_rand"].itself < 0.8
    assert found["adjusted_rand"].low < 0.05
    assert found["adjusted_rand"].loss < 0.1


def test_clusters_of_an_unpaired_file_are_regions_for_the_original() -> None:
    assert agree(RNG.permutation(POINTS), paired=False)["adjusted_rand"].loss < 0.05
    golden.refused(DataError, agree, POINTS[:, :1], paired=False)


def test_a_file_with_fewer_columns_or_values_agrees_less() -> None:
    one = agree(POINTS[:, :1])["adjusted_rand"].masked
    assert 0.2 < one < 0.9
    assert agree(POINTS[:, :0])["adjusted_rand"].masked == 0
    assert agree(np.zeros_like(POINTS))["adjusted_rand"].masked == 0


@given(st.integers(0, 10**6))
def test_memberships_are_shares_and_centres_lie_among_the_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 2))
    centres = fuzzy_centres(points, 3, rng)
    shares = memberships(points, centres)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    assert (centres >= points.min(axis=0)).all()
    assert (centres <= points.max(axis=0)).all()


def test_memberships_by_hand() -> None:
    """Distances 1 and 2 to two centres: squared inverses 1 and 1/4, so 0.8 and 0.2."""
    np.testing.assert_allclose(memberships(np.array([[1.0]]), np.array([[0.0], [3.0]])), [[0.8, 0.2]])
    np.testing.assert_allclose(memberships(np.array([[0.0]]), np.array([[0.0], [3.0]])), [[1, 0]])


def test_the_centres_are_a_fixed_point_of_bezdek_s_equations() -> None:
    centres = fuzzy_centres(POINTS, 3, np.random.default_rng(3))
    squared = memberships(POINTS, centres) ** 2
    np.testing.assert_allclose(squared.T @ POINTS / squared.sum(axis=0)[:, None], centres, atol=1e-4)
    assert np.abs(centres[:, None] - CENTRES).max(axis=2).min(axis=0).max() < 0.3  # each lies near one of them


def test_too_few_records_and_other_lengths_are_refused() -> None:
    golden.refused(DataError, agree, POINTS, clusters=301)
    golden.refused(DataError, agree, POINTS[:2])


def test_the_same_seed_finds_the_same() -> None:
    assert agree(POINTS[::-1]) == agree(POINTS[::-1])


@pytest.mark.parametrize("method", ["k_means", "fuzzy_c_means"])
def test_who_weighs_nothing_draws_no_centre_and_counts_in_no_index(method: Any) -> None:
    """Three clear clusters, torn apart among records that weigh nothing."""
    rng = np.random.default_rng(6)
    centre = rng.integers(0, 3, 600)
    original = 20.0 * np.eye(3)[centre] + rng.normal(size=(600, 3))
    masked, weight = original.copy(), np.ones(600)
    weight[400:] = 1e-12
    masked[400:] = rng.permutation(masked[400:])
    found = {
        each.index: each
        for each in clustering_agreement(original, masked, method, 3, True, np.random.default_rng(0), (weight, weight))
    }
    assert found["adjusted_rand"].masked == pytest.approx(found["adjusted_rand"].itself, abs=1e-6)
    counted = clustering_agreement(original, masked, method, 3, True, np.random.default_rng(0))
    assert next(each for each in counted if each.index == "adjusted_rand").loss > 0.2
    with golden.raises(DataError):
        clustering_agreement(original, masked, method, 3, True, np.random.default_rng(0), (weight[1:], weight))


def test_weighted_fuzzy_centres_are_those_of_repeated_points() -> None:
    rng = np.random.default_rng(7)
    points, times = rng.normal(size=(80, 2)) + 6 * rng.integers(0, 2, (80, 1)), rng.integers(1, 4, 80)
    weighted = fuzzy_centres(points, 2, np.random.default_rng(0), times / 3)
    again = fuzzy_centres(np.repeat(points, times, axis=0), 2, np.random.default_rng(0))
    for one, other in zip(*(each[np.argsort(each[:, 0])] for each in (weighted, again)), strict=True):
        assert one == pytest.approx(other, abs=1e-3)


def arrays(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


def test_the_published_indices_keep_to_their_identities() -> None:
    """Torra (2013), "Some results", Census with 15 clusters: Jaccard of Wallace, k = 3 to 9, to the digits printed."""
    jaccard = [0.454, 0.464, 0.406, 0.408, 0.367, 0.402, 0.359]
    wallace = np.array([0.625, 0.633, 0.577, 0.580, 0.537, 0.574, 0.528])
    np.testing.assert_allclose(wallace / (2 - wallace), jaccard, atol=0.0012)


@given(parts)
def test_indices_are_those_of_scikit_learn_and_of_their_definitions(pairs: list[tuple[int, int]]) -> None:
    first, second = arrays(pairs)
    found = partition_indices(first, second)
    assert found.rand == pytest.approx(rand_score(first, second))
    assert found.adjusted_rand == pytest.approx(adjusted_rand_score(first, second))
    (_, b), (c, a) = pair_confusion_matrix(first, second) / 2
    assert found.jaccard == pytest.approx(a / (a + b + c) if a + b + c else 1)
    assert found.jaccard == pytest.approx(found.wallace / (2 - found.wallace))
    joint = mutual_info_score(first * 5 + second, first * 5 + second)
    mutual = mutual_info_score(first, second)
    assert found.mantaras == pytest.approx(1 - mutual / joint if joint else 0, abs=1e-9)


@given(parts, st.permutations(range(5)))
def test_names_of_clusters_and_which_comes_first_do_not_matter(pairs: list[tuple[int, int]], names: list[int]) -> None:
    first, second = arrays(pairs)
    here, there = partition_indices(first, second), partition_indices(np.array(names)[second], first)
    for name in ("rand", "jaccard", "adjusted_rand", "wallace", "mantaras"):
        assert getattr(here, name) == pytest.approx(getattr(there, name), abs=1e-9)
    equal = partition_indices(first, np.array(names)[first])
    assert (equal.rand, equal.jaccard, equal.adjusted_rand, equal.wallace) == (1, 1, 1, 1)
    assert equal.mantaras == pytest.approx(0, abs=1e-9)


def test_extremes() -> None:
    all_in_one, each_alone = np.zeros(4, np.int64), np.arange(4)
    opposite = partition_indices(all_in_one, each_alone)
    assert (opposite.rand, opposite.jaccard, opposite.wallace, opposite.mantaras) == (0, 0, 0, 1)
    assert partition_indices(each_alone, each_alone).jaccard == 1
    assert partition_indices(all_in_one, all_in_one).mantaras == 0
    assert np.isnan(partition_indices(all_in_one[:1], each_alone[:1]).rand)


@given(st.integers(0, 2**32))
def test_weights_count_the_pairs_of_a_population(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second, weight = rng.integers(0, 3, 30), rng.integers(0, 4, 30), rng.choice([0.0, 1.0, 2.5, 9.0], 30)
    found, at = partition_indices(first, second, weight), np.triu_indices(30, 1)
    pairs = np.outer(weight, weight)[at]
    one, other = (np.equal.outer(each, each)[at] for each in (first, second))
    assert found.rand == pytest.approx(pairs[one == other].sum() / pairs.sum())
    assert found.jaccard == pytest.approx(pairs[one & other].sum() / pairs[one | other].sum())
    kept = weight > 0
    assert found == partition_indices(first[kept], second[kept], weight[kept])
    alike = partition_indices(first, second, np.full(30, 0.3))
    unweighted = partition_indices(first, second)
    for name in ("rand", "jaccard", "adjusted_rand", "wallace", "mantaras"):
        assert getattr(alike, name) == pytest.approx(getattr(unweighted, name))
    with pytest.raises(DataError, match=r"\b30\b.*\b29\b"):
        partition_indices(first, second, weight[1:])
