"""Typing: raw cells become the typed frame, or are counted by column and check; nothing is guessed."""

import hashlib
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.contract import Contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind
from tests.golden import golden
from tests.schemas.typed import type_batch, type_source
from tests.sources.readers import READERS


def pseudonym(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()


def contract(kind: str, **settings: Any) -> Contract:
    variable = {"name": "x", "kind": kind, "nullable": True} | settings
    return Contract.model_validate({"dataset": "d", "version": 1, "variables": [variable]})


def typed(cells: Any, kind: str, **settings: Any) -> "pd.Series[Any]":
    return type_batch(pd.DataFrame({"x": cells}), contract(kind, **settings), pseudonym)["x"]


def problems(cells: Any, kind: str, **settings: Any) -> dict[str, int]:
    typing = SourceTyping(contract(kind, **settings), pseudonym)
    typing.type_batch(pd.DataFrame({"x": cells}))
    return {check: count for (_, check), count in typing.problems.items()}


def test_numbers() -> None:
    continuous = typed([" 1.5 ", "+2", "-3e2", ".5", "7.", "", "?"], "continuous", missing_codes=["?"])
    assert continuous.dtype == np.float64
    np.testing.assert_array_equal(continuous, [1.5, 2, -300, 0.5, 7, np.nan, np.nan])
    integer = typed(["3", "3.0", "-9.00", "", str(2**53)], "integer", missing_codes=[-9])
    assert integer.dtype == "Int64"
    assert integer.tolist() == [3, 3, pd.NA, pd.NA, 2**53]
    assert typed([str(2**62), "1"], "integer").tolist() == [2**62, 1]  # whole numbers as such stay exact


def test_a_category_and_a_missing_code_are_the_same_number_however_it_is_written() -> None:
    assert typed(["1", "2.0", "9", "01"], "nominal", missing_codes=["9.0"]).tolist() == ["1", "2.0", np.nan, "01"]
    assert typed(["1", "2.00"], "nominal", categories=["1.0", "2"]).tolist() == ["1.0", "2"]
    assert problems(["01"], "nominal", categories=["1.0"]) == {"category": 1}
    one, other = "12345678901234567", "12345678901234568"  # the same float
    assert problems([other], "nominal", categories=[one]) == {"category": 1}
    assert typed([one, other], "nominal", missing_codes=[one]).tolist() == [np.nan, other]


def test_dates_in_a_declared_format() -> None:
    days = [pd.Timestamp("2024-12-31"), pd.Timestamp("2024-02-01"), pd.NaT]
    written = ["31.12.2024", "1.2.2024", "99.99.9999"]
    assert typed(written, "date", date_format="DD.MM.YYYY", missing_codes=["99.99.9999"]).tolist() == days
    assert typed([20241231, 20240201, None], "date", date_format="YYYYMMDD").tolist() == days
    assert typed([date(2024, 12, 31), date(2024, 2, 1), None], "date", date_format="DD.MM.YYYY").tolist() == days
    assert problems(["31.12.2024", "12/31/2024", "30.02.2024"], "date", date_format="DD.MM.YYYY") == {"date": 2}


def test_native_values_mean_the_same_as_their_text() -> None:
    assert typed([1.0, np.nan, 3.0], "integer").tolist() == [1, pd.NA, 3]
    assert typed([Decimal("1.50"), None], "continuous").iloc[0] == 1.5
    assert typed([3.0, 1.0, np.nan], "ordinal", categories=[1, 3]).tolist() == ["3", "1", np.nan]
    assert typed([True, False, None], "binary", categories=[False, True]).tolist() == ["true", "false", np.nan]
    assert typed([date(2020, 1, 2), None], "date").iloc[0] == pd.Timestamp("2020-01-02")
    zoned = pd.Series(pd.to_datetime(["2020-01-01T01:00+02:00"]))
    assert typed(zoned, "date").iloc[0] == pd.Timestamp("2020-01-01T01:00")
    assert typed(pd.Categorical(["a", None, "b"]), "nominal").tolist() == ["a", np.nan, "b"]
    assert typed([Decimal("12345678901234567890"), None], "text").tolist() == ["12345678901234567890", np.nan]
    uuids = pd.Series(pd.arrays.ArrowExtensionArray(pa.array([UUID(int=7), None])))
    assert typed(uuids, "text").tolist() == [str(UUID(int=7)), np.nan]


def test_categories_stand_in_the_declared_order_and_nobody_elses() -> None:
    series = typed(["high", "low", " low", ""], "ordinal", categories=["low", "middle", "high"])
    assert series.cat.categories.tolist() == ["low", "middle", "high"]
    assert series.cat.codes.tolist() == [2, 0, 0, -1]
    assert typed(["NA", "x"], "nominal", categories=["NA", "x"]).tolist() == ["NA", "x"]  # NA is a label like others


def test_spellings_of_codes_and_of_yaml_truth() -> None:
    assert typed(["1.0", "2", "-9.0"], "nominal", categories=[1, 2], missing_codes=[-9]).tolist() == ["1", "2", np.nan]
    assert typed(["Yes", "no", "TRUE"], "binary", categories=[True, False]).tolist() == ["true", "false", "true"]
    assert typed(["Yes", "no", True], "binary", categories=["No", "Yes"]).tolist() == ["Yes", "No", "Yes"]
    assert problems(["NO", "false"], "nominal", categories=["NO", "SE"]) == {"category": 1}
    assert typed(["007", "7"], "nominal").tolist() == ["007", "7"]  # not declared: a text stays as it is


def test_words_of_the_data_that_the_contract_replaces_are_remarked_upon() -> None:
    def remarks(cells: list[Any], kind: str = "binary", **settings: Any) -> list[tuple[str, int]]:
        typing = SourceTyping(contract(kind, **settings), pseudonym)
        typing.type_batch(pd.DataFrame({"x": cells}))
        return [(each.code, each.count) for each in typing.remarks.all()]

    assert remarks(["Yes", "no", " Yes", "true", None], categories=[True, False]) == [("reading.other_words", 3)]
    assert remarks(["Yes", "n/a"], "nominal", categories=[True, False, "n/a"]) == [("reading.other_words", 1)]
    assert remarks([True, False], categories=[True, False]) == []
    assert remarks(["true", "false"], categories=[True, False]) == []
    assert remarks(["Yes", "No", "no"], categories=["Yes", "No"]) == [("reading.other_words", 1)]
    assert remarks(["NO", "SE"], "nominal", categories=["NO", "SE"]) == []


def test_moments_with_a_zone_are_remarked_upon_in_texts_too() -> None:
    typing = SourceTyping(contract("date"), pseudonym)
    typing.type_batch(pd.DataFrame({"x": ["1990-01-01T00:30:00+01:00", " 1990-01-01 00:30Z", "1990-01-01", ""]}))
    assert [(each.code, each.column, each.count) for each in typing.remarks.all()] == [("reading.in_a_zone", "x", 2)]


def test_dates() -> None:
    cells = ["2020-02-29", "2020-02-29 12:30", "2020-02-29T12:30:00+02:00", "1600-01-01", "", "9999-12-31"]
    series = typed(cells, "date", missing_codes=["9999-12-31"])
    assert series.dtype == "datetime64[us]"
    assert series.tolist()[:4] == [
        pd.Timestamp("2020-02-29"),
        pd.Timestamp("2020-02-29T12:30"),
        pd.Timestamp("2020-02-29T12:30"),
        pd.Timestamp("1600-01-01"),
    ]
    assert series.isna().tolist() == [False] * 4 + [True] * 2
    assert typed([date(9999, 12, 31)], "date", missing_codes=["9999-12-31"]).isna().all()


def test_text_keeps_everything_but_blanks_around_it() -> None:
    series = typed([" a b ", "", "?", "Ärger"], "text", missing_codes=["?"])
    assert series.dtype == "str"
    assert series.tolist() == ["a b", np.nan, np.nan, "Ärger"]


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        ("continuous", ["1", "abc", "inf", "-Infinity", "nan", "1e999", "1,5", ""], {"number": 5, "decimal": 1}),
        ("continuous", [1.0, np.inf, np.nan], {"number": 1}),
        ("continuous", [date(2020, 1, 1)], {"number": 1}),
        ("continuous", [Decimal("1234567890123456.78"), Decimal("12345678901234.78")], {"digits": 1}),
        (
            "continuous",
            ["0.123456789012345678901", "123456789012345678901.5", "9007199254740993", "1.234567890123456789e5"],
            {"digits": 4},
        ),
        (
            "continuous",
            ["0.30000000000000004", "1.500000000000000000000", "1e300", "1E-7", "1e999", "1234567890123456.5"],
            {"number": 1},
        ),
        ("date", [pd.Timestamp("2020-01-01").as_unit("ns") + pd.Timedelta(1, "ns")], {"nanoseconds": 1}),
        ("date", ["2020-01-01T10:00:00.123456000", "2020-01-01T10:00:00.123456789"], {"date": 1}),
        ("integer", ["1", "1.5", "x", "1e300"], {"number": 1, "whole_number": 2}),
        ("integer", [1.5, 2.0], {"whole_number": 1}),
        ("integer", ["01", "007", "-00", "10"], {"leading_zero": 3}),
        ("continuous", ["00.5", "0.5", "1e05"], {"leading_zero": 1}),
        ("integer", ["0x1F", "1_000", "\u0661"], {"number": 3}),
        ("integer", [str(2**63), str(2**63 - 1), "9007199254740993.0"], {"whole_number": 2}),
        ("date", ["2020-02-30", "20200101", "2020", "01.02.2020", "2020-01-01"], {"date": 4}),
        ("date", [20200101, 20200102], {"date": 2}),
    ],
)
def test_what_cannot_be_read_is_counted_by_check(kind: str, cells: list[Any], expected: dict[str, int]) -> None:
    assert problems(cells, kind) == expected


def test_a_category_outside_the_declared_is_counted() -> None:
    assert problems(["a", "c", "c", None], "nominal", categories=["a", "b"]) == {"category": 2}
    assert problems(["01", "1", "1.0"], "nominal", categories=[1, 2]) == {"category": 1}  # a code keeps its zero
    assert problems(["a", "b", "c"], "binary") == {"two_categories": 3}


@pytest.mark.parametrize("made", [pd.Series(["04", "5"]), pd.Series(["04", "5"], dtype=pd.ArrowDtype(pa.string()))])
def test_a_code_that_is_declared_a_number_is_refused_with_a_word_on_what_to_do(made: Any) -> None:
    with pytest.raises(DataError) as refusal:
        type_batch(pd.DataFrame({"x": made}), contract("integer"), pseudonym)
    golden(str(refusal.value))
    assert "04" not in str(refusal.value)


def test_the_error_tells_all_columns_at_once_and_no_value() -> None:
    people = Contract.model_validate(
        {
            "dataset": "people",
            "version": 1,
            "variables": [
                {"name": "age", "kind": "integer"},
                {"name": "sex", "kind": "binary", "categories": ["m", "f"]},
            ],
        }
    )
    raw = pd.DataFrame({"age": ["secret-1", "4"], "sex": ["secret-2", "secret-3"]})
    with golden.raises(DataError) as refusal:
        type_batch(raw, people, pseudonym)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("reader", ["csv", "parquet", "duckdb", "sqlite"])
@pytest.mark.parametrize("kind", ["integer", "continuous"])
def test_no_source_turns_a_code_into_a_number(reader: str, kind: str, tmp_path: Path) -> None:
    READERS[reader].write(pd.DataFrame({"x": ["01", "40", "07"]}), tmp_path / "codes")
    [raw] = READERS[reader].source(tmp_path / "codes").batches(["x"])
    typing = SourceTyping(contract(kind), pseudonym)
    typing.type_batch(raw)
    assert typing.problems == {("x", "leading_zero"): 2}
    assert typed(raw["x"], "nominal").tolist() == ["01", "40", "07"]


def household_contract() -> Contract:
    variables = [
        {"name": "id", "kind": "integer", "role": "identifier"},
        {"name": "name", "kind": "text", "role": "identifier"},
        {"name": "home", "kind": "nominal", "role": "household", "categories": ["h1", "h2"]},
        {"name": "firm", "kind": "text", "role": "contributor", "nullable": True},
    ]
    return Contract.model_validate({"dataset": "d", "version": 1, "record_key": ["id"], "variables": variables})


def test_identifiers_leave_as_keyed_hashes_or_not_at_all() -> None:
    raw = pd.DataFrame({"id": ["1", "2.0"], "name": ["Ann", "Bob"], "home": ["h1", "h1"], "firm": ["f", ""]})
    frame = type_batch(raw, household_contract(), pseudonym)
    assert list(frame) == ["id", "home", "firm"]
    assert frame["id"].tolist() == [pseudonym("id", "1"), pseudonym("id", "2")]
    assert frame["home"].tolist() == [pseudonym("home", "h1")] * 2
    assert frame["firm"].tolist() == [pseudonym("firm", "f"), np.nan]
    native = type_batch(raw.assign(id=[1.0, 2.0]), household_contract(), pseudonym)
    assert native["id"].tolist() == frame["id"].tolist()  # the same key from every kind of source


def test_names_that_only_look_alike_are_refused_where_they_are_hashed() -> None:
    """Else one contributor would be several, each of them too small for a rule."""
    firms = ["ACME", "ACME\u200b", "ACME  Ltd", "Mu\u0308ller", "Acme"]
    raw = pd.DataFrame({"id": range(5), "home": "h1", "firm": firms, "name": firms})
    typing = SourceTyping(household_contract(), pseudonym)
    typing.type_batch(raw)
    assert typing.problems == {("firm", "spelling"): 3}
    with golden.raises(DataError):
        typing.variables()


def test_names_that_look_alike_are_one_where_contributors_are_counted() -> None:
    """But a name of which nothing is seen is none."""
    firms = ["ACME", "ACME\u200b", "ACME  Ltd", "ACME Ltd", "Mu\u0308ller", "M\u00fcller", "A\u2013B", "A-B", "Acme"]
    raw = pd.DataFrame({"id": range(9), "home": "h1", "firm": firms, "name": firms})
    typing = SourceTyping(household_contract(), pseudonym, unify=True)
    frame = typing.type_batch(raw)
    assert pd.factorize(frame["firm"])[0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    (remark,) = typing.remarks.all()
    assert (remark.column, remark.count) == ("firm", 4)
    golden(remark.says)
    typing.type_batch(raw.assign(firm="\u200b"))
    assert typing.problems == {("firm", "spelling"): 9}


def test_the_identifiers_column_that_is_dropped_may_be_absent() -> None:
    raw = pd.DataFrame({"id": ["1"], "home": ["h1"], "firm": ["f"]})
    assert list(type_batch(raw, household_contract(), pseudonym)) == ["id", "home", "firm"]


def test_categories_that_were_found_are_the_union_of_all_batches_sorted() -> None:
    batches = [pd.DataFrame({"x": ["b", ""]}), pd.DataFrame({"x": ["c", "a"]})]
    frame, variables = type_source(batches, contract("nominal"), pseudonym)
    assert variables["x"].categories == ("a", "b", "c")
    assert frame["x"].cat.categories.tolist() == ["a", "b", "c"]
    assert frame["x"].tolist() == ["b", np.nan, "c", "a"]


def test_a_column_without_any_value() -> None:
    for kind in (Kind.CONTINUOUS, Kind.INTEGER, Kind.NOMINAL, Kind.DATE, Kind.TEXT):
        for cells in (["", ""], [None, None], [np.nan, np.nan]):
            series = typed(cells, kind)
            assert series.isna().all(), (kind, cells)
            assert len(series) == 2
    frame, variables = type_source([pd.DataFrame({"x": [""]})], contract("nominal"), pseudonym)
    assert variables["x"].categories is None
    assert frame["x"].isna().all()


def test_no_record_keeps_its_types() -> None:
    empty = pd.DataFrame({"x": pd.Series([], dtype=str)})
    for kind, dtype in (("continuous", "float64"), ("integer", "Int64"), ("date", "datetime64[us]"), ("text", "str")):
        assert type_batch(empty, contract(kind), pseudonym)["x"].dtype == dtype


cells = st.none() | st.floats(-1e6, 1e6) | st.integers(-1000, 1000)


@given(values=st.lists(cells, min_size=1, max_size=30), cut=st.integers(0, 30), index=st.randoms())
def test_batches_index_and_form_do_not_matter(values: list[Any], cut: int, index: Any) -> None:
    """Text of a number is typed as the number; one batch or two; any index."""
    whole = typed(pd.Series(values, dtype=float), "continuous")
    texts = pd.DataFrame({"x": ["" if value is None else repr(value) for value in values]}, dtype=str)
    labels = list(range(len(values)))
    index.shuffle(labels)
    relabelled = texts.set_axis(labels)
    parts, _ = type_source([relabelled.iloc[:cut], relabelled.iloc[cut:]], contract("continuous"), pseudonym)
    pd.testing.assert_series_equal(parts["x"], whole, check_names=False)


def test_categories_that_look_the_same_are_refused_and_not_quoted() -> None:
    typing = SourceTyping(contract("nominal"), pseudonym)
    typing.type_batch(pd.DataFrame({"x": ["yes", "yes\u200b", "no\x1b[2K", "a\nb", None]}))
    with golden.raises(DataError) as refusal:
        typing.variables()
    assert "yes" not in str(refusal.value)
    assert problems(["Zoë", "R&D <5", "می‌خواهم"], "nominal") == {}


def test_the_first_record_is_counted_over_all_batches() -> None:
    typing = SourceTyping(contract("integer"), pseudonym)
    for batch in (["1", "2"], ["3", "x"], ["y", "4"]):
        typing.type_batch(pd.DataFrame({"x": batch}))
    golden.refused(DataError, typing.variables)


FIRST, WHOLE, FINER = ["1.5", "2", ""], ["1", "2", "3"], ["1.25", "2.125", "3"]
CODES, ONE_MORE, ONE_LESS = ["a", "b", ""], ["a", "b", "c"], ["a", "a", "a"]


@pytest.mark.parametrize("edition", [FIRST, WHOLE, FINER], ids=["first", "whole", "finer"])
@pytest.mark.parametrize("native", [False, True])
def test_of_a_continuous_variable_no_edition_says_how_many_decimals_it_has(edition: list[str], native: bool) -> None:
    """An edition that happens to be whole is continuous, too, and typed as the others are."""
    numbers = [float(cell) if cell else None for cell in edition]
    is_whole = native and all(number is not None and number.is_integer() for number in numbers)
    series = typed(pd.Series(numbers, dtype="int64" if is_whole else "float64") if native else edition, "continuous")
    assert series.dtype == "float64"
    assert series.dropna().tolist() == [number for number in numbers if number is not None]


@pytest.mark.parametrize(
    ("edition", "wanted"),
    [(WHOLE, {}), (FIRST, {"whole_number": 1}), (["1.0", "2.00"], {})],  # whole, however it is written
)
def test_a_declared_integer_is_checked_in_every_edition(edition: list[str], wanted: dict[str, int]) -> None:
    assert problems(edition, "integer") == wanted


@pytest.mark.parametrize("edition", [CODES, ONE_MORE, ONE_LESS], ids=["first", "one more", "one less"])
def test_declared_codes_are_those_of_every_edition_and_others_are_found_anew(edition: list[str]) -> None:
    """A code fewer stays declared; one more is refused where codes are declared, and taken where they are not."""
    if edition is ONE_MORE:
        assert problems(edition, "nominal", categories=["a", "b"]) == {"category": 1}
    else:
        assert typed(edition, "nominal", categories=["a", "b"]).cat.categories.tolist() == ["a", "b"]
    assert typed(edition, "nominal").cat.categories.tolist() == sorted({*edition} - {""})
