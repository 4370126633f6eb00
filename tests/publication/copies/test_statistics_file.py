"""Copies for statistics packages: they give back what the Parquet file holds, or are refused without a value."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.publication.copies import COPIES, StatisticsFile
from sluice.publication.records_file import write_parquet
from sluice.publication.table_schema import table_schema, variables_of
from tests.golden import golden
from tests.publication.plain_names import plainly_named

PACKAGES = pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)


def copied(folder: Path, copy: StatisticsFile, frame: pd.DataFrame, variables: Variables) -> Path:
    write_parquet(frame, folder / "data.parquet", variables)
    copy.write(folder / "data.parquet", folder / f"data{copy.ending}", variables, "A survey, <masked>")
    return folder / f"data{copy.ending}"


def read(path: Path) -> tuple[pd.DataFrame, Any]:
    """As a user of pyreadstat reads it."""
    return pyreadstat.read_dta(path) if path.suffix == ".dta" else pyreadstat.read_sav(path)  # type: ignore[no-any-return]


def one(kind: Kind, values: list[Any], **more: Any) -> tuple[pd.DataFrame, Variables]:
    dtypes = {Kind.INTEGER: "Int64", Kind.CONTINUOUS: "float64", Kind.DATE: "datetime64[us]", Kind.TEXT: "str"}
    column = pd.Series(values, dtype=dtypes.get(kind, "category"))
    return pd.DataFrame({"x": column}), {"x": Variable(name="x", kind=kind, nullable=True, **more)}


@PACKAGES
def test_records_of_every_kind_are_numbers_texts_and_dates_with_their_labels(
    tmp_path: Path, copy: StatisticsFile
) -> None:
    frame, variables = plainly_named()
    found, known = read(copied(tmp_path, copy, frame, variables))
    assert [*map(float, found["age"])] == [16, 30, 90]
    assert pd.to_numeric(found["children"]).isna().tolist() == [False, True, False]
    assert found["income"].tolist()[::2] == [1e-9, 12345678.9]
    assert found["school"].tolist() == [1, 2, 1]
    assert known.variable_value_labels["school"] == {1: "01: none", 2: "02: some & more"}
    assert known.variable_value_labels["region"] == {1: "N;1", 2: '"S"', 3: "W"}
    assert [str(day) for day in found["born"]][::2] == ["1950-01-31", "2001-12-01"]
    assert pd.to_datetime(found["seen"]).tolist() == frame["seen"].tolist()
    assert found["diagnoses"].tolist() == ["A00;B01", "", "A00"]
    assert known.column_names_to_labels["age"] == "Age at the interview (years)"
    assert known.file_label == "A survey, <masked>"


@PACKAGES
def test_the_same_records_give_the_same_bytes(tmp_path: Path, copy: StatisticsFile, monkeypatch: Any) -> None:
    """The header's time would make other bytes; another zone and hour are another time."""
    content = copied(tmp_path, copy, *plainly_named()).read_bytes()
    assert b"1970" in content[:400] or b"01 Jan 70" in content[:400]
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert copied(tmp_path, copy, *plainly_named()).read_bytes() == content


@PACKAGES
def test_codes_that_are_numbers_stay_these_numbers(tmp_path: Path, copy: StatisticsFile) -> None:
    frame, variables = one(
        Kind.NOMINAL, ["-9", "10", None], categories=("-9", "2", "10"), labels={"-9": "not asked", "10": "ten"}
    )
    frame["x"] = pd.Categorical(frame["x"], ["-9", "2", "10"])
    found, known = read(copied(tmp_path, copy, frame, variables))
    assert found["x"].tolist()[:2] == [-9, 10]
    assert known.variable_value_labels["x"] == {-9: "not asked", 10: "ten"}


@PACKAGES
@pytest.mark.parametrize(("kind", "value"), [(Kind.INTEGER, 34), (Kind.CONTINUOUS, 34.5)])
def test_a_number_of_which_some_values_have_labels_keeps_them(
    tmp_path: Path, copy: StatisticsFile, kind: Kind, value: float
) -> None:
    labels = {"0": "under 1", "90": "90 and more", "-9": "refused"}
    frame, variables = one(kind, [0, value, None], labels=labels, missing_codes=("-9",), description="Age")
    found, known = read(copied(tmp_path, copy, frame, variables))
    assert found["x"].tolist()[:2] == [0, value]
    assert known.variable_value_labels["x"] == {0: "under 1", 90: "90 and more"}
    assert variables_of(table_schema(variables, {}))["x"].labels == {"0": "under 1", "90": "90 and more"}


@PACKAGES
def test_categories_that_were_merely_found_are_text_and_listed_nowhere(tmp_path: Path, copy: StatisticsFile) -> None:
    """An intruder reads the list of labels for what masking took out: the only one of a rare illness."""
    frame, variables = one(Kind.NOMINAL, ["flu", "flu"])
    frame["x"] = pd.Categorical(["flu", "flu"], ["flu", "rare illness"])
    path = copied(tmp_path, copy, frame, variables)
    found, known = read(path)
    assert found["x"].tolist() == ["flu", "flu"]
    assert known.variable_value_labels == {}
    assert b"rare illness" not in path.read_bytes()


@given(
    whole=st.lists(st.none() | st.integers(-(2**53), 2**53), min_size=1, max_size=5),
    numbers=st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=5, max_size=5),
    texts=st.lists(st.none() | st.text(st.characters(codec="utf-8"), min_size=1), min_size=5, max_size=5),
    name=st.sampled_from([*COPIES]),
)
def test_what_is_written_comes_back_and_the_rest_is_refused(
    tmp_path_factory: pytest.TempPathFactory, whole: list[Any], numbers: list[Any], texts: list[Any], name: str
) -> None:
    kinds = {"n": Kind.INTEGER, "x": Kind.CONTINUOUS, "t": Kind.NOMINAL}
    variables = {key: Variable(name=key, kind=kind, nullable=True) for key, kind in kinds.items()}
    rows = len(whole)
    frame = pd.DataFrame(
        {
            "n": pd.array(whole, "Int64"),
            "x": pd.array(numbers[:rows], "float64"),
            "t": pd.Categorical(pd.array(texts[:rows], "str")),
        }
    )
    copy, folder = COPIES[name], tmp_path_factory.mktemp("copy")
    refused, path = "", folder / f"data{copy.ending}"
    try:
        copied(folder, copy, frame, variables)
    except DataError as error:
        refused = str(error)
    assert path.exists() is not bool(refused)
    if refused:
        assert "cannot be in a copy" in refused
        return
    found, _ = read(path)
    assert [None if pd.isna(each) else int(each) for each in found["n"]] == whole
    assert [None if pd.isna(each) else each for each in found["x"]] == numbers[:rows]
    assert [each or None for each in found["t"]] == texts[:rows]


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("marital-status", "stata"),
        ("a" * 33, "stata"),
        ("int", "stata"),
        ("str7", "stata"),
        ("1st", "stata"),
        ("größe", "stata"),
        ("marital-status", "spss"),
        ("_x", "spss"),
        ("x.", "spss"),
        ("With", "spss"),
    ],
)
def test_names_that_a_package_does_not_take_are_refused_by_the_documents_alone(name: str, package: str) -> None:
    (problem,) = COPIES[package].unfit({name: Variable(name=name, kind=Kind.INTEGER)})
    golden(problem)
    assert str(name) in problem
    assert str(COPIES[package].package) in problem
    golden(problem)


def test_spss_takes_names_that_differ_in_case_for_one() -> None:
    variables = {name: Variable(name=name, kind=Kind.INTEGER) for name in ("Age", "age")}
    assert COPIES["spss"].unfit(variables) == [
        "'Age' and 'age' are one name to SPSS. Give the column another name where it comes from, in a view or a query"
    ]
    assert COPIES["stata"].unfit(variables) == []


@pytest.mark.parametrize(("package", "longest"), [("stata", 32_000), ("spss", 120)])
def test_labels_of_values_are_whole_or_refused(package: str, longest: int) -> None:
    def labelled(text: str) -> Variables:
        return {"x": Variable(name="x", kind=Kind.NOMINAL, categories=("1",), labels={"1": text})}

    assert COPIES[package].unfit(labelled("é" * (longest // 2))) == []
    (problem,) = COPIES[package].unfit(labelled("é" * (longest // 2) + "e"))
    golden(problem)
    assert str(longest) in problem


@PACKAGES
def test_a_description_that_is_too_long_is_cut_and_says_so(tmp_path: Path, copy: StatisticsFile) -> None:
    frame, variables = one(Kind.INTEGER, [1], description="ä" * 300)
    _, known = read(copied(tmp_path, copy, frame, variables))
    label = known.column_names_to_labels["x"]
    assert label.endswith("ä…")
    assert copy.longest_label - 3 <= len(label.encode()) <= copy.longest_label


@PACKAGES
@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        (Kind.INTEGER, 2**53 + 1, r"whole numbers beyond 2\^53"),
        (Kind.CONTINUOUS, 1.79e308, "numbers so large that it takes them for missing"),
        (Kind.DATE, "2020-01-01 00:00:00.123456", "times finer than a millisecond"),
        (Kind.DATE, "0099-01-01", "dates before"),
        (Kind.NOMINAL, "n" * 40_000, "texts longer than"),
        (Kind.NOMINAL, "a\0b", "U\\+0000"),
    ],
)
def test_values_that_a_package_does_not_hold_are_refused_without_them(
    tmp_path: Path, copy: StatisticsFile, kind: Kind, value: Any, says: str
) -> None:
    with golden.raises(DataError) as refused:
        copied(tmp_path, copy, *one(kind, [value, None]))
    assert str(value) not in str(refused.value)
    assert not (tmp_path / f"data{copy.ending}").exists()


def test_a_last_blank_that_spss_drops_is_refused_and_stays_in_stata(tmp_path: Path) -> None:
    frame, variables = one(Kind.NOMINAL, ["a", "a "])
    with golden.raises(DataError):
        copied(tmp_path, COPIES["spss"], frame, variables)
    assert read(copied(tmp_path, COPIES["stata"], frame, variables))[0]["x"].tolist() == ["a", "a "]


@PACKAGES
def test_a_copy_of_other_records_is_told(tmp_path: Path, copy: StatisticsFile) -> None:
    frame, variables = plainly_named()
    path = copied(tmp_path, copy, frame, variables)
    frame["age"] = pd.array([17, 30, 90], "Int64")
    frame["work"] = frame["work"].array[::-1]
    frame["income"] = [np.nan, 1.0, 2.0]
    write_parquet(frame, tmp_path / "other.parquet", variables)
    assert copy.differing(tmp_path / "data.parquet", path, variables) == []
    assert copy.differing(tmp_path / "other.parquet", path, variables) == ["'age'", "'income'"]
    relabelled = variables["school"].model_copy(update={"labels": {"01": "some", "02": "none"}})
    assert copy.differing(tmp_path / "data.parquet", path, {**variables, "school": relabelled}) == ["'school'"]
    write_parquet(frame[:2], tmp_path / "fewer.parquet", variables)
    assert copy.differing(tmp_path / "fewer.parquet", path, variables) == ["the columns and records"]


@PACKAGES
def test_a_variable_without_any_value(tmp_path: Path, copy: StatisticsFile) -> None:
    for kind in (Kind.INTEGER, Kind.CONTINUOUS, Kind.DATE, Kind.TEXT, Kind.NOMINAL):
        found, _ = read(copied(tmp_path, copy, *one(kind, [None, None])))
        assert found["x"].replace("", None).isna().all()
