"""What all measures of numbers have in common, and that a record counts as often as it weighs.

A new measure is added to `MEASURES`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.continuous.matrix_comparisons import matrix_comparisons
from sluice.utility.continuous.mean_variations import il1s, mean_variations
from sluice.utility.continuous.moments import moment_differences, pairwise_moments
from sluice.utility.continuous.probabilistic_information_loss import probabilistic_information_loss
from sluice.utility.continuous.rank_correlation_kernel import rank_correlation
from sluice.utility.continuous.released_numbers import NumberColumn
from sluice.utility.correlation_differences import kendall_tau
from sluice.utility.record_weights import effective_records, relative_weight
from tests.golden import golden

Measure = Callable[[FloatArray, FloatArray, FloatArray | None, FloatArray | None], list[float]]


def _of_matrices(original: FloatArray, masked: FloatArray, w: FloatArray | None, v: FloatArray | None) -> list[float]:
    found = matrix_comparisons(original, masked, weights=(w, v)).model_dump()
    figures = [(name, figure) for part in found.values() for name, figure in part.items()]
    return [np.nan if figure is None else figure for name, figure in figures if name != "cells"]


MEASURES: dict[str, Measure] = {
    "moments": lambda x, y, w, v: list(moment_differences(x, y, (w, v))),
    "mean variations": lambda x, y, w, v: list(mean_variations(x, y, weights=(w, v))),
    "matrices": _of_matrices,
    "probabilities": lambda x, y, w, v: list(probabilistic_information_loss(x, y, weights=(w, v))),
    "il1s": lambda x, y, w, v: [il1s(x, y, w)],
    "kendall": lambda x, y, w, v: [*np.abs(kendall_tau(x, w) - kendall_tau(y, v)).ravel()],
}
WITHOUT_A_UNIT = ("moments", "probabilities", "il1s", "kendall")
each_measure = pytest.mark.parametrize("name", MEASURES)


def files(seed: int, n: int = 60) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(n, 3)).round(1) + rng.normal(size=(n, 1))
    masked = original + rng.normal(0, 0.3, (n, 3)) * (rng.random((n, 3)) < 0.5)
    original[rng.random((n, 3)) < 0.1] = np.nan
    masked[rng.random((n, 3)) < 0.1] = np.nan
    return original, masked


def told(name: str, original: FloatArray, masked: FloatArray) -> list[float]:
    return MEASURES[name](original, masked, None, None)


@each_measure
@given(st.integers(0, 2**32))
def test_an_unchanged_file_has_lost_nothing(name: str, seed: int) -> None:
    original, _ = files(seed)
    assert told(name, original, original) == pytest.approx([0] * len(told(name, original, original)), abs=1e-9)


@each_measure
@given(st.integers(0, 2**32))
def test_the_order_of_the_records_does_not_matter(name: str, seed: int) -> None:
    original, masked = files(seed)
    order = np.random.default_rng(seed).permutation(len(original))
    expected = pytest.approx(told(name, original, masked), rel=1e-6, abs=1e-9, nan_ok=True)
    assert told(name, original[order], masked[order]) == expected


@pytest.mark.parametrize("name", WITHOUT_A_UNIT)
@given(st.integers(0, 2**32), st.floats(0.1, 100), st.integers(-5, 5))
def test_neither_unit_nor_origin_matter(name: str, seed: int, unit: float, origin: int) -> None:
    original, masked = files(seed)
    expected = pytest.approx(told(name, original, masked), rel=1e-6, abs=1e-6)
    assert told(name, original * unit + origin, masked * unit + origin) == expected


@each_measure
def test_more_noise_is_more_loss(name: str) -> None:
    rng = np.random.default_rng(1)
    original = rng.normal(5, 1, (2_000, 3)) + rng.normal(size=(2_000, 1))
    noise = rng.normal(size=original.shape)
    losses = [float(np.nansum(told(name, original, original + noise * share))) for share in (0.0, 0.3, 1.0, 3.0)]
    assert losses == sorted(losses)
    assert losses[-1] > losses[1] > 0


@each_measure
def test_without_records_or_values_nothing_is_known_or_all_is_lost(name: str) -> None:
    nothing, some = np.empty((0, 3)), np.arange(15.0).reshape(5, 3) ** 2
    assert np.isnan(told(name, nothing, nothing)).all()
    of_blanks = np.array(told(name, some, np.full((5, 3), np.nan)))
    assert (np.isnan(of_blanks) | (of_blanks > 0)).all()


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "kendall"])
def test_files_of_other_columns_are_refused(name: str) -> None:
    golden.refused(DataError, told, name, np.ones((3, 2)), np.ones((3, 3)))


@each_measure
@given(st.integers(0, 2**32), st.sampled_from([1.0, 3.0, 1e-200, 1e200]))
def test_equal_weights_of_any_size_are_none(name: str, seed: int, size: float) -> None:
    original, masked = files(seed)
    weight = np.full(len(original), size)
    measure = MEASURES[name]
    expected = measure(original, masked, None, None)
    assert measure(original, masked, weight, weight) == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


@each_measure
@given(st.integers(0, 2**32))
def test_a_record_of_weight_0_is_not_there(name: str, seed: int) -> None:
    original, masked = files(seed)
    weight = np.random.default_rng(seed).choice([0.0, 1.0, 2.5], len(original))
    kept = weight > 0
    measure = MEASURES[name]
    with_them = measure(original, masked, weight, weight)
    without = measure(original[kept], masked[kept], weight[kept], weight[kept])
    assert with_them == pytest.approx(without, rel=1e-9, abs=1e-12, nan_ok=True)


@given(st.integers(0, 2**32))
def test_whole_weights_are_repeated_records(seed: int) -> None:
    """Means, correlations of all three kinds and mean changes; a variance has the records' n - 1, not the weights'."""
    original, masked = files(seed)
    times = np.random.default_rng(seed).integers(1, 4, len(original))
    weight = times.astype(np.float64)
    again = np.repeat(original, times, axis=0), np.repeat(masked, times, axis=0)
    found, expected = pairwise_moments(original, weight), pairwise_moments(again[0])
    assert found.mean == pytest.approx(expected.mean)
    assert found.correlation == pytest.approx(expected.correlation)
    assert kendall_tau(original, weight) == pytest.approx(kendall_tau(again[0]))
    both = ~np.isnan(again[0][:, :2]).any(axis=1)
    assert kendall_tau(original, weight)[0, 1] == pytest.approx(kendalltau(*again[0][both, :2].T).statistic)
    one, other = (NumberColumn.of(original[:, at]) for at in range(2))
    spearman, records = rank_correlation(one.codes, len(one.values), other.codes, len(other.values), weight)
    assert spearman == pytest.approx(spearmanr(*again[0][both, :2].T).statistic)
    assert records == int((~np.isnan(original[:, :2]).any(axis=1)).sum())
    values = mean_variations(original, masked, weights=(weight, weight)).values
    assert values == pytest.approx(mean_variations(*again).values)
    relative = matrix_comparisons(original, masked, weights=(weight, weight)).values
    repeated = matrix_comparisons(*again).values
    assert relative.mean_square_error == pytest.approx(repeated.mean_square_error)
    assert relative.mean_absolute_error == pytest.approx(repeated.mean_absolute_error)


def test_covariances_are_those_of_numpy() -> None:
    original, _ = files(1)
    original = original[~np.isnan(original).any(axis=1)]
    weight = np.random.default_rng(2).gamma(1, 1000, len(original))
    found, n = pairwise_moments(original, weight), len(original)
    assert found.covariance == pytest.approx(np.cov(original.T, aweights=weight, ddof=0) * n / (n - 1))
    assert found.mean == pytest.approx(np.average(original, axis=0, weights=weight))
    assert (found.records == n).all()
    assert found.effective == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert effective_records(weight, n) == pytest.approx(found.effective[0, 0])


def test_a_missing_value_takes_its_weight_with_it() -> None:
    values = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 5.0], [np.nan, 1.0], [7.0, 3.0]])
    weight = np.array([1.0, 10.0, 2.0, 30.0, 4.0])
    found, both = pairwise_moments(values, weight), [0, 2, 4]
    expected = np.cov(values[both].T, aweights=weight[both], ddof=0) * 3 / 2
    assert found.covariance[0, 1] == pytest.approx(expected[0, 1])
    assert found.effective[0, 1] == pytest.approx(7**2 / (1 + 4 + 16))
    assert found.mean[0] == pytest.approx((1 + 20 + 6 + 28) / 17)


def test_kendall_of_a_population_by_all_its_pairs() -> None:
    original, _ = files(3)
    original = original[~np.isnan(original).any(axis=1), :2]
    weight = np.random.default_rng(3).gamma(1, 1, len(original))
    pairs = np.outer(weight, weight)[np.triu_indices(len(weight), 1)]
    signs = [np.sign(np.subtract.outer(column, column))[np.triu_indices(len(weight), 1)] for column in original.T]
    untied = [(pairs * (sign != 0)).sum() for sign in signs]
    expected = (pairs * signs[0] * signs[1]).sum() / np.sqrt(untied[0] * untied[1])
    assert kendall_tau(original, weight)[0, 1] == pytest.approx(expected)


def test_the_probability_of_a_mean_is_that_of_effectively_so_many_records() -> None:
    rng = np.random.default_rng(4)
    original = rng.normal(size=(4000, 1))
    masked = original + 0.01
    weight = np.where(np.arange(4000) < 1000, 1.0, 1e-9)  # a quarter of them counts
    quarter = probabilistic_information_loss(original[:1000], masked[:1000])
    weighted = probabilistic_information_loss(original, masked, weights=(weight, weight))
    assert list(weighted) == pytest.approx(list(quarter), rel=0.02, nan_ok=True)
    assert weighted.means < probabilistic_information_loss(original, masked).means


@pytest.mark.parametrize("weight", [np.array([1.0, np.nan]), np.array([1.0, -1.0]), np.array([1.0]), [1.0, np.inf]])
def test_weights_that_do_not_fit_are_refused(weight: FloatArray) -> None:
    golden.refused(DataError, relative_weight, np.asarray(weight), 2)
    values = np.array([[1.0, 2.0], [2.0, 3.0]])
    for measure in MEASURES.values():
        golden.refused(DataError, measure, values, values, np.asarray(weight), np.asarray(weight))


def test_adult_by_its_weights(reference_data: Path) -> None:
    """What an analyst of the population finds, by pandas on as many copies as there are people, in ten thousands."""
    columns = [0, 2, 4, 12]  # age, weight, years of education, hours a week
    frame = pd.read_csv(reference_data / "adult" / "adult.data.gz", header=None, nrows=3_000, usecols=columns)
    times = (frame[2] / 10_000).round().astype(int)
    values = frame[[0, 4, 12]].to_numpy(np.float64)
    copies = pd.DataFrame(np.repeat(values, times, axis=0))
    weight = times.to_numpy(np.float64)
    assert pairwise_moments(values, weight).correlation == pytest.approx(copies.corr().to_numpy())
    assert kendall_tau(values, weight) == pytest.approx(copies.corr("kendall").to_numpy())
