"""Probabilistic linkage: probabilities that are known, and pairs that can be counted by hand."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind
from sluice.risk.linkage.probabilistic_linkage import agreement_probabilities, agreement_values, probabilistic_linkage

LEVELS = (2, 10, 50, 100)
CHANGED = (0.05, 0.1, 0.2, 0.3)


def categories(seed, n):
    """A file of four categorical variables, and one in which stated shares of the values were drawn anew."""
    rng = np.random.default_rng(seed)
    original = np.column_stack([rng.integers(0, levels, n) for levels in LEVELS]).astype(float)
    masked = original.copy()
    for j, (levels, share) in enumerate(zip(LEVELS, CHANGED, strict=True)):
        anew = rng.random(n) < share
        masked[anew, j] = rng.integers(0, levels, anew.sum())
    return original, masked


def test_the_probabilities_are_found_without_the_truth():
    original, masked = categories(1, 3000)
    links = probabilistic_linkage(original, masked, np.zeros(4))
    agree = (original == masked).mean(axis=0)
    np.testing.assert_allclose(links.agree_when_true, agree, atol=0.03)
    np.testing.assert_allclose(links.agree_when_false, 1 / np.array(LEVELS), atol=0.01)


def test_exact_counts_settle_at_once():
    # Independent agreements with m = (.9, .8, .7), u = (.1, .2, .3) and one true pair in ten: the counts are exact.
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    m, u = np.array([0.9, 0.8, 0.7]), np.array([0.1, 0.2, 0.3])
    of = [np.prod(np.where(bits == 1, share, 1 - share), axis=1) for share in (m, u)]
    counts = np.rint(1e9 * (0.1 * of[0] + 0.9 * of[1])).astype(np.int64)
    found_m, found_u = agreement_probabilities(counts, 3, 0.1)
    np.testing.assert_allclose(found_m, m, atol=1e-4)
    np.testing.assert_allclose(found_u, u, atol=1e-4)


def test_links_as_a_whole_matrix_gives_them():
    original, masked = categories(2, 150)
    links = probabilistic_linkage(original, masked, np.zeros(4))
    m, u = links.agree_when_true, links.agree_when_false
    agree = original[:, None, :] == masked[None]
    weights = np.where(agree, np.log(m / u), np.log((1 - m) / (1 - u))).sum(axis=2)
    best = weights.max(axis=1, keepdims=True)
    among = np.isclose(weights, best, rtol=0, atol=1e-9)
    expected = np.where(np.diag(among), 1 / among.sum(axis=1), 0)
    np.testing.assert_allclose(links.correct, expected)


@pytest.mark.parametrize("n", [2, 3, 7, 40, 120])
def test_order_names_of_the_codes_and_parts_change_nothing(n):
    original, masked = categories(n, n)
    links = probabilistic_linkage(original, masked, np.zeros(4))
    order = np.random.default_rng(n).permutation(n)
    np.testing.assert_allclose(
        probabilistic_linkage(original[order], masked[order], np.zeros(4)).correct, links.correct[order]
    )
    np.testing.assert_allclose(probabilistic_linkage(-original, -masked, np.zeros(4)).correct, links.correct)
    assert probabilistic_linkage(original, masked, np.zeros(4), rows=order[:2]).correct.shape == (2,)


def test_one_to_one_is_better_than_each_by_itself():
    original, masked = categories(3, 600)
    alone = probabilistic_linkage(original, masked, np.zeros(4)).correct.mean()
    assigned = probabilistic_linkage(original, masked, np.zeros(4), assigned_by=np.random.default_rng(0))
    assert set(np.unique(assigned.correct)) <= {0, 1}
    assert assigned.correct.mean() > alone


def test_ties_of_the_assignment_are_broken_at_random():
    # All records alike: the solver alone would pair row i with row i, and every link would seem right.
    alike = np.ones((400, 2))
    links = probabilistic_linkage(alike, alike, np.zeros(2), assigned_by=np.random.default_rng(0))
    assert links.correct.sum() < 8


def test_copies_constants_one_record_and_missing_values():
    values = np.arange(50.0)[:, None]
    assert probabilistic_linkage(values, values, np.zeros(1)).correct.mean() == 1
    assert probabilistic_linkage(values, values, np.array([49.0])).correct.mean() == pytest.approx(1 / 50)
    one = np.ones((1, 1))
    assert probabilistic_linkage(one, one, np.zeros(1)).correct.tolist() == [1]
    original, masked = np.array([[1.0], [np.nan], [3.0]]), np.array([[1.0], [np.nan], [np.nan]])
    assert probabilistic_linkage(original, masked, np.zeros(1)).correct.tolist() == [1, 0.5, 1 / 3]


def test_values_of_typed_columns():
    area = pd.Series(pd.Categorical(["a", None, "b"], categories=["b", "a"]))
    other = pd.Series(pd.Categorical(["b", "a", None], categories=["a", "b", "c"]))
    before, after = agreement_values(area, other, Kind.NOMINAL)
    assert before[0] == after[1]
    assert before[2] == after[0]
    assert np.isnan(before[1])
    assert np.isnan(after[2])
    age = pd.Series([1, None], dtype="Int64")
    np.testing.assert_array_equal(agreement_values(age, age, Kind.INTEGER)[0], [1, np.nan])
