"""Data invasion. Table 7 is in tests/published/test_yamazoe_omote_attacks.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.risk.attacks.data_invasion import data_invasion, guess_chances
from tests.golden import golden


def labels(values):
    return pd.Series(values, dtype="category")


def invaded(original, masked, level=1):
    return data_invasion(original, original, masked, level)


def test_algorithm_1_worked_by_hand():
    # Yamazoe and Omote (2021), Algorithm 1, on dummy columns a = (.9, .6, .1) and b = (.2, .5, .4) of records a, a, b:
    # by nearness to 1 the ranks / 3 in column a are 1, 2/3, 1/3 and in b 1/3, 1, 2/3; the guesses are a, b, b.
    a, b = np.array([0.9, 0.6, 0.1]), np.array([0.2, 0.5, 0.4])
    assert guess_chances([abs(1 - a), abs(1 - b)], np.array([0, 0, 1])).tolist() == [1, 0, 1]
    # Algorithm 2 with Pr(a) = 2/3, Pr(b) = 1/3: a 2/3, 4/9, 2/9 against b 1/9, 1/3, 2/9: a, a, and a tie.
    shares = np.array([2 / 3, 1 / 3])
    assert guess_chances([abs(1 - a), abs(1 - b)], np.array([0, 0, 1]), shares).tolist() == [1, 1, 0.5]


def test_a_distribution_in_the_file_is_the_same_attack():
    original = labels(["a", "a", "b"])
    found = invaded(original, pd.DataFrame({"b": [0.2, 0.5, 0.4], "a": [0.9, 0.6, 0.1]}))
    assert (found.value, found.baseline, found.attempted, found.completed) == (2 / 3, 2 / 3, 3, 3)


@given(st.integers(0, 2**32), st.sampled_from([1, 2]))
def test_neither_order_nor_index_matters(seed, level):
    rng = np.random.default_rng(seed)
    original = labels(rng.choice(list("abc"), 30))
    masked = labels(rng.choice(["a", "b", "c", None], 30))
    here, order = invaded(original, masked, level), rng.permutation(30)
    there = invaded(original.iloc[order], masked.iloc[order], level)
    assert there.value == pytest.approx(here.value, abs=1e-12)
    assert here.interval[0] <= here.value <= here.interval[1]
    numbers, noisy = pd.Series(rng.normal(size=30)), pd.Series(rng.normal(size=30))
    assert invaded(numbers.iloc[order], noisy.iloc[order]).value == pytest.approx(invaded(numbers, noisy).value)


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=30))
def test_verbatim_labels_are_all_guessed_at_level_1(values):
    original = labels(values)
    assert invaded(original, original).value == 1
    assert invaded(original, original).baseline == pytest.approx(max(map(values.count, values)) / len(values))


def test_verbatim_numbers_are_guessed():
    whole = pd.Series(pd.array([1, 2, 2, 30], dtype="Int64"))
    assert invaded(whole, whole).value == 1
    many = pd.Series(np.random.default_rng(0).normal(size=3000))  # to one of 100 intervals
    assert invaded(many, many).baseline == pytest.approx(0.01)
    assert invaded(many, many).value > 0.9  # at an interval's edge the next one may rank it higher
    assert invaded(many, pd.Series(np.random.default_rng(1).normal(size=3000))).value < 0.02


def test_a_wider_label_is_shared_among_the_values_that_it_stands_for():
    original = labels(["a", "b", "c", "d"])
    wider = labels(["ab", "ab", "cd", "cd"])
    assert data_invasion(original, wider, wider, 1).value == pytest.approx(1 / 2)
    years = pd.Series(pd.array([20, 25, 30, 35], dtype="Int64"))
    assert data_invasion(
        years, labels(["20s", "20s", "30s", "30s"]), labels(["20s", "20s", "30s", "30s"]), 1
    ).value == (pytest.approx(1 / 2))


def test_missing_values():
    original = labels(["a", "a", "b", None])
    suppressed = labels([None] * 4)
    for level, value in ((1, 1 / 2), (2, 2 / 3)):  # nothing is known: any of two values, or the most frequent one
        found = invaded(original, suppressed, level)
        assert (found.value, found.attempted, found.completed) == (pytest.approx(value), 3, 3)
    unread = invaded(labels(["a", "b", "b"]), labels(["a", "b", "z"]))
    assert (unread.value, unread.attempted, unread.completed) == (1, 3, 2)  # the denominator is what could be read
    assert invaded(labels([None, None]), labels(["a", "a"])).completed == 0


def test_extremes():
    one = labels(["a"])
    assert (invaded(one, one, 2).value, invaded(one, one, 2).baseline) == (1, 1)
    constant = pd.Series(np.ones(5))
    assert invaded(constant, constant, 2).value == 1


def test_refusals():
    golden.refused(DataError, invaded, labels(["a"]), labels(["a"]), 3)
    golden.refused(DataError, invaded, labels(["a"]), labels(["a", "a"]))
    numbers = pd.Series([1.0, 2.0], name="age")
    golden.refused(DataError, invaded, numbers, labels(["a", "b"]))
