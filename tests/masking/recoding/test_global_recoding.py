"""sluice.masking.recoding.global_recoding."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sluice.generalization.builders.times import Periods
from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.recoding.global_recoding import GlobalRecoding
from tests.golden import golden

RNG = np.random.default_rng(0)
KEY = Role.QUASI_IDENTIFIER


def recode(step: GlobalRecoding, column: pd.Series, variable: Variable) -> tuple[pd.Series, Variable]:
    frame = pd.DataFrame({variable.name: column})
    before = frame.copy()
    masked = step.mask(frame, {variable.name: variable}, RNG)[variable.name]
    pd.testing.assert_frame_equal(frame, before)
    after = step.released({variable.name: variable})[variable.name]
    assert Variable.model_validate(after.model_dump()) == after  # coherent: model_copy does not check
    assert after.role is variable.role
    if after.categories is not None:
        assert tuple(masked.cat.categories) == after.categories
        assert masked.cat.ordered == (after.kind is Kind.ORDINAL)
    return masked, after


def integers(values: list[int | None]) -> pd.Series:
    return pd.Series(pd.array(values, dtype="Int64"))


def texts(values: list[str | None], categories: list[str], ordered: bool = False) -> pd.Series:
    return pd.Series(pd.Categorical(values, categories=categories, ordered=ordered))


def test_table_2_4_becomes_table_2_5() -> None:
    # Desfontaines (2020), Tables 2.4 and 2.5: ZIP by a hierarchy, age into ranges. The ranges of the table are 30-39
    # and 75-79.
    ages = Variable(name="age", kind=Kind.INTEGER, role=KEY, unit="years", minimum=30, maximum=79)
    zips = Variable(
        name="zip",
        kind=Kind.NOMINAL,
        role=KEY,
        categories=("4217", "1742", "1691"),
        hierarchy=Hierarchy(rows={"4217": ("4217",), "1742": ("1000-1999",), "1691": ("1000-1999",)}),
    )
    age, age_after = recode(GlobalRecoding(columns=("age",), bins=(30, 40, 75, 80)), integers([34, 39, 75, 77]), ages)
    zip_code, zip_after = recode(
        GlobalRecoding(columns=("zip",), level=1),
        texts(["4217", "4217", "1742", "1691"], ["4217", "1742", "1691"]),
        zips,
    )
    assert list(zip(zip_code, age, strict=True)) == [
        ("4217", "30 to 39"),
        ("4217", "30 to 39"),
        ("1000-1999", "75 to 79"),
        ("1000-1999", "75 to 79"),
    ]
    assert age_after.categories == ("30 to 39", "40 to 74", "75 to 79")
    assert (age_after.kind, age_after.unit, age_after.minimum, age_after.maximum) == (Kind.ORDINAL, "years", None, None)
    assert zip_after.hierarchy is None  # level 1 was the top


def test_the_broader_marital_status_of_the_slides() -> None:
    # Torra (2013), slide "Global recoding", example: "Widow/er or divorced"
    categories = ["Single", "Married", "Widow/er", "Divorced"]
    variable = Variable(name="marital", kind=Kind.NOMINAL, role=KEY, categories=tuple(categories))
    step = GlobalRecoding(
        columns=("marital",), categories={"Widow/er or divorced": ("Widow/er", "Divorced")}, others="Other"
    )
    masked, after = recode(step, texts(["Widow/er", "Divorced", "Single", None, "Married"], categories), variable)
    wide = "Widow/er or divorced"
    assert list(masked.astype(object).fillna("-")) == [wide, wide, "Other", "-", "Other"]
    assert after.categories == ("Widow/er or divorced", "Other")  # |D(V')| < |D(V)|
    assert after.kind is Kind.NOMINAL


@given(
    st.lists(st.integers(-60, 60), min_size=1, max_size=5, unique=True).map(sorted),
    st.lists(st.none() | st.integers(-70, 70), min_size=1, max_size=30),
    st.booleans(),
)
def test_intervals_agree_with_pandas_cut(bins: list[int], values: list[int | None], whole: bool) -> None:
    # An independent implementation: pandas.cut with half-open intervals, closed on the left.
    variable = Variable(name="x", kind=Kind.INTEGER if whole else Kind.CONTINUOUS)
    column = integers(values) if whole else integers(values).astype("float64")
    masked, after = recode(GlobalRecoding(columns=("x",), bins=tuple(bins)), column, variable)
    expected = pd.cut(column.astype("float64"), [-np.inf, *bins, np.inf], right=False, labels=False)
    assert masked.cat.codes.tolist() == expected.fillna(-1).astype(int).tolist()
    assert after.categories is not None
    assert len(after.categories) == len(bins) + 1


@given(st.lists(st.none() | st.integers(0, 15), min_size=1, max_size=30), st.integers(1, 4), st.data())
def test_equal_values_go_to_equal_values_in_any_order(
    values: list[int | None], level: int, data: st.DataObject
) -> None:
    rows = {str(leaf): tuple(str(leaf // 2**up) for up in range(1, 5)) for leaf in range(16)}
    variable = Variable(name="x", kind=Kind.INTEGER, hierarchy=Hierarchy(rows=rows))
    step = GlobalRecoding(columns=("x",), level=level)
    frame = pd.DataFrame({"x": integers(values)})
    masked = step.mask(frame, {"x": variable}, RNG)["x"]
    for value, group in zip(values, masked.astype(object).where(masked.notna(), None), strict=True):
        assert group == (None if value is None else rows[str(value)][level - 1])
    order = data.draw(st.permutations(range(len(values))))
    shuffled = frame.iloc[order].set_axis([0] * len(order))
    assert step.mask(shuffled, {"x": variable}, RNG)["x"].astype(object).tolist() == masked.iloc[order].tolist()


def test_dates_are_recoded_by_level_through_their_day() -> None:
    seen = Variable(name="seen", kind=Kind.DATE, role=KEY, minimum="2023-11-01", maximum="2024-02-29")
    variable = seen.model_copy(update={"hierarchy": Periods(periods=("month", "year")).build(seen)})
    column = pd.Series(pd.to_datetime(["2024-02-29 23:59", None, "2023-12-31", "2024-02-01"], format="ISO8601"))
    months, after = recode(GlobalRecoding(columns=("seen",), level=1), column.astype("datetime64[us]"), variable)
    assert months.astype("object").where(months.notna(), None).tolist() == ["2024-02", None, "2023-12", "2024-02"]
    assert after.kind is Kind.ORDINAL
    assert after.categories == ("2023-11", "2023-12", "2024-01", "2024-02")
    years, _ = recode(GlobalRecoding(columns=("seen",), level=1), months, after)
    assert years.dropna().tolist() == ["2024", "2023", "2024"]
    late = pd.Series(pd.to_datetime(["2024-03-01", "2024-02-01"])).astype("datetime64[us]")
    with golden.raises(PlanError):
        recode(GlobalRecoding(columns=("seen",), level=1), late, variable)


def test_recoding_by_level_in_two_steps_is_recoding_in_one() -> None:
    rows = {str(age): (str(age // 5), str(age // 10), "*") for age in range(20)}
    variable = Variable(name="age", kind=Kind.INTEGER, hierarchy=Hierarchy(rows=rows))
    column = integers([0, 7, 12, 19, None])
    first, between = recode(GlobalRecoding(columns=("age",), level=1), column, variable)
    assert between.kind is Kind.ORDINAL
    second, after = recode(GlobalRecoding(columns=("age",), level=1), first, between)
    once, after_once = recode(GlobalRecoding(columns=("age",), level=2), column, variable)
    pd.testing.assert_series_equal(second, once)
    assert after == after_once
    top, last = recode(GlobalRecoding(columns=("age",), level=1), second, after)
    assert (top.nunique(), last.categories, last.hierarchy) == (1, ("*",), None)


@pytest.mark.parametrize(
    ("kind", "bins", "bounds", "expected"),
    [
        (Kind.INTEGER, (20, 30, 60), {}, ("under 20", "20 to 29", "30 to 59", "60 and over")),
        (Kind.CONTINUOUS, (20, 30.5), {}, ("under 20", "20 to under 30.5", "30.5 and over")),
        (Kind.INTEGER, (0, 1, 2), {"minimum": 0}, ("0", "1", "2 and over")),
        (Kind.INTEGER, (0, 5, 10), {"minimum": 0, "maximum": 9}, ("0 to 4", "5 to 9")),
        (Kind.CONTINUOUS, (0, 10), {"minimum": 0, "maximum": 10}, ("0 to under 10", "10 and over")),
        (Kind.CONTINUOUS, (1e6,), {}, ("under 1000000", "1000000 and over")),
    ],
)
def test_labels_of_the_intervals(
    kind: Kind, bins: tuple[float, ...], bounds: dict[str, Any], expected: tuple[str, ...]
) -> None:
    step = GlobalRecoding(columns=("x",), bins=bins)
    assert step.released({"x": Variable(name="x", kind=kind, **bounds)})["x"].categories == expected


MARITAL = Variable(
    name="x", kind=Kind.NOMINAL, role=KEY, categories=tuple("1234"),
    labels={"1": "Single", "2": "Married", "3": "Widowed"},
    hierarchy=Hierarchy(rows={each: ("alone" if each == "1" else "other",) for each in "1234"}),
)  # fmt: skip


def test_a_group_is_labelled_by_what_its_categories_mean() -> None:
    merge = GlobalRecoding(columns=("x",), categories={"1": ("1",), "w": ("2", "3", "4")})
    assert merge.released({"x": MARITAL})["x"].labels == {"1": "Single", "w": "Married; Widowed; 4"}
    level = GlobalRecoding(columns=("x",), level=1).released({"x": MARITAL})["x"]
    assert level.labels == {"alone": "Single", "other": "Married; Widowed; 4"}
    bare = MARITAL.model_copy(update={"labels": {"1": "Single"}})
    assert merge.released({"x": bare})["x"].labels == {"1": "Single"}


def test_a_label_has_room_in_every_copy() -> None:
    codes = tuple(map(str, range(30)))
    many = Variable(name="x", kind=Kind.NOMINAL, role=KEY, categories=codes, labels=dict.fromkeys(codes, "ä" * 18))
    step = GlobalRecoding(columns=("x",), categories={"a": codes[:20], "b": codes[20:]})
    assert step.released({"x": many})["x"].labels["a"] == f"{'ä' * 18}; and 19 more"
    long = many.model_copy(update={"labels": dict.fromkeys(codes, "ä" * 60)})
    assert step.released({"x": long})["x"].labels == {"a": "20 categories", "b": "10 categories"}


def test_own_labels() -> None:
    step = GlobalRecoding(columns=("x",), bins=(18,), labels=("minor", "adult"))
    masked, _ = recode(step, integers([17, 18, None]), Variable(name="x", kind=Kind.INTEGER))
    assert masked.astype(object).fillna("-").tolist() == ["minor", "adult", "-"]


def test_an_ordinal_stays_ordinal_only_while_its_groups_are_runs() -> None:
    categories = ("none", "school", "bachelor", "master")
    variable = Variable(name="education", kind=Kind.ORDINAL, categories=categories)
    column = texts(["master", "none", "school"], list(categories), ordered=True)
    runs = {"university": ("bachelor", "master"), "school or none": ("none", "school")}
    masked, after = recode(GlobalRecoding(columns=("education",), categories=runs), column, variable)
    assert (after.kind, after.categories) == (Kind.ORDINAL, ("school or none", "university"))
    assert (masked.iloc[1:] < "university").all()
    mixed = {"ends": ("none", "master"), "middle": ("school", "bachelor")}
    _, nominal = recode(GlobalRecoding(columns=("education",), categories=mixed), column, variable)
    assert (nominal.kind, nominal.categories) == (Kind.NOMINAL, ("ends", "middle"))


def test_a_binary_stays_binary_while_it_has_two_categories() -> None:
    variable = Variable(name="sex", kind=Kind.BINARY, categories=("1", "2"))
    column = texts(["1", "2"], ["1", "2"])
    renamed, after = recode(GlobalRecoding(columns=("sex",), categories={"f": (1,), "m": (2,)}), column, variable)
    assert (after.kind, renamed.tolist()) == (Kind.BINARY, ["f", "m"])
    _, one = recode(GlobalRecoding(columns=("sex",), categories={"person": (1, 2)}), column, variable)
    assert one.kind is Kind.NOMINAL


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("year", [1999, 2000, None, 2001]),
        ("quarter", ["1999-Q4", "2000-Q1", None, "2001-Q2"]),
        ("month", ["1999-12", "2000-03", None, "2001-04"]),
    ],
)
def test_dates(to: str, expected: list[Any]) -> None:
    variable = Variable(name="born", kind=Kind.DATE, minimum="1999-11-05", maximum="2001-06-30")
    days = pd.Series(pd.to_datetime(["1999-12-31", "2000-03-01", None, "2001-04-01"]).astype("datetime64[us]"))
    masked, after = recode(GlobalRecoding(columns=("born",), to=to), days, variable)
    assert masked.astype(object).where(masked.notna(), None).tolist() == expected
    if to == "year":
        assert (after.kind, after.minimum, after.maximum) == (Kind.INTEGER, 1999, 2001)
        assert masked.dtype == "Int64"
    else:
        # An independent implementation: pandas periods
        periods = pd.period_range("1999-11-05", "2001-06-30", freq=to[0].upper())
        assert after.kind is Kind.ORDINAL
        assert after.categories is not None
        assert [label.replace("-Q", "Q") for label in after.categories] == [str(period) for period in periods]


@given(st.lists(st.none() | st.integers(0, 40), min_size=12, max_size=60), st.integers(2, 4), st.booleans())
def test_quantiles_agree_with_pandas_cut_at_numpys_quantiles(
    values: list[int | None], groups: int, whole: bool
) -> None:
    variable = Variable(name="x", kind=Kind.INTEGER if whole else Kind.CONTINUOUS, minimum=0, maximum=40)
    column = integers(values) if whole else integers(values).astype("float64")
    numbers = column.dropna().to_numpy(dtype=float)
    step = GlobalRecoding(columns=("x",), quantiles=groups, minimum_group=2)
    assume(len(numbers))
    edges = np.quantile(numbers, np.arange(1, groups) / groups)
    if np.histogram(numbers, [-np.inf, *edges, np.inf])[0].min() < 2:
        with pytest.raises(PlanError, match="minimum_group"):
            recode(step, column, variable)
        return
    masked, after = recode(step, column, variable)
    expected = pd.cut(column.astype("float64"), [-np.inf, *edges, np.inf], right=False, labels=False)
    assert masked.cat.codes.tolist() == expected.fillna(-1).astype(int).tolist()
    assert after.categories == tuple(f"{rank} of {groups}" for rank in range(1, groups + 1))
    assert masked.value_counts().min() >= 2
    (fitted,) = step.fit(pd.DataFrame({"x": column}), {"x": variable})
    again, after_again = recode(fitted, column, variable)
    pd.testing.assert_series_equal(again, masked)
    assert after_again == after
    assert GlobalRecoding.model_validate(fitted.model_dump()) == fitted


def test_quantile_groups_of_distinct_values_are_equal_and_ties_are_refused() -> None:
    variable = Variable(name="x", kind=Kind.CONTINUOUS)
    step = GlobalRecoding(columns=("x",), quantiles=5, labels=("I", "II", "III", "IV", "V"))
    masked, _ = recode(step, pd.Series(np.arange(100.0)), variable)
    assert masked.value_counts(sort=False).to_dict() == dict.fromkeys(("I", "II", "III", "IV", "V"), 20)
    zeros = pd.Series([0.0] * 60 + list(range(40)))
    with golden.raises(PlanError):
        recode(step, zeros, variable)
    with golden.raises(PlanError):
        recode(step, pd.Series(np.arange(10.0)), variable)
    with golden.raises(PlanError):
        recode(step, pd.Series([np.nan]), variable)


def test_each_stratum_is_fitted_by_its_own_records() -> None:
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("x", "y")}
    variables["area"] = Variable(name="area", kind=Kind.NOMINAL)
    step = GlobalRecoding(columns=("x", "y"), quantiles=2, strata=("area",))
    frame = pd.DataFrame({"x": np.arange(8.0), "y": np.arange(8.0) * 10})
    fixed = step.fit(frame, variables)
    assert [(one.columns, one.bins, one.strata) for one in fixed] == [
        (("x",), (3.5,), ("area",)),
        (("y",), (35.0,), ("area",)),
    ]
    assert step.fit(frame * 2, variables)[0].bins == (7.0,)
    by_bins = GlobalRecoding(columns=("x",), bins=(4,))
    assert by_bins.fit(frame, variables) == (by_bins,)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("kind", [Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY, Kind.TEXT])
def test_codes_are_cut_to_their_first_characters(kind: Kind, declared: bool) -> None:
    # ICD-10: J45 and J46 are asthma, in J40-J47 with J44; NACE 01.11 and 01.12 are in division 01.
    codes = ["J45", "J46", "J44", "I10", "X"]
    if kind is Kind.BINARY:
        codes = codes[2:4]
    if kind in (Kind.TEXT, Kind.ORDINAL) and declared == (kind is Kind.TEXT):
        return  # texts declare no categories, ordinal variables must
    variable = Variable(name="icd", kind=kind, categories=tuple(codes) if declared else None)
    values = [codes[0], codes[-1], None, codes[1], codes[0]]
    column = pd.Series(values, dtype="str")
    if kind is not Kind.TEXT:
        column = texts(values, codes, ordered=kind is Kind.ORDINAL)
    masked, after = recode(GlobalRecoding(columns=("icd",), characters=1), column, variable)
    released = masked.astype(object).where(masked.notna(), None).tolist()
    assert released == [value and value[:1] for value in values]
    assert set(masked.cat.categories) == {code[:1] for code in (codes if declared else values) if code}
    if declared:
        assert after.categories == tuple(dict.fromkeys(code[0] for code in codes))
    expected = kind if kind is Kind.ORDINAL or (kind is Kind.BINARY and declared) else Kind.NOMINAL
    assert after.kind is expected
    whole, _ = recode(GlobalRecoding(columns=("icd",), characters=9), column, variable)
    assert whole.astype(object).where(whole.notna(), None).tolist() == values


@pytest.mark.parametrize(
    ("settings_", "variable", "values"),
    [
        ({"level": 1}, {"kind": "integer", "hierarchy": {"rows": {"1": ["low"], "2": ["low"]}}}, [1, 987, 987, None]),
        ({"categories": {"ab": ("a", "b")}}, {"kind": "nominal"}, ["a", "hidden"]),
        ({"bins": (0, 5)}, {"kind": "integer", "minimum": 0, "maximum": 9}, [-987, 3]),
        ({"to": "month"}, {"kind": "date", "minimum": "2000-01-01", "maximum": "2000-12-31"}, ["0987-01-01"]),
    ],
)
def test_a_value_outside_is_counted_and_not_shown(
    settings_: dict[str, Any], variable: dict[str, Any], values: list[Any]
) -> None:
    as_typed = {"integer": "Int64", "nominal": "category", "date": "datetime64[us]"}[variable["kind"]]
    with golden.raises(PlanError) as error:
        recode(
            GlobalRecoding(columns=("x",), **settings_),
            pd.Series(values, dtype=as_typed),
            Variable.model_validate({"name": "x"} | variable),
        )
    assert not {"987", "hidden"} & set(str(error.value).replace("'", " ").split())


def test_all_others_are_one_group() -> None:
    with_others = GlobalRecoding(columns=("x",), categories={"ab": ("a", "b")}, others="rest")
    undeclared = Variable(name="x", kind=Kind.NOMINAL)
    masked, after = recode(with_others, texts(["a", "hidden"], ["a", "hidden"]), undeclared)
    assert (masked.tolist(), after.categories) == (["ab", "rest"], ("ab", "rest"))
