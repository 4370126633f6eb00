"""sluice.masking.synthesis.drawn_amounts: Silverman's formula, and what a blurred amount may not become."""

import numpy as np
import pytest

from sluice.ground.arrays import FloatArray
from sluice.masking.synthesis.drawn_amounts import is_skewed, kernel_noise, reflected, smoothed

PEOPLE = 4000


def amounts(seed: int = 0, losses: float = 0.0) -> FloatArray:
    """Two of three people have none; of the others few have most, and a share of them a loss."""
    rng = np.random.default_rng(seed)
    some = np.exp(7 + rng.normal(0, 1, PEOPLE)) * np.where(rng.random(PEOPLE) < losses, -1, 1)
    return np.where(rng.random(PEOPLE) < 2 / 3, 0.0, some)


def blurred(values: FloatArray, leaves: int = 50, heap: int = 40) -> FloatArray:
    """Everybody's own value, in leaves that know nothing of it."""
    rng = np.random.default_rng(1)
    return smoothed(values, rng.integers(0, leaves, len(values)), np.arange(len(values)), heap, rng)[0]


@pytest.mark.parametrize("losses", [0.0, 0.3])
def test_who_has_none_has_none_and_nobody_has_less_than_the_least(losses: float) -> None:
    values = amounts(losses=losses)
    drawn = blurred(values)
    assert np.array_equal(np.sign(drawn), np.sign(values))
    some = values != 0
    assert np.abs(drawn[some]).min() >= np.abs(values[some]).min() * (1 - 1e-9)
    before, after = (np.log(np.abs(each[some])).std() for each in (values, drawn))
    assert after == pytest.approx(before, rel=0.1)


def test_of_few_on_one_side_in_a_leaf_nobody_keeps_an_own_amount() -> None:
    """Two thirds of a leaf have none: what ten others of it have would be hardly blurred, were they alike."""
    values = amounts()
    some = values != 0
    assert not (blurred(values, leaves=200)[some] == values[some]).any()
    few = np.where(np.arange(PEOPLE) < 3, 500.0 + np.arange(PEOPLE), 0.0)
    assert not np.isin(few[:3], blurred(few, leaves=1)).any()


def test_what_few_have_is_skewed_on_either_side_and_beside_any_number_without() -> None:
    rng = np.random.default_rng(2)
    assert all(map(is_skewed, (amounts(), -amounts(), amounts(losses=0.5))))
    assert not any(map(is_skewed, (rng.normal(40, 8, PEOPLE), np.zeros(9), np.zeros(0))))


def test_where_any_number_is_as_good_as_another_0_is_no_side() -> None:
    """Temperatures: a blurred one may be on the other side."""
    values = np.random.default_rng(3).normal(size=PEOPLE)
    drawn = blurred(values)
    assert (np.sign(drawn) != np.sign(values)).any()
    assert np.corrcoef(drawn, values)[0, 1] > 0.9


def test_the_bandwidth_is_silvermans() -> None:
    # 0.9 min(s, IQR / 1.34) n^(-1/5): normal values of deviation 2, n = 10,000 give 0.9 * 2 * 0.158 = .285
    rng = np.random.default_rng(0)
    values = rng.normal(0, 2, 10_000)
    noise = kernel_noise(values, np.zeros(10_000, dtype=int), np.arange(10_000), 5, rng)
    assert noise.std() == pytest.approx(0.285, abs=0.015)
    heaped = np.where(np.arange(10_000) % 3 == 0, 0.0, values)
    noise = kernel_noise(heaped, np.zeros(10_000, dtype=int), np.arange(10_000), 5, rng)
    assert ((noise == 0) == (heaped == 0)).all()


def test_values_are_thrown_back_at_the_ends() -> None:
    np.testing.assert_allclose(reflected(np.array([-1.0, 0, 4, 10, 12, 23]), 0, 10), [1, 0, 4, 10, 8, 3])
    np.testing.assert_allclose(reflected(np.array([3.0, 9]), 5, 5), [5, 5])
