import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.verdict import Verdict
from sluice.utility.quantiles import PROBABILITIES, order_statistics, quantile_change
from tests.utility.files import files, judge

LIMITS = {"quantiles": {"at_most": 0.05}, "gini": {"at_most": 0.01}}

samples = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=40)


@given(samples)
def test_agrees_with_numpy_and_with_the_definition_of_gini(rows: list[tuple[int, int]]) -> None:
    x, w = np.array(rows, dtype=float).T
    found = order_statistics(x, w)
    repeated = np.repeat(x, w.astype(int))
    assert found.quantiles.tolist() == np.quantile(repeated, PROBABILITIES, method="inverted_cdf").tolist()
    assert order_statistics(repeated).quantiles.tolist() == found.quantiles.tolist()
    if x.sum():
        mean = np.average(x, weights=w)
        differences = (np.abs(x[:, None] - x) * w[:, None] * w).sum() / w.sum() ** 2
        assert found.gini == pytest.approx(differences / (2 * mean), abs=1e-12)
        assert found.ratio >= 1 - 1e-12
        assert order_statistics(repeated).ratio == pytest.approx(found.ratio)


def test_worked_by_hand() -> None:
    incomes = np.array([1.0, 2, 3, 4, 10])
    found = order_statistics(incomes)
    assert found.ratio == pytest.approx(10)
    # sum of |x - y| over all ordered pairs is 80: 80 / 25 / (2 * 4)
    assert found.gini == pytest.approx(0.4)
    assert found.quantiles.tolist() == [1, 2, 3, 4, 10]
    # of ten people the poorest two have 1 + 1, the richest two 10 + 10
    assert order_statistics(incomes, np.full(5, 2.0)).ratio == pytest.approx(10)


@given(samples, st.floats(0.1, 100), st.randoms())
def test_scale_and_order_do_not_matter(rows: list[tuple[int, int]], factor: float, random: object) -> None:
    x, w = np.array(rows, dtype=float).T
    one, other = order_statistics(x, w), order_statistics(x[::-1] * factor, w[::-1] * 3)
    assert other.gini == pytest.approx(one.gini, nan_ok=True, abs=1e-9)
    assert other.ratio == pytest.approx(one.ratio, nan_ok=True)
    assert quantile_change(one, one).mean == 0


def test_changes_are_by_the_interquartile_range() -> None:
    before = order_statistics(np.arange(1.0, 101))
    after = order_statistics(np.arange(1.0, 101) + 5)
    change = quantile_change(before, after)
    assert change.quantiles == pytest.approx(np.full(5, 5 / 50))
    assert change.mean == pytest.approx(0.1)
    assert change.gini[1] < change.gini[0]


def test_extremes() -> None:
    same = order_statistics(np.full(10, 3.0))
    assert (same.gini, same.ratio) == (pytest.approx(0), pytest.approx(1))
    poor = order_statistics(np.array([0.0] * 9 + [1.0]))
    assert (poor.gini, poor.ratio) == (pytest.approx(0.9), float("inf"))
    debts = order_statistics(np.array([-1.0, 2, 3]))
    assert np.isnan(debts.gini)
    assert np.isnan(debts.ratio)
    nothing = order_statistics(np.array([np.nan]))
    assert np.isnan(nothing.quantiles).all()
    assert np.isnan(quantile_change(same, nothing).mean)
    assert quantile_change(same, order_statistics(np.full(10, 4.0))).mean == float("inf")
    mostly = np.array([0.0] * 80 + [1.0] * 20)
    assert quantile_change(order_statistics(mostly), order_statistics(1 - mostly)).mean == pytest.approx(0.6)
    assert np.isnan(order_statistics(np.zeros(3)).gini)
    assert order_statistics(np.array([1.0, 9.0]), np.array([1.0, 0.0])).quantiles.tolist() == [1] * 5


def data(n: int = 1_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"income": np.exp(rng.normal(size=n)).round(4), "x": rng.normal(size=n), "town": list("ab") * (n // 2)}
    )


def test_an_unchanged_file_passes_and_top_coding_moves_inequality() -> None:
    original = data()
    same = judge(files(original, original))[1]
    assert (same["quantiles"].completed, same["gini"].completed) == (2, 1)  # x has negative values
    coded = original.assign(income=original["income"].clip(upper=2.0))
    found, findings = judge(files(original, coded), **LIMITS)
    assert (findings["gini"].verdict, findings["gini"].scope) == (Verdict.FAIL, "income")
    assert (findings["quantiles"].verdict, findings["quantiles"].scope) == (Verdict.FAIL, "income")
    income, x = found.view.quantiles.variables
    assert (income.name, x.name, x.gini) == ("income", "x", None)
    assert income.changes[:3] == (0, 0, 0)
    assert income.gini[1] < income.gini[0]


def test_groups_count_by_the_mean_of_what_they_stand_for() -> None:
    original = data()
    recoded = original.assign(income=np.where(original["income"] < 1, "low", "high"))
    findings = judge(files(original, recoded, recoded), **LIMITS)[1]
    assert findings["quantiles"].observed > 0.1
