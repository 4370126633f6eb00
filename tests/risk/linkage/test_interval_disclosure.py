"""Interval disclosure. Torra's figures for Census are in tests/published/test_torra_linkage.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.risk.linkage.interval_disclosure import interval_disclosure
from tests.golden import golden


def test_worked_by_hand():
    # Width 0.2 of 5 records is one rank to either side: 3 -> 1..3 after masking to 2 holds 3; 5 -> 1 gives 1..2.
    original, masked = np.array([[1.0], [2], [3], [4], [5]]), np.array([[5.0], [3], [2], [4], [1]])
    found = interval_disclosure(original, masked, widths=(0.2,))
    assert (found.value, found.interval, found.completed) == (3 / 5, None, 5)
    # Of the 25 intervals of a masked value around an original one: 2 + 3 + 3 + 3 + 2 hold it.
    assert found.baseline == pytest.approx(13 / 25)


def test_between_two_ranks_the_interval_goes_to_the_farther_one():
    # Both masked values of 1 have rank 1.5, and a quarter of 4 records is one rank: up to 2.5, and so to the third.
    original, masked = np.array([[2.0], [1], [2], [3]]), np.array([[1.0], [1], [2], [3]])
    assert interval_disclosure(original, masked, widths=(0.25,)).value == 1


def test_standard_deviations_by_hand():
    # The masked values have standard deviation 2: half a deviation reaches 1.
    original, masked = np.array([[0.0], [1.5], [4.0]]), np.array([[0.0], [2.0], [4.0]])
    assert interval_disclosure(original, masked, "standard_deviation", (0.5,)).value == 1
    assert interval_disclosure(original + 1.2, masked, "standard_deviation", (0.5,)).value == pytest.approx(1 / 3)


@given(st.integers(0, 2**32), st.sampled_from(["rank", "standard_deviation"]), st.sampled_from([None, 2]))
def test_the_baseline_is_the_mean_over_random_orders(seed, by, grid):
    rng = np.random.default_rng(seed)
    original, masked = rng.normal(size=(24, 1)), rng.normal(size=(24, 1))
    if grid:
        original, masked = np.rint(grid * original), np.rint(grid * masked)
    shifted = [interval_disclosure(original, np.roll(masked, by_rows, axis=0), by) for by_rows in range(24)]
    # Each masked value meets each original one once in the 24 rotations: their mean is exactly the baseline.
    assert np.mean([each.value for each in shifted]) == pytest.approx(shifted[0].baseline)
    order = rng.permutation(24)
    assert interval_disclosure(original[order], masked[order], by).value == pytest.approx(shifted[0].value)


def test_copies_constants_and_wide_intervals():
    rng = np.random.default_rng(1)
    original, masked = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    assert interval_disclosure(original, original).value == 1
    assert interval_disclosure(original, np.ones((50, 3)), "standard_deviation").value == 0
    ones = interval_disclosure(np.ones((4, 1)), np.ones((4, 1)))
    assert (ones.value, ones.baseline) == (1, 1)
    assert interval_disclosure(original, masked, widths=(1.0,)).value > 0.8


def test_missing_values_are_no_cases():
    original, masked = np.array([[1.0, np.nan], [2.0, 5.0]]), np.array([[1.0, 4.0], [np.nan, 5.0]])
    found = interval_disclosure(original, masked)
    assert (found.attempted, found.completed, found.value) == (4, 2, 1)
    empty = interval_disclosure(np.full((3, 1), np.nan), np.ones((3, 1)))
    assert empty.completed == 0
    assert np.isnan(empty.value)


def test_refusals():
    values = np.ones((3, 2))
    golden.refused(DataError, interval_disclosure, values, values[:2])
    golden.refused(DataError, interval_disclosure, values, values, widths=(5,))
    with pytest.raises(DataError, match="widths"):
        interval_disclosure(values, values, widths=())
