"""Dummy coding. Published figures: tests/published/test_lasko_vinterbo_masking.py."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit
from scipy.stats import chisquare

from sluice.masking.column_numbers import category_probabilities, dummy_code, grain, most_probable, on_grain, sampled


@given(codes=arrays(np.int64, st.integers(0, 30), elements=st.integers(-1, 4)))
def test_coding_and_decoding_give_the_categories_back(codes: np.ndarray) -> None:
    coded = dummy_code(codes, 5)
    assert coded.shape == (len(codes), 5)
    assert (np.isnan(coded).all(axis=1) == (codes < 0)).all()
    known = coded[codes >= 0]
    assert np.isin(known, [-1.0, 1.0]).all()
    assert (known.sum(axis=1) == -3).all()
    if len(known):
        assert (most_probable(category_probabilities(known)) == codes[codes >= 0]).all()


@given(coded=arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)))
def test_probabilities_are_probabilities_and_keep_the_order(coded: np.ndarray) -> None:
    probabilities = category_probabilities(coded)
    assert (probabilities >= 0).all()
    assert probabilities.sum(axis=1) == pytest.approx(1)
    best = np.take_along_axis(coded, most_probable(probabilities)[:, None], axis=1)[:, 0]
    assert (expit(best) >= expit(coded.max(axis=1)) - 1e-12).all()


def test_probabilities_are_the_normalised_inverse_logits() -> None:
    coded = np.random.default_rng(0).normal(0, 3, size=(50, 4))
    assert category_probabilities(coded) == pytest.approx(expit(coded) / expit(coded).sum(axis=1, keepdims=True))


def test_probabilities_where_every_inverse_logit_vanishes() -> None:
    assert category_probabilities(np.array([[-1000.0, -1000.0, -2000.0]]))[0] == pytest.approx([0.5, 0.5, 0.0])
    assert category_probabilities(np.array([[-1e5]]))[0].tolist() == [1.0]


def test_sampled_categories_follow_the_probabilities() -> None:
    probabilities = np.tile([0.0, 0.2, 0.5, 0.0, 0.3, 0.0], (20_000, 1))
    drawn = np.bincount(sampled(probabilities, np.random.default_rng(0)), minlength=6)
    assert drawn[[0, 3, 5]].tolist() == [0, 0, 0]
    assert chisquare(drawn[[1, 2, 4]], [4000, 10_000, 6000]).pvalue > 1e-3


def test_equal_probabilities_give_the_first_category() -> None:
    assert most_probable(np.array([[0.2, 0.4, 0.4]])).tolist() == [1]


# The grain of numbers in sluice.masking.column_numbers, by hand, and decimals as they are written.


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([35000, 12000, 0], 1000.0),
        ([35725, 12000], 1.0),
        ([1.5, 20, 0.1], 0.1),
        ([-0.25, 3], 0.01),
        ([500_000_000.123, 7], 0.001),
        ([np.pi, 1], 0.0),
        ([1e300, 3e300], 0.0),
        ([0.0, 0.0], 0.0),
        ([], 0.0),
    ],
)
def test_the_grain_is_the_largest_power_of_ten_that_all_are_multiples_of(values: list[float], step: float) -> None:
    assert grain(np.array(values, float)) == step


@given(st.lists(st.integers(-(10**7), 10**7).filter(bool), min_size=1), st.integers(0, 4))
def test_what_is_brought_back_is_written_with_no_more_decimals(whole: list[int], decimals: int) -> None:
    written = np.array([float(Decimal(each).scaleb(-decimals)) for each in whole])
    step = grain(written)
    assert step >= 10.0**-decimals
    assert np.array_equal(on_grain(written, step), written)
    moved = on_grain(written + np.linspace(-0.4, 0.4, len(written)) * step, step)
    assert np.array_equal(moved, written)


def test_without_a_grain_values_stay() -> None:
    values = np.array([0.123456789, np.e])
    assert np.array_equal(on_grain(values, 0.0), values)
