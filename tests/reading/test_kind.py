"""What kind a column is: one answer of draft, `sluice mask`, `sluice assess` and the notebook, on the same columns."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import sluice
from schemas.contract import Contract
from schemas.reading.contract_draft import draft_contract
from sluice.ground.errors import DataError
from sluice.ground.values import plain_array
from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.sampling import Sampling
from sluice.reading.kind import ColumnSummary, summary_of
from sluice.reading.typed_column import typed_array
from sluice.sources.sources import CsvSource, ParquetSource
from sluice.sources.tabular_source import TabularSource
from tasks.workbench.file_masking import mask_file
from tasks.workbench.masked_file import understood
from tests.golden import golden
from tests.typed_frame import typed_frame

N = 200


def every(*cells: Any) -> list[Any]:
    """N cells, these over and over."""
    return [cells[i % len(cells)] for i in range(N)]


WORDS = [f"P-{i:05d}" for i in range(N)]

TEXTS: dict[str, tuple[list[str], Kind]] = {
    "whole": (every("1", "25", "-3"), Kind.INTEGER),
    "signs": (every("+1", "-2", "3"), Kind.INTEGER),
    "blanks_around": (every(" 1", "2 ", " 3\u00a0"), Kind.INTEGER),
    "whole_with_decimals": (every("1.0", "2.00", "3."), Kind.INTEGER),
    "nullable_whole": (every("1.0", "", "3.0"), Kind.INTEGER),
    "zero_and_one": (every("0", "1"), Kind.INTEGER),
    "constant": (every("7"), Kind.INTEGER),
    "large_exact": (every(str(2**62), "1"), Kind.INTEGER),
    "year": (every("1999", "2024"), Kind.INTEGER),
    "decimals": (every("0.5", ".5", "-1.25"), Kind.CONTINUOUS),
    "exponents": (every("1e3", "2.5E-4"), Kind.CONTINUOUS),
    "beyond_2_53_with_decimals": (every("1e300", "2.5"), Kind.CONTINUOUS),
    "missing_marks": (every("1", "2", "NA", "NaN", ".", "?", "NULL", "-"), Kind.INTEGER),
    "nace": ([f"{1 + i % 40:02d}" for i in range(N)], Kind.NOMINAL),
    "region": (every("01", "02", "03"), Kind.NOMINAL),
    "two_codes": (every("01", "02"), Kind.NOMINAL),
    "agent": (every("007", "8", "9"), Kind.NOMINAL),
    "zeros": (every("0", "00"), Kind.NOMINAL),
    "zero_before_decimals": (every("00.5", "1.5"), Kind.NOMINAL),
    "signed_codes": (every("-01", "+02", "3"), Kind.NOMINAL),
    "codes_and_missing": (every("01", "02", "NA"), Kind.NOMINAL),
    "postcodes": ([f"{1000 + 37 * i:05d}" for i in range(N)], Kind.NOMINAL),
    "huge": ([str(2**63 + i) for i in range(N)], Kind.TEXT),
    "ids": (WORDS, Kind.TEXT),
    "comma": (every("1,5", "2,5", "3,5"), Kind.NOMINAL),
    "percent": (every("5%", "10%", "15%"), Kind.NOMINAL),
    "thousands": (every("1,234,567", "2,345,678", "3,456,789"), Kind.NOMINAL),
    "apostrophes": (every("1'234", "2'345", "9'999"), Kind.NOMINAL),
    "underscores": (every("1_000", "2_000", "3_000"), Kind.NOMINAL),
    "hexadecimal": (every("0x1F", "0x20", "0x21"), Kind.NOMINAL),
    "other_digits": (every("\u0661", "\u0662", "\u0663"), Kind.NOMINAL),
    "infinite": (every("1.5", "inf", "-Infinity"), Kind.NOMINAL),
    "true_false": (every("true", "False", "TRUE"), Kind.BINARY),
    "yes_no": (every("yes", "no", "?"), Kind.BINARY),
    "j_n": (every("J", "N"), Kind.BINARY),
    "truth_and_more": (every("yes", "no", "perhaps"), Kind.NOMINAL),
    "all_yes": (every("yes"), Kind.NOMINAL),
    "iso_days": (every("2020-01-31", "2024-02-29", ""), Kind.DATE),
    "moments": (every("2020-01-31 12:30", "2020-01-31T12:30:00.123456Z", "1600-01-01T10:00+0200"), Kind.DATE),
    "days_and_missing": (every("2020-01-31", "NA", "2020-02-28"), Kind.DATE),
    "no_such_day": (every("2020-01-31", "2023-02-29", "2020-02-28"), Kind.NOMINAL),
    "no_such_hour": (every("2020-01-31 25:00", "2020-01-31 10:00", "2020-01-31"), Kind.NOMINAL),
    "dmy": (every("31.01.2020", "01.02.2020", "2.3.2020"), Kind.NOMINAL),
    "compact_days": (every("20200131", "20240229"), Kind.INTEGER),
    "empty": (every("", " "), Kind.NOMINAL),
    "only_marks": (every("NA", "?"), Kind.NOMINAL),
    "mixed": (every("1", "a", "2020-01-31"), Kind.NOMINAL),
    "words_and_na": (every("NA", "x", "?"), Kind.NOMINAL),
    "accents": (every("Ärger", "Übung", "ß"), Kind.NOMINAL),
}

NATIVE: dict[str, tuple[Any, Kind]] = {
    "int64": (np.arange(N), Kind.INTEGER),
    "Int64": (pd.array(every(1, None, 3), dtype="Int64"), Kind.INTEGER),
    "uint64": (pd.array([2**63 + i for i in range(N)], dtype="uint64"), Kind.TEXT),
    "float64": (np.linspace(0, 1, N), Kind.CONTINUOUS),
    "float64_whole": (every(1.0, np.nan, 3.0), Kind.INTEGER),
    "float64_large": (every(1e300, 2e300), Kind.CONTINUOUS),
    "float32": (np.linspace(0, 1, N, dtype="float32"), Kind.CONTINUOUS),
    "bool": (every(True, False), Kind.BINARY),
    "boolean": (pd.array(every(True, None, False), dtype="boolean"), Kind.BINARY),
    "category": (pd.Categorical(every("a", "b", "c")), Kind.NOMINAL),
    "category_of_two": (pd.Categorical(every("m", "f")), Kind.BINARY),
    "datetime64": (pd.date_range("2020-01-01", periods=N).to_numpy(), Kind.DATE),
    "datetime64_zoned": (pd.date_range("2020-01-01", periods=N, tz="Europe/Vienna"), Kind.DATE),
    "date": (every(date(2020, 1, 31), None), Kind.DATE),
    "decimal": (every(Decimal("1.50"), Decimal("2.25")), Kind.CONTINUOUS),
    "decimal_whole": (every(Decimal("1.00"), Decimal("2.00")), Kind.INTEGER),
    "decimal_long": ([Decimal(10**30 + i) for i in range(N)], Kind.TEXT),
    "arrow_int": (pd.array(every(1, None), dtype=pd.ArrowDtype(pa.int32())), Kind.INTEGER),
    "arrow_text_of_numbers": (pd.array(every("1", "2"), dtype=pd.ArrowDtype(pa.large_string())), Kind.INTEGER),
    "arrow_dictionary": (
        pd.array(every("x", "y", "z"), dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        Kind.NOMINAL,
    ),
    "all_missing": (np.full(N, np.nan), Kind.NOMINAL),
    "time": (every(pd.Timestamp("2020-01-01 10:30").time(), pd.Timestamp("2020-01-01 11:30").time()), Kind.BINARY),
}


@pytest.fixture(scope="module", params=["texts", "native"])
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path]:
    """The columns as a frame, and the same as a file: texts as CSV, native values as Parquet."""
    columns = TEXTS if request.param == "texts" else NATIVE
    frame = pd.DataFrame({name: cells for name, (cells, _) in columns.items()})
    path = tmp_path_factory.mktemp("probe") / ("probe.csv" if request.param == "texts" else "probe.parquet")
    frame.to_csv(path, index=False) if request.param == "texts" else frame.to_parquet(path, index=False)
    return frame, path


def source(path: Path) -> TabularSource:
    return CsvSource(path=(str(path),)) if path.suffix == ".csv" else ParquetSource(path=str(path))


def wanted(names: Sequence[str]) -> dict[str, Kind]:
    return {name: (TEXTS | NATIVE)[name][1] for name in names}


def kinds(variables: Any) -> dict[str, Kind]:
    return {name: variable.kind for name, variable in variables.items()}


@pytest.mark.chain
def test_the_draft_of_a_contract(probe: tuple[pd.DataFrame, Path]) -> None:
    drafted = yaml.safe_load(draft_contract(source(probe[1]), "probe"))["variables"]
    with_values = [name for name in probe[0] if name not in ("empty", "only_marks", "all_missing")]
    two = ("nullable_whole", "large_exact", "decimal_whole", "Int64", "float64_whole", "year", "zero_and_one")
    few = dict.fromkeys((*two, "missing_marks"), Kind.BINARY)  # a draft takes few whole numbers for categories,
    few |= {"blanks_around": Kind.NOMINAL, "whole": Kind.NOMINAL}
    few["dmy"] = Kind.DATE  # says how dates are written,
    few["infinite"] = Kind.CONTINUOUS  # and one word among numbers for a mark, to be checked
    if "true_false" in probe[0]:
        few["true_false"] = Kind.NOMINAL  # whose spellings stay
    expected = {name: few.get(name, kind) for name, kind in wanted(with_values).items()}
    assert {variable["name"]: Kind(variable["kind"]) for variable in drafted} == expected


def test_a_masked_file_whose_columns_no_contract_knows(probe: tuple[pd.DataFrame, Path]) -> None:
    """As `sluice assess` understands it, in batches of any size."""
    raw = pd.concat(source(probe[1]).batches(list(probe[0].columns), size=77), ignore_index=True)
    elsewhere = Contract(dataset="d", version="1", variables=(Variable(name="elsewhere", kind=Kind.TEXT),))
    assert kinds(understood(raw, elsewhere, key=0).variables) == wanted(probe[0].columns)


def test_a_file_to_be_masked(probe: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("- {method: sampling, fraction: 0.5}\n", encoding="utf-8")
    made = mask_file(probe[1], tmp_path / "plan.yaml", tmp_path / "masked.csv")
    assert kinds(made.variables) == wanted(probe[0].columns)


def test_a_frame_of_a_notebook(probe: tuple[pd.DataFrame, Path]) -> None:
    masked = sluice.mask(probe[0], Sampling(fraction=0.5), seed=1)
    assert kinds(masked.contract.by_name) == wanted(probe[0].columns)
    assert len(masked.frame) == N // 2


@pytest.mark.chain
def test_a_notebook_and_a_file_read_the_same_values(probe: tuple[pd.DataFrame, Path]) -> None:
    frame, path = probe
    typed, _ = typed_frame(frame)
    raw = pd.concat(source(path).batches(list(frame.columns)), ignore_index=True)
    from_file, variables = typed_frame(raw)
    for name in frame.columns:
        assert typed[name].astype(object).equals(from_file[name].astype(object)), name
        assert typed[name].isna().any() <= variables[name].nullable, name


@pytest.mark.chain
def test_batches_do_not_matter(probe: tuple[pd.DataFrame, Path]) -> None:
    for name, column in probe[0].items():
        parts = summary_of([column.iloc[:7], column.iloc[7:90], column.iloc[90:]])
        whole = summary_of([column])
        assert parts.kind is whole.kind, name
        assert (parts.missing_codes, parts.nullable) == (whole.missing_codes, whole.nullable)
        assert parts.categories == whole.categories
        assert (parts.smallest, parts.largest) == (whole.smallest, whole.largest)


def test_a_category_column_of_a_notebook_is_categories_even_of_numbers_and_keeps_its_order() -> None:
    """A file keeps neither: Parquet stores the numbers themselves, and texts without their order."""
    sizes = pd.Categorical(["M", "S", None], categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"code": pd.Categorical([3, 1, 2]), "size": sizes, "n": [1, 2, 3]})
    masked = sluice.mask(frame, {"method": "removal", "columns": ["n"]})
    assert kinds(masked.contract.by_name) == {"code": Kind.NOMINAL, "size": Kind.ORDINAL, "n": Kind.INTEGER}
    assert masked.contract.by_name["size"].categories == ("S", "M", "L")
    assert masked.frame["code"].tolist() == [3, 1, 2]  # as it was given: no step names it


def test_an_infinite_number_is_a_number_that_is_refused() -> None:
    frame = pd.DataFrame({"x": [1.5, np.inf]})
    assert summary_of([frame["x"]]).kind is Kind.CONTINUOUS
    with golden.raises(DataError):
        typed_frame(frame)


def test_marks_are_missing_among_numbers_and_values_among_words() -> None:
    numbers = summary_of([pd.Series(["1", "NA", ""])])
    words = summary_of([pd.Series(["x", "NA", ""])])
    assert (numbers.missing_codes, numbers.categories) == (("NA",), {"1": 1})
    assert (words.missing_codes, words.categories) == ((), {"x": 1, "NA": 1})
    assert (numbers.empty, words.empty) == (1, 1)


def test_many_values_are_not_remembered() -> None:
    summary = ColumnSummary()
    for start in range(0, 30_000, 3_000):
        summary.add(pd.Series([f"name {i}" for i in range(start, start + 3_000)]))
    assert summary.distinct == float("inf")
    assert summary.categories == {}
    assert summary.kind is Kind.TEXT


def test_a_decimal_comma_is_read_where_the_source_has_one() -> None:
    column = pd.Series(["1,5", "2,25"])
    assert summary_of([column]).kind is Kind.BINARY
    assert summary_of([column], ",").kind is Kind.CONTINUOUS
    assert summary_of([pd.Series(["1.234", "2.345", "9.999"])], ",").kind is Kind.NOMINAL


@given(st.lists(st.none() | st.integers(-(2**62), 2**62), min_size=1, max_size=30))
def test_whole_numbers_come_back_from_their_text(numbers: list[int | None]) -> None:
    frame, variables = typed_frame(pd.DataFrame({"x": ["" if number is None else str(number) for number in numbers]}))
    if any(number is not None for number in numbers):
        assert variables["x"].kind is Kind.INTEGER
        assert frame["x"].tolist() == [pd.NA if number is None else number for number in numbers]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_numbers_come_back_from_their_text(numbers: list[float]) -> None:
    frame, variables = typed_frame(pd.DataFrame({"x": [repr(number) for number in [*numbers, 0.5]]}))
    assert variables["x"].kind is Kind.CONTINUOUS
    assert frame["x"].tolist() == [*numbers, 0.5]


@given(st.lists(st.integers(0, 99), min_size=1, max_size=30))
def test_codes_keep_their_zeros(codes: list[int]) -> None:
    texts = [f"{code:03d}" for code in codes]
    frame, variables = typed_frame(pd.DataFrame({"x": texts}))
    assert variables["x"].kind is Kind.NOMINAL
    assert frame["x"].tolist() == texts
    assert variables["x"] == Variable(name="x", kind=Kind.NOMINAL, categories=tuple(sorted(set(texts))))


def settled(cells: list[str], name: str = "x") -> ColumnSummary:
    summary = ColumnSummary(name=name)
    summary.add(pd.Series(cells, dtype="str"))
    summary.settle()
    return summary


@pytest.mark.parametrize("mark", ["N", "..", "*", "(D)", "not available", "X"])
@pytest.mark.parametrize(
    "values", [[str(100 + n) for n in range(60)], ["1.5", "2.5", "7.25"] * 20, ["2024-05-01"] * 60]
)
def test_a_word_among_numbers_or_dates_stands_for_missing_whatever_it_is(mark: str, values: list[str]) -> None:
    summary = settled([*values, *[mark] * 3])
    assert summary.kind in (Kind.INTEGER, Kind.CONTINUOUS, Kind.DATE)
    assert dict(summary.marks) == {mark: 3}


@pytest.mark.parametrize("error", ["#DIV/0!", "#WERT!", "#NOM?", "#NV", "-1.#IND", "1.#QNAN0"])
def test_what_could_not_be_computed_is_missing_though_it_has_digits(error: str) -> None:
    """One such cell made a column of amounts 'free text or names', which is removed."""
    assert dict(settled([*["1.5", "2.5", "7.25"] * 20, error]).marks) == {error: 1}
    assert settled([*["1.5", "2.5", "7.25"] * 20, "1.#INF"]).marks == {}, "a number, though an infinite one"
    assert settled(["#1", "#2", "#3"] * 9).kind is Kind.NOMINAL


def test_a_word_among_few_whole_numbers_is_one_more_category_and_a_rare_name_is_none() -> None:
    assert settled(["1", "2", "3", "K"] * 20).kind is Kind.NOMINAL
    assert settled([*(str(100 + n) for n in range(60)), "Schmidt"]).marks == {}
    usual = ["N", "(D)", "..", "*", "-", "not available"]
    assert set(settled([*(str(100 + n) for n in range(60)), *usual]).marks) == set(usual)
    assert settled([*(str(100 + n) for n in range(60)), *usual, "Smith"]).marks == {"-": 1}
    assert settled([*(str(100 + n) for n in range(60)), "Smith", "Jones", "Miller"]).marks == {}


def test_a_code_of_a_recognised_classification_is_not_missing() -> None:
    assert settled(["NA", "DE", "FR"] * 5, "country").marks == {}
    assert settled(["NA", "DE", "FR"] * 5, "country").categories["NA"] == 5
    assert settled(["NA", "1", "2"] * 5, "grade").marks == {"NA": 5}


def test_na_beside_other_codes_of_two_capitals_is_one_of_them() -> None:
    """Naples among Italian provinces, North America among continents; not beside words, nor beside two codes."""
    assert settled(["NA", "RM", "MI", "TO"] * 5, "provincia").categories["NA"] == 5
    assert settled(["NA", "RM", "MI", "TO"] * 5, "provincia").takes_na
    assert settled(["NA", "DE", "FR"] * 5, "country").takes_na
    for others in (["Yes", "No"], ["A", "B", "C"], ["RM", "MI"], ["RM", "MI", "Torino"], ["rm", "mi", "to"]):
        found = settled(["NA", *others] * 5, "x")
        assert (found.marks, found.takes_na) == ({"NA": 5}, False)


def test_whole_numbers_written_with_an_exponent_are_codes() -> None:
    assert settled(["1e3", "2e3", "7e1"] * 9).kind is Kind.NOMINAL
    assert settled(["1e-05", "0.5", "2"] * 9).kind is Kind.CONTINUOUS
    assert settled(["1e+05", "20", "2"] * 9).kind is Kind.INTEGER, "as R writes it"
    assert settled(["1.234e+04", "2.5E+05", "9.99e+03"] * 9).kind is Kind.CONTINUOUS, "measured to so many digits"
    assert settled(["1.2e+06", "20", "2"] * 9).kind is Kind.INTEGER


@pytest.mark.parametrize(
    ("cells", "missing", "values"),
    [
        (["9.0", "1.0"], {"9.0"}, {"1.0"}),
        (["09", "01"], {"09"}, {"01"}),
        (["9", "09", "01"], {"9"}, {"09", "01"}),  # beside 9 it is another code
    ],
)
def test_a_declared_missing_code_is_met_by_number(cells: list[str], missing: set[str], values: set[str]) -> None:
    column = ColumnSummary(missing=("9",))
    column.add(pd.Series(cells, dtype="string[pyarrow]"))
    column.settle()
    assert ({*column.declared}, {*column.labels}) == (missing, values)


LONG, NEXT = 12345678901234567, 12345678901234568  # one number as floats


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([str(LONG), str(NEXT), "1"]),
        pd.Series([f"{LONG}.0", f"{NEXT}.00", "1"]),
        pd.Series([LONG, NEXT, 1]),
        pd.Series([Decimal(LONG), Decimal(NEXT), Decimal(1)], dtype=pd.ArrowDtype(pa.decimal128(20, 0))),
    ],
    ids=["texts", "otherwise written", "numbers", "decimals"],
)
def test_a_missing_code_is_compared_to_its_last_digit(column: "pd.Series[Any]") -> None:
    seen = ColumnSummary(missing=(str(LONG),))
    seen.add(column)
    assert sum(seen.declared.values()) == 1
    variable = Variable(name="x", kind=Kind.INTEGER, missing_codes=(str(LONG),), nullable=True)
    typed, problems = typed_array(plain_array(column), variable)
    refused = [any(cells[at].as_py() for cells in problems.values()) for at in range(3)]
    missing = [value is None and not refused[at] for at, value in enumerate(typed.to_pylist())]
    assert missing == [True, False, False]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.int64(), pa.uint64(), pa.decimal128(20, 0), pa.decimal128(22, 2)], ids=str
)
def test_a_continuous_number_is_kept_to_its_last_digit_or_refused(kind: pa.DataType) -> None:
    held = [2**53 + 1, 2**53, 5, LONG, None]
    column = pa.array([each if each is None else str(each) for each in held]).cast(kind)
    variable = Variable(name="x", kind=Kind.CONTINUOUS, missing_codes=(str(LONG),), nullable=True)
    typed, problems = typed_array(column, variable)
    assert problems["digits"].fill_null(False).to_pylist() == [True, False, False, False, False]
    assert typed.to_pylist()[1:3] == [float(2**53), 5.0]
    assert typed[3].as_py() is None


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6))
def test_what_is_not_refused_of_whole_numbers_is_what_came(held: list[int]) -> None:
    typed, problems = typed_array(pa.array(held, pa.int64()), Variable(name="x", kind=Kind.CONTINUOUS))
    refused = problems.get("digits", pa.array([False] * len(held))).to_pylist()
    assert [int(value) == each for value, each in zip(typed.to_pylist(), held, strict=True)] == [
        not no for no in refused
    ]
