import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from scipy.stats.contingency import association

from sluice.utility.common_bins import common_bins
from sluice.utility.continuous.released_numbers import ReleasedNumbers
from sluice.utility.correlation_differences import (
    cramers_v,
    cramers_v_differences,
    half_width,
    kendall_differences,
    kendall_tau,
    pearson_differences,
)
from sluice.utility.marginals import MarginalTables
from tests.typed_frame import typed_frame

columns = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=2, max_size=40)

RNG = np.random.default_rng(0)


def numbers(original: np.ndarray, masked: np.ndarray) -> ReleasedNumbers:
    names = tuple("xyz"[: original.shape[1]])
    return ReleasedNumbers(names, (), original, masked)


def values(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, x + rng.normal(size=n), rng.normal(size=n)])


@given(st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=2, max_size=5))
def test_v_agrees_with_scipy(rows: list[list[int]]) -> None:
    table = np.array(rows, dtype=float)
    held = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(held.shape) < 2:
        assert np.isnan(cramers_v(table))
        return
    expected = association(held.astype(int), method="cramer")
    assert cramers_v(table) == pytest.approx(expected, abs=1e-9)


def test_r_and_tau_agree_with_numpy_and_scipy_and_the_worst_pair_is_named() -> None:
    before, after = values(300, 0), values(200, 1)
    after[:, 1] = np.random.default_rng(2).permutation(after[:, 1])
    r, tau = pearson_differences(numbers(before, after)), kendall_differences(numbers(before, after), RNG)
    upper = np.triu_indices(3, 1)
    assert r.original[upper] == pytest.approx(np.corrcoef(before.T)[upper])
    assert r.mean == pytest.approx(np.abs(np.corrcoef(before.T) - np.corrcoef(after.T))[upper].mean())
    assert tau.masked[0, 1] == pytest.approx(kendalltau(after[:, 0], after[:, 1]).statistic)
    assert (tau.records, tau.margin, tau.pairs) == (None, None, 3)
    for found in (r, tau):
        (worst,) = found.worst(1)
        assert worst[:2] == ("x", "y")
        assert worst[2] > 0.4
        assert abs(worst[3]) < 0.2


def test_v_sees_recoding_and_removal_as_losses() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(list("abcd"), 4_000)
    frame = pd.DataFrame(
        {"town": town, "club": np.where(rng.random(4_000) < 0.8, town, "a"), "sex": list("mf") * 2_000}
    )
    original, variables = typed_frame(frame)
    recoded, released = typed_frame(frame.drop(columns="sex").replace({"town": dict.fromkeys("abcd", "any")}))
    bins = common_bins(original, recoded, recoded, variables, released)
    found = cramers_v_differences(MarginalTables(bins, 2))
    (worst, *_) = found.worst(3)
    assert worst[:2] == ("town", "club")
    assert worst[2] > 0.7
    assert worst[3] == pytest.approx(0, abs=1e-9)
    assert found.masked[0, 2] == 0  # the removed variable goes with nothing
    same = cramers_v_differences(MarginalTables(common_bins(original, original, original, variables, variables), 2))
    assert same.mean == 0


def test_v_is_of_the_records_that_have_both_values() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(list("mf"), 2_000), "town": rng.choice(list("abc"), 2_000)})
    original, variables = typed_frame(frame)
    lost = original.copy()
    lost.iloc[:4] = np.nan  # the same few records lost both: that is no association of sex and town
    found = cramers_v_differences(MarginalTables(common_bins(original, lost, lost, variables, variables), 2))
    held = association(pd.crosstab(frame["sex"][4:], frame["town"][4:]).to_numpy(), method="cramer")
    assert found.masked[0, 1] == pytest.approx(held, abs=1e-9)
    assert found.mean < 0.01


def test_of_many_records_some_are_drawn_and_the_margin_says_so() -> None:
    before = values(3_000, 0)
    found = kendall_differences(numbers(before, before), np.random.default_rng(0), most=500)
    assert found.records == (500, 500)
    assert found.margin == pytest.approx(1.96 * np.sqrt(2 / 500), rel=1e-3)
    assert found.mean == 0  # the same records of both
    whole = kendall_differences(numbers(before, before), np.random.default_rng(0))
    assert np.nanmax(np.abs(found.original - whole.original)) < found.margin
    other = kendall_differences(numbers(before, before[:400]), np.random.default_rng(0), most=500)
    assert other.records == (500, 400)


def test_a_constant_or_removed_number_goes_with_nothing_and_without_pairs_nothing_is_known() -> None:
    before = values(50, 0)[:, :2]
    for gone in (np.nan, 3.0):
        after = before.copy()
        after[:, 1] = gone
        found = pearson_differences(numbers(before, after))
        assert found.worst(1)[0][3] == 0
        assert found.mean == pytest.approx(abs(np.corrcoef(before.T)[0, 1]))
    assert np.isnan(pearson_differences(numbers(before[:, :1], before[:, :1])).mean)
    both = np.full((5, 2), 1.0)
    assert pearson_differences(numbers(both, both)).worst(3) == ()
    assert np.isnan(cramers_v(np.array([[np.nan, 1.0], [1.0, 1.0]])))


def test_the_example_of_r() -> None:
    """R 4, help of cor.test: lightness and quality of canned tuna, T = 26 of 36 pairs concordant, tau = 0.4444444."""
    lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    quality = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    assert kendall_tau(np.array([lightness, quality]).T)[0, 1] == pytest.approx(0.4444444, abs=1e-7)


@given(columns)
def test_agrees_with_scipy(rows: list[tuple[int, int]]) -> None:
    values = np.array(rows, dtype=float)
    expected = kendalltau(values[:, 0], values[:, 1]).statistic
    assert kendall_tau(values)[0, 1] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(st.integers(0, 2**32))
def test_missing_values_order_and_scale_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(60, 3)).round(1)
    values[rng.random((60, 3)) < 0.2] = np.nan
    found = kendall_tau(values)
    both = values[~np.isnan(values[:, :2]).any(axis=1), :2]
    assert found[0, 1] == pytest.approx(kendalltau(*both.T).statistic)
    assert kendall_tau(np.exp(values[rng.permutation(60)])) == pytest.approx(found)
    assert kendall_tau(-values)[0, 2] == pytest.approx(found[0, 2])


def test_a_large_file() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    values = np.column_stack([x, x + rng.normal(size=20_000), np.round(x)])
    found = kendall_tau(values)
    for i, j in ((0, 1), (1, 2), (0, 2)):
        assert found[i, j] == pytest.approx(kendalltau(values[:, i], values[:, j]).statistic, abs=1e-12)


def test_extremes() -> None:
    rising = np.arange(5.0)
    assert kendall_tau(np.column_stack([rising, -rising])) == pytest.approx(np.array([[1, -1], [-1, 1]]))
    constant = kendall_tau(np.column_stack([rising, np.ones(5)]))
    assert np.isnan(constant[0, 1])
    assert np.isnan(constant[1, 1])
    assert np.isnan(kendall_tau(np.array([[1.0, np.nan], [np.nan, 2.0]]))[0, 1])
    assert kendall_tau(np.zeros((0, 2))).shape == (2, 2)


def test_the_interval_of_a_sample_holds() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=4_000)
    values = np.column_stack([x, x + rng.normal(size=4_000)])
    whole = kendall_tau(values)[0, 1]
    drawn = [kendall_tau(values[rng.permutation(4_000)[:200]])[0, 1] for _ in range(200)]
    assert np.mean(np.abs(np.array(drawn) - whole) <= half_width(200)) >= 0.95
