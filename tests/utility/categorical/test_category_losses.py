import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy

from sluice.utility.categorical.category_losses import (
    conditional_entropy,
    ebil,
    mean_pril,
    original_probabilities,
    pril,
    probabilities_of_counts,
)

STATE, CITY, ALBANY = 17_990_455, 7_322_564, 101_082


def test_albany_and_new_york_city() -> None:
    """Torra (2013), the per-record alternative. The slide prints 0.05 for Albany; its own division gives 0.0056."""
    prior = np.array([ALBANY, CITY, STATE - ALBANY - CITY], dtype=float)
    probabilities = original_probabilities(prior, np.ones((3, 1)))
    assert probabilities[:, 0] == pytest.approx([0.0056, 0.407, 0.5874], abs=0.0001)
    albany, city = pril(probabilities, np.array([0, 1]), np.array([0, 0]))
    assert (albany, city) == pytest.approx((np.log2(STATE / ALBANY), np.log2(STATE / CITY)))
    assert albany == pytest.approx(7.4756, abs=0.0001)
    assert albany > city


def test_ebil_of_pram_by_hand_and_by_scipy() -> None:
    """Retention .8 and .6 of two categories with 70 and 30 records: Bayes gives 56 of 68, and 18 of 32."""
    matrix = np.array([[0.8, 0.2], [0.4, 0.6]])
    found = original_probabilities(np.array([70.0, 30.0]), matrix)
    assert found == pytest.approx(np.array([[56 / 68, 14 / 32], [12 / 68, 18 / 32]]))
    expected = [entropy(column, base=2) for column in found.T]
    assert conditional_entropy(found) == pytest.approx(expected)
    assert ebil(found, np.array([68, 32])) == pytest.approx(68 * expected[0] + 32 * expected[1])


joints = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 20).map(float))


@given(joints.filter(lambda joint: joint.sum() > 0))
def test_counted_in_the_files_both_means_are_the_conditional_entropy(joint: np.ndarray) -> None:
    probabilities = probabilities_of_counts(joint)
    mean = ebil(probabilities, joint.sum(axis=0)) / joint.sum()
    assert mean == pytest.approx(mean_pril(probabilities, joint), abs=1e-9)
    assert mean == pytest.approx(entropy(joint.ravel(), base=2) - entropy(joint.sum(axis=0), base=2), abs=1e-9)
    assert mean <= entropy(joint.sum(axis=1), base=2) + 1e-9  # to know V' never leaves more open than to know nothing
    rows, columns = np.nonzero(joint)
    records = np.repeat(np.arange(len(rows)), joint[rows, columns].astype(int))
    assert pril(probabilities, rows[records], columns[records]).mean() == pytest.approx(mean, abs=1e-9)


def test_extremes() -> None:
    certain = original_probabilities(np.array([3.0, 5.0]), np.eye(2))
    assert ebil(certain, np.array([3, 5])) == 0
    useless = original_probabilities(np.ones(8), np.full((8, 8), 1 / 8))
    assert ebil(useless, np.ones(8)) == pytest.approx(8 * 3)
    impossible = original_probabilities(np.array([1.0, 0.0]), np.eye(2))
    assert np.isnan(ebil(impossible, np.array([1, 1])))
    assert ebil(impossible, np.array([1, 0])) == 0
    assert pril(certain, np.array([0]), np.array([1])).tolist() == [np.inf]
    assert np.isnan(mean_pril(certain, np.zeros((2, 2))))
