import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sluice.ground.arrays import FloatArray
from sluice.ground.variables import Kind, Variable
from sluice.risk.measurement import Measurement
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.linear_change import CLOSE, Filtering, LinearChange, linear_map
from tests.risk.transparency.paired import paired


def pairs(original: FloatArray, masked: FloatArray) -> Pairs:
    names = [f"x{at}" for at in range(original.shape[1])]
    before, after = (pd.DataFrame(values, columns=names) for values in (original, masked))
    return paired(before, after, {})


def found(original: FloatArray, masked: FloatArray) -> tuple[float, float]:
    attack = LinearChange(tuple(f"x{at}" for at in range(original.shape[1])), "the noise")
    identified, confident = attack.play(pairs(original, masked))
    return identified.measured.value, confident.measured.value


def people(n: int, d: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((n, d))


def test_the_likelihood_is_that_of_the_noise() -> None:
    # Fuller (1993): with noise of known covariance the distance is measured in units of the noise, by direction.
    original, scale = people(4000, 2), np.array([0.1, 3.0])
    masked = original + people(4000, 2, 1) * scale
    logs = LinearChange(("x0", "x1"), "the noise").likelihood(pairs(original, masked))(np.arange(5))
    expected = -0.5 * (((masked[None] - original[:5, None]) / scale) ** 2).sum(axis=2)
    near = expected > -20
    assert np.abs(logs - expected)[near].max() < 1.5  # the covariance is learned from 2,000 pairs
    assert np.corrcoef(logs[near], expected[near])[0, 1] > 0.999


@given(st.integers(0, 1000))
def test_the_map_does_not_depend_on_the_unit(seed: int) -> None:
    before, after = people(50, 3, seed), people(50, 2, seed + 1)
    units, shift = np.array([1e-6, 1.0, 1e9]), np.array([5.0, -3.0, 0.0])
    one, left = linear_map(before, after)
    other, left_too = linear_map(before * units + shift, after)
    ones = np.ones((50, 1))
    predicted = np.hstack([before, ones]) @ one
    np.testing.assert_allclose(np.hstack([before * units + shift, ones]) @ other, predicted, atol=1e-5)
    np.testing.assert_allclose(left, left_too, atol=1e-5)


def test_a_projection_hides_nobody_and_an_independent_file_everybody() -> None:
    original = people(500, 4)
    axis = np.linalg.qr(people(4, 4, 3))[0][:, :2]
    assert found(original, original @ axis @ axis.T) == (1.0, 1.0)
    identified, confident = found(original, people(500, 4, 9))
    assert identified < 0.02
    assert confident < 0.005


def test_people_who_miss_values_are_compared_with_those_who_miss_the_same() -> None:
    original = people(900, 3)
    original[::3, 0] = np.nan
    masked = original + 0.05 * people(900, 3, 1)
    assert found(original, masked)[0] > 0.8
    logs = LinearChange(("x0", "x1", "x2"), "").likelihood(pairs(original, masked))(np.array([0, 1]))
    assert np.isneginf(logs[0, 1::3]).all()
    assert np.isneginf(logs[1, ::3]).all()
    filled = np.where(np.isnan(masked), 0.0, masked)
    assert found(original, filled)[0] == pytest.approx(2 / 3, abs=0.3)  # those who miss none are found as before


def test_a_stratum_of_few_people_is_attacked_as_if_nothing_but_noise_was_added() -> None:
    original = people(12, 10)
    assert found(original, original + 0.05 * people(12, 10, 1))[0] > 0.9
    before, after = people(3, 4), people(3, 4, 1)
    expected, scatter = linear_map(before, after)
    np.testing.assert_array_equal(expected, np.vstack([np.eye(4), np.zeros(4)]))
    np.testing.assert_allclose(np.diag(scatter), ((after - before) ** 2).mean(axis=0))


def played(original: FloatArray, masked: FloatArray) -> Measurement:
    names = tuple(f"x{at}" for at in range(original.shape[1]))
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in names}
    before, after = (pd.DataFrame(values, columns=list(names)) for values in (original, masked))
    (leak,) = Filtering(names, "the noise").play(paired(before, after, variables))
    assert leak.kind == "reconstructed"
    return leak.measured


def test_noise_on_copies_of_one_variable_is_averaged_away() -> None:
    rng = np.random.default_rng(1)
    original = np.repeat(rng.standard_normal((4000, 1)), 25, axis=1)
    measured = played(original, original + 0.5 * rng.standard_normal(original.shape))
    # The mean of 25 values has a fifth of the noise: what of a normal law of this deviation lies within a tenth.
    left = 1 / np.sqrt(1 + 25 / 0.25)
    assert measured.value == pytest.approx(2 * norm.cdf(CLOSE / left) - 1, abs=0.02)
    assert measured.baseline == pytest.approx(2 * norm.cdf(CLOSE / 0.5) - 1, abs=0.02)


def test_noise_on_unrelated_variables_stays() -> None:
    rng = np.random.default_rng(2)
    original = rng.standard_normal((4000, 5))
    measured = played(original, original + 0.5 * rng.standard_normal(original.shape))
    assert measured.value < measured.baseline + 0.05
