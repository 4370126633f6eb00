"""Entropy before and after masking."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy as scipy_entropy

from sluice.utility.entropy import entropies

HAIR = pd.Series(pd.Categorical(["fair"] * 40 + ["dark"] * 40 + ["grey"] * 20))


def test_categories_as_scipy_has_them() -> None:
    merged = HAIR.map({"fair": "fair", "dark": "other", "grey": "other"}).astype("category")
    found = entropies(HAIR, merged, 10)
    assert found.before == pytest.approx(scipy_entropy([40, 40, 20], base=2))
    assert found.after == pytest.approx(scipy_entropy([40, 60], base=2))
    assert found.lost == pytest.approx(1 - found.after / found.before)


def test_numbers_are_counted_in_intervals_of_the_original() -> None:
    numbers = pd.Series(np.arange(1000.0))
    found = entropies(numbers, numbers, 10)
    assert found == pytest.approx((np.log2(20), np.log2(20)))
    assert found.lost == 0
    halves = pd.Series(pd.Categorical(np.where(numbers < 500, "low", "high")))
    assert entropies(numbers, halves, 10).after == pytest.approx(1)
    assert entropies(numbers, numbers * 0, 10).lost == 1


def test_a_date_is_a_number_of_days() -> None:
    days = pd.Series(pd.date_range("2020-01-01", periods=400))
    assert entropies(days, days, 10).before == pytest.approx(np.log2(20), abs=0.01)


def test_a_small_count_does_not_change_the_figure() -> None:
    for few in range(10):
        column = pd.Series(pd.Categorical(["a"] * 50 + ["b"] * 50 + ["rare"] * few))
        assert entropies(column, column, 10).before == pytest.approx(1)


def test_missing_values_hold_no_bits_and_nothing_at_all_has_no_figure() -> None:
    with_missing = pd.concat([HAIR, pd.Series([None] * 500)], ignore_index=True).astype("category")
    assert entropies(with_missing, with_missing, 10).before == pytest.approx(scipy_entropy([40, 40, 20], base=2))
    nothing = pd.Series([np.nan] * 50)
    assert np.isnan(entropies(nothing, nothing, 10).lost)
    assert np.isnan(entropies(HAIR, HAIR.where(HAIR == "none"), 10).lost)


def test_records_weigh_what_they_stand_for() -> None:
    weight = np.where(HAIR == "grey", 4.0, 1.0)
    merged = HAIR.map({"fair": "fair", "dark": "other", "grey": "other"}).astype("category")
    found = entropies(HAIR, merged, 10, (weight, None))
    assert found.before == pytest.approx(scipy_entropy([40, 40, 80], base=2))
    assert found.after == pytest.approx(scipy_entropy([40, 60], base=2))
    heavy_but_few = np.where(HAIR == "grey", 1e6, 1.0)
    assert entropies(HAIR, HAIR, 21, (heavy_but_few, heavy_but_few)).before == pytest.approx(1)


def test_a_constant_loses_nothing() -> None:
    constant = pd.Series(np.ones(100))
    assert entropies(constant, constant, 10).lost == 0
