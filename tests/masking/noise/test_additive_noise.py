"""Additive noise. Published figures: tests/published/test_lasko_vinterbo_masking.py."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from sluice.masking.noise.additive_noise import (
    AdditiveNoise,
    corrected,
    correlated_noise,
    spectral_axes,
    uncorrelated_noise,
)
from tests.golden import golden
from tests.masking.survey import drawn


@pytest.fixture(scope="module")
def correlated_data() -> np.ndarray:
    """50,000 records of three columns on very different scales, correlations .6 to .9."""
    mixing = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.9, 0.2, 0.3]])
    return np.random.default_rng(0).normal(size=(50_000, 3)) @ mixing.T * [1.0, 1e-3, 1e4] + [0.0, 5.0, -1e5]


def test_noise_has_the_properties_of_the_slides(correlated_data: np.ndarray) -> None:
    """Torra (2013), "Uncorrelated noise": Var(X') = (1 + k) Var(X), covariances kept, correlations divided by 1 + k;
    "Correlated noise": the covariance matrix is (1 + k) times the original's, correlations are kept."""
    before, correlations = np.cov(correlated_data.T), np.corrcoef(correlated_data.T)
    own, among = np.diag_indices(3), np.triu_indices(3, 1)
    for noise, of_covariances, of_correlations in ((uncorrelated_noise, 1, 1 / 1.5), (correlated_noise, 1.5, 1)):
        masked = correlated_data + noise(correlated_data, 0.5, np.random.default_rng(1))
        ratios = np.cov(masked.T) / before
        assert ratios[own] == pytest.approx(1.5, rel=0.02)
        assert ratios[among] == pytest.approx(of_covariances, rel=0.02)
        assert np.corrcoef(masked.T)[among] == pytest.approx(of_correlations * correlations[among], abs=0.01)


def test_the_correction_keeps_means_exactly_and_covariances_in_expectation(correlated_data: np.ndarray) -> None:
    noise = correlated_noise(correlated_data, 0.5, np.random.default_rng(1))
    masked = corrected(correlated_data, noise, 0.5)
    spread = correlated_data.std(axis=0)
    for column in range(3):
        moved = masked[:, column].mean() - correlated_data[:, column].mean()
        assert moved / spread[column] == pytest.approx(0, abs=1e-11)
    assert np.cov(masked.T) / np.cov(correlated_data.T) == pytest.approx(1, rel=0.02)
    # The formula of Lasko and Vinterbo (2010): mean + (A + e - mean) / sqrt(1 + b), with e centred.
    mean = correlated_data.mean(axis=0)
    formula = mean + (correlated_data + (noise - noise.mean(axis=0)) - mean) / np.sqrt(1.5)
    assert (masked - formula) / spread == pytest.approx(0, abs=1e-9)


def test_the_correction_holds_in_expectation_over_small_files() -> None:
    original = np.random.default_rng(0).normal(size=(12, 2)) @ np.array([[1.0, 0.7], [0.0, 0.7]])
    rng = np.random.default_rng(1)
    covariances = [np.cov(corrected(original, correlated_noise(original, 1.0, rng), 1.0).T) for _ in range(1000)]
    assert np.mean(covariances, axis=0) == pytest.approx(np.cov(original.T), rel=0.06)


@pytest.mark.parametrize("draw", [uncorrelated_noise, correlated_noise])
def test_the_exact_correction_keeps_means_and_variances(draw: Callable[..., np.ndarray]) -> None:
    """And leaves the correlations of the uncorrected values, because it only rescales columns."""
    original = np.random.default_rng(0).lognormal(size=(40, 3)) * [1.0, 1e-6, 1e6]
    original[::7, 1] = np.nan
    noise = draw(original, 2.0, np.random.default_rng(1))
    masked = corrected(original, noise, 2.0, exact=True)
    assert np.nanmean(masked, axis=0) == pytest.approx(np.nanmean(original, axis=0), rel=1e-12)
    assert np.nanvar(masked, axis=0) == pytest.approx(np.nanvar(original, axis=0), rel=1e-12)
    complete = ~np.isnan(original).any(axis=1)
    plain = np.corrcoef((original + noise)[complete].T)
    assert np.corrcoef(masked[complete].T) == pytest.approx(plain, abs=1e-12)


def test_the_axes_are_those_of_the_singular_value_decomposition() -> None:
    """Lasko and Vinterbo (2010), section III-A: on them the standardised columns are uncorrelated, with variances D^2 /
    (n - 1).
    """
    original = np.random.default_rng(0).lognormal(size=(50, 4)) * [1.0, 10.0, 1e-3, 1.0]
    means, deviations, axes = spectral_axes(original)
    assert means == pytest.approx(original.mean(axis=0))
    assert deviations == pytest.approx(original.std(axis=0, ddof=1))
    standardised = (original - means) / deviations
    sizes = np.linalg.svd(standardised, compute_uv=False)
    assert np.cov((standardised @ axes).T) == pytest.approx(np.diag(sizes[::-1] ** 2 / 49), abs=1e-12)
    assert spectral_axes(np.full((3, 2), 0.1))[1].tolist() == [1, 1]


def test_no_noise_changes_nothing() -> None:
    original = np.random.default_rng(0).normal(size=(10, 2))
    rng = np.random.default_rng(0)
    assert (uncorrelated_noise(original, 0.0, rng) == 0).all()
    assert (correlated_noise(original, 0.0, rng) == 0).all()
    assert corrected(original, np.zeros((10, 2)), 0.0) == pytest.approx(original, abs=1e-15)


def test_collinear_variables_stay_collinear_under_correlated_noise() -> None:
    """A total and its parts; there is no Cholesky factor. Fewer records than columns, too."""
    parts = np.random.default_rng(0).lognormal(size=(4, 5))
    original = np.column_stack([parts, parts.sum(axis=1)])
    masked = original + correlated_noise(original, 0.3, np.random.default_rng(1))
    assert masked[:, :5].sum(axis=1) == pytest.approx(masked[:, 5], rel=1e-6)
    assert not np.allclose(masked, original)


def test_each_column_gets_its_share_of_noise_with_missing_values() -> None:
    """Standard deviations are those of all values of a column, also of records that miss another."""
    rng = np.random.default_rng(0)
    original = rng.normal(size=(100_000, 2))
    original[:50_000, 0] *= 3.0
    original[:50_000, 1] = np.nan
    noise = correlated_noise(original, 0.2, rng)
    assert np.nanvar(noise, axis=0) / np.nanvar(original, axis=0) == pytest.approx([0.2, 0.2], rel=0.03)
    assert (np.isnan(noise) == np.isnan(original)).all()


# --- the step -------------------------------------------------------------------------------------------------------

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=200.5, nullable=True),
    "age": Variable(
        name="age",
        kind=Kind.INTEGER,
        minimum=17.5,
        maximum=90.7,
        nullable=True,
        missing_codes=("-9",),
        hierarchy=Hierarchy(rows={"30": ("30-39",)}),
    ),
    "constant": Variable(name="constant", kind=Kind.CONTINUOUS),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south")),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed, 0.2).assign(constant=0.1)


def numeric_survey(n: int) -> pd.DataFrame:
    """Without missing values; three columns that vary together and one that does not."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=n)
    frame = pd.DataFrame({name: common + 0.5 * rng.normal(size=n) for name in ("first", "second", "third")})
    frame["second"] *= 1e5
    return frame.assign(constant=0.1)


NUMERIC = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("first", "second", "third", "constant")}


def test_spectral_noise_is_correlated_noise_in_another_notation() -> None:
    """Lasko and Vinterbo (2010), section V: amount times each axis' variance, along that axis, is amount times the
    covariance matrix.
    """
    frame = numeric_survey(100_000)
    step = AdditiveNoise(columns=tuple(NUMERIC), kind="spectral", amount=0.5)
    masked = step.mask(frame, NUMERIC, np.random.default_rng(1))
    noise = (masked - frame)[["first", "second", "third"]].to_numpy()
    expected = 0.5 * np.cov(frame[["first", "second", "third"]].T)
    assert np.cov(noise.T) / expected == pytest.approx(1, abs=0.03)
    assert (masked["constant"] == 0.1).all()


@pytest.mark.parametrize("kind", ["uncorrelated", "correlated"])
def test_the_step_adds_its_noise_once(kind: str) -> None:
    frame = numeric_survey(20_000)
    step = AdditiveNoise(columns=("first", "second"), kind=kind, amount=0.5)
    noise = step.mask(frame, NUMERIC, np.random.default_rng(1)) - frame
    assert (noise.var() / frame.var())[["first", "second"]].tolist() == pytest.approx([0.5, 0.5], rel=0.05)


@given(n=st.integers(5, 60), seed=st.integers(0, 1000), amount=st.sampled_from([0.01, 1.0, 30.0]))
def test_spectral_noise_corrected_exactly_keeps_every_mean_and_variance(n: int, seed: int, amount: float) -> None:
    frame = numeric_survey(n)
    step = AdditiveNoise(columns=tuple(NUMERIC), kind="spectral", amount=amount, corrected="exact")
    masked = step.mask(frame, NUMERIC, np.random.default_rng(seed))
    assert masked.mean().to_numpy() == pytest.approx(frame.mean().to_numpy(), rel=1e-9, abs=1e-9)
    assert masked.var().to_numpy() == pytest.approx(frame.var().to_numpy(), rel=1e-9, abs=1e-9)
    assert not np.allclose(masked, frame)


def test_spectral_noise_is_corrected_on_the_axes() -> None:
    """Each spectral coordinate keeps its mean, and in expectation its variance."""
    frame = numeric_survey(20_000)
    step = AdditiveNoise(columns=tuple(NUMERIC), kind="spectral", amount=1.0, corrected=True)
    masked = step.mask(frame, NUMERIC, np.random.default_rng(3))
    means, deviations, axes = spectral_axes(frame.to_numpy())
    before, after = (((data.to_numpy() - means) / deviations) @ axes for data in (frame, masked))
    assert after.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert after.var(axis=0) == pytest.approx(before.var(axis=0), rel=0.05, abs=1e-9)


def test_released_descriptions() -> None:
    dropped = AdditiveNoise(columns=("income", "age"), amount=0.1).released(VARIABLES)
    assert (dropped["income"].minimum, dropped["income"].maximum) == (None, None)
    assert (dropped["age"].kind, dropped["age"].hierarchy, dropped["age"].missing_codes) == (Kind.CONTINUOUS, None, ())
    assert dropped["age"].nullable
    kept = AdditiveNoise(columns=("income", "age"), amount=0.1, clip=True, round=True).released(VARIABLES)
    assert (kept["income"].minimum, kept["income"].maximum) == (0, 200.5)
    assert kept["age"].kind is Kind.INTEGER


def of_two(*columns: str, **changed: Any) -> AdditiveNoise:
    return AdditiveNoise.model_validate({"columns": columns or ("income", "age"), "amount": 0.1} | changed)


APART = {"income": [1.0, 2.0, 3.0] + [np.nan] * 3, "age": pd.array([None, None, 30, 40, 50, 60], dtype="Int64")}


@pytest.mark.parametrize(
    ("step", "frame"),
    [
        (of_two("constant"), survey(1)),
        (of_two(kind="correlated"), survey(6).assign(**APART)),
        (of_two(kind="spectral"), survey(30)),
        (of_two("constant", corrected="exact"), survey(2)),
        (of_two("income", corrected=True), survey(30).assign(income=1e200 * np.arange(30))),
        (of_two("age", amount=100.0, round=True), survey(3).assign(age=pd.array([2**62, -(2**62), 0], dtype="Int64"))),
    ],
)
def test_what_cannot_be_masked_is_refused_without_showing_a_value(step: AdditiveNoise, frame: pd.DataFrame) -> None:
    with golden.raises(PlanError):
        step.mask(frame, VARIABLES, np.random.default_rng(0))
