import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, mutual_info_score, pair_confusion_matrix, rand_score

from sluice.ground.errors import DataError
from sluice.utility.analyses.partition_indices import partition_indices

parts = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40)


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
    with pytest.raises(DataError, match="30 records need as many weights"):
        partition_indices(first, second, weight[1:])
