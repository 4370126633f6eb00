import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy

from sluice.ground.divergence import counts_of, divergence, entropy, interval_edges

ALL = ("kullback_leibler", "jensen_shannon", "hellinger", "total_variation")
counts = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=12).filter(
    lambda pairs: sum(a for a, _ in pairs) > 0 < sum(b for _, b in pairs)
)


def test_worked_by_hand():
    p, q = np.array([1.0, 1.0]), np.array([1.0, 3.0])
    # 1/2 log2(2) + 1/2 log2(2/3) = 1/2 (1 + 1 - log2 3)
    assert divergence("kullback_leibler", p, q) == pytest.approx((2 - np.log2(3)) / 2)
    assert divergence("total_variation", p, q) == pytest.approx(0.25)
    assert divergence("hellinger", p, q) == pytest.approx(np.sqrt(1 - (np.sqrt(1 / 8) + np.sqrt(3 / 8))))
    assert entropy(np.array([1.0, 1.0, 2.0])) == pytest.approx(1.5)


@given(counts)
def test_agrees_with_scipy(pairs):
    p, q = np.array(pairs, dtype=float).T
    assert entropy(p) == pytest.approx(scipy_entropy(p, base=2), abs=1e-12)
    assert divergence("kullback_leibler", p, q) == pytest.approx(scipy_entropy(p, q, base=2), abs=1e-12)
    assert divergence("jensen_shannon", p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-9)


@given(counts, st.integers(1, 9))
def test_bounds_and_scale(pairs, times):
    p, q = np.array(pairs, dtype=float).T
    for which in ALL:
        value = divergence(which, p, q)
        assert value >= 0
        assert divergence(which, p * times, q) == pytest.approx(value, abs=1e-12)  # shares, not counts
        assert divergence(which, p, p) == pytest.approx(0, abs=1e-12)
        if which != "kullback_leibler":
            assert value <= 1
            assert divergence(which, q, p) == pytest.approx(value, abs=1e-12)
    # Le Cam: H^2 <= TV <= H sqrt(2 - H^2)
    h, tv = divergence("hellinger", p, q), divergence("total_variation", p, q)
    assert h**2 <= tv + 1e-12
    assert tv <= h * np.sqrt(2 - h**2) + 1e-12


def test_an_empty_bin_is_infinite_or_smoothed():
    p, q = np.array([3.0, 1.0]), np.array([4.0, 0.0])
    assert divergence("kullback_leibler", p, q) == np.inf
    # pseudo-count 1/2: p = (3.5, 1.5) / 5, q = (4.5, 0.5) / 5
    assert divergence("kullback_leibler", p, q, 0.5) == pytest.approx(0.7 * np.log2(7 / 9) + 0.3 * np.log2(3))
    assert divergence("kullback_leibler", q, p) == pytest.approx(np.log2(4 / 3))  # empty in the original: adds nothing
    apart = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert [divergence(which, *apart) for which in ALL] == [np.inf, 1, 1, 1]


def test_one_bin_and_one_record():
    one = np.array([1.0])
    assert [divergence(which, one, one) for which in ALL] == [0, 0, 0, 0]
    assert entropy(one) == 0


def test_bins_of_numbers_of_labels_and_of_missing_values():
    numbers = pd.Series(np.arange(100.0))
    before, after = counts_of(numbers, numbers + 1000, 4)
    assert (before.tolist(), after.tolist()) == ([25, 25, 25, 25], [0, 0, 0, 100])  # the outer bins are open
    before, after = counts_of(pd.Series([1.0, 2.0, np.nan]), pd.Series([1.4, 2.0, 2.0]), 20)
    assert sorted(zip(before, after, strict=True)) == [(1, 0), (1, 1), (1, 2)]  # few values: each has its own bin
    labels = pd.Series(["a", "b", "b"], dtype="category")
    before, after = counts_of(labels, pd.Series(["c", "b", None], dtype="category"), 20)
    assert sorted(zip(before, after, strict=True)) == [(0, 1), (0, 1), (1, 0), (2, 1)]
    before, after = counts_of(pd.Series([np.nan, np.nan]), pd.Series([1.0, np.nan]), 20)
    assert sorted(zip(before, after, strict=True)) == [(0, 1), (2, 1)]  # all missing: a bin as any other
    assert interval_edges(np.full(9, 3.0), 5).tolist() == []  # a constant


def test_a_distribution_over_labels_is_counted_by_its_probabilities():
    labels = pd.Series(["a", "b", "b"], dtype="category")
    shares = pd.DataFrame({"b": [0.5, 0.5, np.nan], "a": [0.5, 0.5, np.nan]})
    before, after = counts_of(labels, shares, 20)
    assert sorted(zip(before, after, strict=True)) == [(0, 1), (1, 1), (2, 1)]
