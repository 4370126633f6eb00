"""Top and bottom coding. Torra (2013) gives no figures; the independent implementations are pandas' and numpy's."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.coded_tail import Threshold
from sluice.masking.recoding.top_bottom_coding import TopBottomCoding
from tests.golden import golden

RNG = np.random.default_rng(0)
INCOME = Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=1000)


def step(**given_: Any) -> TopBottomCoding:
    return TopBottomCoding.model_validate({"columns": ("income",)} | given_)


def coded(method: TopBottomCoding, values: Any, variable: Variable = INCOME, dtype: str = "float64") -> list[Any]:
    frame = pd.DataFrame({"income": pd.Series(values, dtype=dtype)})
    before = frame.copy()
    masked = method.mask(frame, {"income": variable}, RNG)["income"]
    pd.testing.assert_frame_equal(frame, before)
    assert masked.dtype == frame["income"].dtype
    after = method.released({"income": variable})["income"]
    assert Variable.model_validate(after.model_dump()) == after
    present = masked.dropna()
    if len(present):
        assert after.minimum is None or present.min() >= float(after.minimum)
        assert after.maximum is None or present.max() <= float(after.maximum)
    return [None if pd.isna(value) else value for value in masked]


@given(st.lists(st.none() | st.floats(0, 1000), min_size=1, max_size=40), st.floats(0, 400), st.floats(500, 1000))
def test_thresholds_clip_as_pandas_does(values: list[float | None], low: float, high: float) -> None:
    method = step(top={"value": high}, bottom={"value": low})
    expected = pd.Series(values, dtype="float64").clip(low, high)
    assert coded(method, values) == [None if pd.isna(value) else value for value in expected]
    assert coded(method, coded(method, values)) == coded(method, values)  # coding twice changes nothing


@given(st.lists(st.integers(0, 50), min_size=20, max_size=60), st.floats(0.5, 0.8), st.data())
def test_quantiles_are_numpys_and_no_order_or_index_matters(
    values: list[int], share: float, data: st.DataObject
) -> None:
    method = step(top={"quantile": share}, minimum_tail=1)
    threshold = np.quantile(values, share)
    if max(values) <= threshold:
        with pytest.raises(PlanError, match="minimum_tail"):
            coded(method, values)
        return
    assert coded(method, values) == np.minimum(values, threshold).tolist()
    order = data.draw(st.permutations(range(len(values))))
    frame = pd.DataFrame({"income": np.array(values, dtype=float)})
    shuffled = method.mask(frame.iloc[order].set_axis([0] * len(order)), {"income": INCOME}, RNG)
    assert shuffled["income"].tolist() == np.minimum(values, threshold)[order].tolist()


def test_the_mean_of_the_tail_keeps_the_mean_of_the_file() -> None:
    values = [1.0, 2, 3, 4, 10, 20, 60, None]
    method = step(top={"value": 9}, replacement="mean")
    assert coded(method, values) == [1, 2, 3, 4, 30, 30, 30, None]
    assert np.nanmean(np.array(coded(method, values), dtype=float)) == np.nanmean(np.array(values, dtype=float))
    both = step(top={"value": 9}, bottom={"value": 4}, replacement="mean")
    assert coded(both, values) == [2, 2, 2, 4, 30, 30, 30, None]


def test_the_threshold_itself_is_not_coded() -> None:
    method = step(top={"value": 90, "becomes": 100}, bottom={"value": 10, "becomes": 5})
    assert coded(method, [9.0, 10, 90, 91]) == [5, 10, 90, 100]


def test_integers_stay_integers() -> None:
    variable = Variable(name="income", kind=Kind.INTEGER)
    values = [1, 2, 3, 50, 60, 71, None]
    mean = step(top={"value": 40}, replacement="mean")
    assert coded(mean, values, variable, "Int64") == [1, 2, 3, 60, 60, 60, None]  # 181 / 3 = 60.33
    quantile = step(top={"quantile": 0.5}, bottom={"quantile": 0.3}, minimum_tail=2)
    # numpy's quantiles of the six are 26.5 and 2.5, rounded inward
    assert coded(quantile, values, variable, "Int64") == [3, 3, 3, 26, 26, 26, None]


def test_ordinal_categories_beyond_the_threshold_are_lumped() -> None:
    categories = ("0", "1", "2", "3", "4")
    variable = Variable(name="income", kind=Kind.ORDINAL, categories=categories, labels={"3": "three children"})
    method = step(top={"value": 3}, bottom={"value": "1"})
    column = pd.Series(pd.Categorical(["4", "3", "0", None, "2"], categories=categories, ordered=True))
    after = method.released({"income": variable})["income"]
    masked = method.mask(pd.DataFrame({"income": column}), {"income": variable}, RNG)["income"]
    assert masked.astype(object).where(masked.notna(), None).tolist() == ["3", "3", "1", None, "2"]
    assert after.categories == tuple(masked.cat.categories) == ("1", "2", "3")
    assert masked.cat.ordered
    assert after.labels == {"1": "1 or below", "3": "three children or above"}


def test_bounds_and_hierarchy_of_the_released_variable() -> None:
    variables = {"income": INCOME}
    assert step(top={"value": 100}).released(variables)["income"].maximum == 100
    assert step(top={"value": 100}).released(variables)["income"].minimum == 0
    assert step(bottom={"value": 10}).released(variables)["income"].minimum == 10
    assert step(top={"value": 100}, replacement="mean").released(variables)["income"].maximum == 1000
    assert step(top={"value": 100, "becomes": 150}).released(variables)["income"].maximum == 150
    assert step(top={"quantile": 0.9}).released(variables)["income"].maximum == 1000
    hierarchy = {"rows": {"1": ("low",), "99": ("high",)}}
    integer = Variable.model_validate({"name": "income", "kind": "integer", "hierarchy": hierarchy})
    assert step(top={"value": 50}).released({"income": integer})["income"].hierarchy is None


def test_a_small_tail_gives_no_figure_away() -> None:
    values = [1.0, 2, 3, 4, 5, 6, 7, 8, 98, 99]
    with golden.raises(PlanError):
        coded(step(top={"value": 50}, replacement="mean"), values)
    assert coded(step(top={"value": 50}), values)[-2:] == [50, 50]  # the threshold says nothing of the two
    assert coded(step(top={"value": 50}, replacement="mean", minimum_tail=2), values)[-2:] == [98.5, 98.5]
    assert coded(step(top={"value": 100}, replacement="mean"), values) == values  # nobody is coded
    with golden.raises(PlanError):
        coded(step(bottom={"quantile": 0.1}), values)
    with golden.raises(PlanError):  # the quantile would be the largest value itself
        coded(step(top={"quantile": 0.9}), [5.0] * 10)


def test_all_missing_one_row_and_no_row() -> None:
    for values in ([None, None], [None], []):
        assert coded(step(top={"value": 5}), values) == values
        with golden.raises(PlanError):
            coded(step(top={"quantile": 0.5}), values)
    assert coded(step(top={"value": 5}), [9.0]) == [5]


BORN = Variable(name="income", kind=Kind.DATE, minimum="1900-01-01", maximum="2024-12-31")


@given(
    st.lists(st.none() | st.datetimes(pd.Timestamp("1600-01-01"), pd.Timestamp("9999-12-31")), min_size=1, max_size=20)
)
def test_dates_clip_as_pandas_does(values: list[Any]) -> None:
    column = pd.Series(values).astype("datetime64[us]")
    method = step(top={"value": "2020-12-31"}, bottom={"value": datetime.date(1930, 1, 1)})  # as YAML reads it
    masked = method.mask(pd.DataFrame({"income": column}), {"income": BORN}, RNG)["income"]
    ends = [pd.Timestamp(day).as_unit("us") for day in ("1930-01-01", "2020-12-31")]
    pd.testing.assert_series_equal(masked, column.clip(*ends).rename("income"))
    released = method.released({"income": BORN})["income"]
    assert (released.minimum, released.maximum) == ("1930-01-01", "2020-12-31")


def test_quantiles_and_means_of_dates_are_whole_days() -> None:
    days = pd.Series(pd.date_range("2000-01-01 18:00", periods=10, freq="D").astype("datetime64[us]"))
    variables = {"income": BORN}
    frame = pd.DataFrame({"income": days})
    # numpy's quantile .6 is 2000-01-07 04:48 (6.4 days after the first); the tail beyond its midnight holds 4 of 10,
    # from the 7th to the 10th at 18:00, whose mean is the 9th at 06:00.
    fixed = step(top={"quantile": 0.6}, replacement="mean").fit(frame, variables)
    assert fixed[0].top == Threshold(value="2000-01-07", becomes="2000-01-09")
    masked = fixed[0].mask(frame, variables, RNG)["income"]
    assert masked.iloc[:6].tolist() == days.iloc[:6].tolist()
    assert (masked.iloc[6:] == pd.Timestamp("2000-01-09")).all()
    assert TopBottomCoding.model_validate(fixed[0].model_dump()) == fixed[0]
    assert fixed[0].released(variables)["income"].maximum == "2000-01-09"


def test_large_whole_numbers_and_late_dates_keep_their_last_digit() -> None:
    variable = Variable(name="income", kind=Kind.INTEGER)
    values = [2**62 + 1, 2**53 + 1, -5, None]
    assert coded(step(bottom={"value": 0}), values, variable, "Int64") == [2**62 + 1, 2**53 + 1, 0, None]
    with golden.raises(PlanError):
        coded(step(top={"value": 0}, replacement="mean"), [1.7e308] * 3, Variable(name="income", kind=Kind.CONTINUOUS))


def test_thresholds_that_cross_in_the_data_are_refused() -> None:
    method = step(top={"quantile": 0.6}, bottom={"value": 500}, minimum_tail=1)
    with golden.raises(PlanError):
        coded(method, [1.0, 2, 3, 4])
