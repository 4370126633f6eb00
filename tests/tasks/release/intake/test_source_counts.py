"""What a database counts refuses a release early, and only what the staged records would be refused for."""

import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.checks.frame_check import check_frame
from schemas.contract import Contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict, decide
from sluice.sources.figures_source import COLUMN, RECORDS, VALUE, FiguresSource, FrequenciesSource
from sluice.sources.sql_source import SqlSource
from tasks.release.intake.source_counts import _against, _asked, _foreign, refuse_hopeless_source
from tasks.release.products import load_product
from tests.flows.house import House
from tests.golden import golden


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "house" / "home"))
    made = House(tmp_path / "house")
    made.definition["source"] = {"type": "sqlite", "path": "house.db", "table": "people"}
    return made


def said(house: House) -> str:
    """What the database says against the release; empty: nothing."""
    house.write()
    with closing(sqlite3.connect(house.documents / "house.db")) as database, database:
        house.data.to_sql("people", database, if_exists="replace", index=False)
    product = load_product(house.file, house.workspace())
    here = patch("tasks.release.intake.source_counts.read_apart", lambda source, columns: source.batches(columns))
    try:
        with here:
            refuse_hopeless_source(product)
    except DataError as error:
        return str(error)
    return ""


def staged(house: House) -> Any:
    """What the check of the staged records finds: (check, scope) of each failure."""
    product = load_product(house.file, house.workspace())
    typing = SourceTyping(product.contract, product.workspace.vault.pseudonym)
    findings = check_frame(typing.type_batch(house.data), product.contract)
    failed = {(check, name) for name, check in typing.problems}
    if decide(findings) is not Verdict.PASS:
        failed |= {(each.rule.partition(".")[2], each.scope) for each in findings}
    return failed or None


def emptied(column: str, share: float = 0.1) -> Callable[[House], None]:
    def change(house: House) -> None:
        house.data[column] = house.data[column].where(house.data.index >= share * len(house.data), None)

    return change


def valued(column: str, value: float | str) -> Callable[[House], None]:
    def change(house: House) -> None:
        house.data.loc[7, column] = value

    return change


def shortened(house: House) -> None:
    house.data = house.data.head(50)


def lengthened(house: House) -> None:
    house.contract["rows"]["maximum"] = 1000


def allowed_a_share(house: House) -> None:
    house.variable("income").update(nullable=True, max_missing_share=0.05)
    emptied("income")(house)


PHRASES = {
    "rows_minimum": "at least",
    "rows_maximum": "at most",
    "missing": "without a value",
    "all_missing": "every value is missing",
    "missing_share": "is allowed",
}


@pytest.mark.parametrize(
    ("change", "check", "scope"),
    [
        (shortened, "rows_minimum", "table"),
        (lengthened, "rows_maximum", "table"),
        (emptied("age"), "missing", "age"),
        (emptied("income", 1), "all_missing", "income"),
        (allowed_a_share, "missing_share", "income"),
        (valued("age", 17), "minimum", "age"),
        (valued("age", 100), "maximum", "age"),
        (valued("income", -1), "minimum", "income"),
        (valued("region", "beyond"), "category", "region"),
    ],
)
def test_what_is_refused_early_the_staged_records_would_be_refused_for(
    house: House, change: Callable[[House], None], check: str, scope: str
) -> None:
    change(house)
    says = said(house)
    assert scope == "table" or f"'{scope}'" in says
    assert PHRASES.get(check, check) in says
    assert (check, scope) in staged(house)


def test_sound_records_are_not_refused(house: House) -> None:
    assert said(house) == ""
    assert staged(house) is None


def test_a_missing_code_beyond_the_bounds_is_no_number(house: House) -> None:
    house.variable("age").update(nullable=True, missing_codes=["-9", "999"])
    valued("age", -9)(house)
    house.data.loc[8, "age"] = 999
    assert said(house) == ""
    assert staged(house) is None


def test_numbers_that_are_written_as_texts_are_left_to_the_staged_check(house: House) -> None:
    """Of texts '100' is the smallest and '99' the largest: their order says nothing."""
    house.data["age"] = house.data["age"].astype(str)
    assert said(house) == ""


def test_too_few_records_for_the_reference_standard(house: House) -> None:
    house.data = house.data.head(900)
    golden(said(house))
    house.policy["reference_standard"]["when_fewer"] = "review"
    assert said(house) == ""


def test_no_value_of_the_data_is_said(house: House) -> None:
    valued("income", -4711.5)(house)
    valued("region", "canary4711")(house)
    says = said(house)
    golden(says)
    assert "4711" not in says


def test_where_the_database_cannot_be_asked_reading_says_why(house: House) -> None:
    house.data = pd.DataFrame({"other": [1]})
    assert said(house) == ""


_CELLS = {
    "BIGINT": st.sampled_from([None, -9, 0, 1, 17, 18, 99, 100, 999, 2**53, 2**53 + 1, 2**62, -(2**62)]),
    "DOUBLE": st.sampled_from(
        [None, -9.0, 17.999999999999996, 18.0, 99.5, 999.0, 1e300, math.inf, -math.inf, math.nan]
    ),
    "TEXT": st.sampled_from(
        [None, "", " ", "17", "18", " 99 ", "9", "100", "1e2", "-9", "NA", "?", "007", "x", "99,5"]
    ),
    "DATE": st.sampled_from([None, "2024-02-29", "1999-12-31"]),
    "BOOLEAN": st.sampled_from([None, True, False]),
    "DECIMAL(18, 4)": st.sampled_from([None, "17.9999", "18", "99.0001", "-9", "999"]),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[Any]]:
    kind = draw(st.sampled_from(sorted(_CELLS)))
    return kind, draw(st.lists(_CELLS[kind], min_size=0, max_size=5))


def filled(folders: pytest.TempPathFactory, database: str, kind: str, cells: list[Any]) -> str:
    """The address of a database whose table `people` has these cells in its one column, `age`."""
    path = folders.getbasetemp() / f"{database}-counts.db"
    statements: list[tuple[str, list[Any]]] = [
        ("DROP TABLE IF EXISTS people", []),
        (f"CREATE TABLE people (age {kind})", []),
    ]
    if cells:
        statements.append((f"INSERT INTO people VALUES {', '.join(['(?)'] * len(cells))}", cells))
    with closing(sqlite3.connect(path) if database == "sqlite" else duckdb.connect(path)) as made:
        for statement, values in statements:
            made.execute(statement, values)
        made.commit()
    return f"{database}:///{path}"


def bounded(draw: Callable[[Any], Any]) -> Contract:
    """A variable with bounds, and whatever else lets a value pass."""
    age = {
        "name": "age",
        "kind": draw(st.sampled_from(["integer", "continuous"])),
        "role": draw(st.sampled_from(["quasi_identifier", "sensitive", "other"])),
        "minimum": draw(st.sampled_from([0, 18, -(2**53)])),
        "maximum": draw(st.sampled_from([99, 2**53, 10**9])),
        "nullable": draw(st.booleans()),
        "missing_codes": draw(st.sampled_from([[], ["-9", "999"], ["999.0", "x"]])),
    }
    if age["nullable"] and draw(st.booleans()):
        age["max_missing_share"] = 0.5
    people = {"dataset": "people", "version": 1, "records_are": "people", "record_key": []}
    rows = {"minimum": draw(st.sampled_from([1, 3])), "maximum": 4}
    return Contract.model_validate(people | {"rows": rows, "variables": [age]})


_DATABASES = [pytest.param("duckdb", marks=pytest.mark.exhaustive), "sqlite"]  # the first takes ten times as long


@pytest.mark.parametrize("database", _DATABASES)
@given(columns(), st.data())
def test_nothing_is_refused_that_the_staged_records_would_pass(
    tmp_path_factory: pytest.TempPathFactory, database: str, column: tuple[str, list[Any]], data: st.DataObject
) -> None:
    """Whatever stands in a column: texts of numbers, codes, infinite values, numbers that no float holds exactly."""
    contract = bounded(data.draw)
    url = filled(tmp_path_factory, database, *column)
    source, figures = SqlSource(url=url, table="people"), tuple(_asked(contract))
    try:
        [found] = FiguresSource(of=source, figures=figures).batches([figure.name for figure in figures])
    except DataError:  # such as the smallest of truth values: nothing is said
        return
    if not [*_against(contract, dict(found.iloc[0]))]:
        return
    typing = SourceTyping(contract, lambda name, value: value)
    try:
        batches = [typing.type_batch(raw) for raw in source.batches(["age"])]
        variables = typing.variables()
    except DataError:
        return
    frame = pd.concat(batches) if batches else pd.DataFrame({"age": pd.Series(dtype="float64")})
    assert variables
    assert decide(check_frame(frame, contract)) is not Verdict.PASS


_CODES = {
    "BIGINT": st.sampled_from([None, -9, 0, 1, 3]),
    "DOUBLE": st.sampled_from([None, -9.0, 1.0, 2.5, 3.0, math.inf, math.nan]),
    "TEXT": st.sampled_from([None, "", " ", "a", " a ", "A", "1", "3.0", "03", "yes", "True", "-9", "NA", "b\u200b"]),
    "BOOLEAN": st.sampled_from([None, True, False]),
    "DECIMAL(18, 4)": st.sampled_from([None, "1.0000", "2.5", "-9"]),
    "DATE": st.sampled_from([None, "2024-02-29"]),
}


@pytest.mark.parametrize("database", _DATABASES)
@given(st.sampled_from(sorted(_CODES)), st.data())
def test_records_whose_category_is_not_declared_are_those_of_the_staged_check(
    tmp_path_factory: pytest.TempPathFactory, database: str, kind: str, data: st.DataObject
) -> None:
    """However a category is written, and whatever stands for a missing one."""
    cells = data.draw(st.lists(_CODES[kind], min_size=1, max_size=6))
    codes = data.draw(st.sampled_from([["a", "b"], ["1", "3"], ["true", "false"], ["1.5", "03"]]))
    variable = {"name": "age", "kind": "nominal", "role": "quasi_identifier", "categories": codes}
    variable |= {"nullable": True, "missing_codes": data.draw(st.sampled_from([[], ["-9", "NA"], ["?", "-9.0"]]))}
    people = {"dataset": "people", "version": 1, "records_are": "people", "record_key": []}
    contract = Contract.model_validate(people | {"variables": [variable]})
    source = SqlSource(url=filled(tmp_path_factory, database, kind, cells), table="people")
    frequencies = FrequenciesSource(of=source, of_columns=("age",))
    try:
        found = _foreign(contract.staged, frequencies.batches([COLUMN, VALUE, RECORDS]))["age"]
    except DataError:  # no value at all
        found = 0
    typing = SourceTyping(contract, lambda name, value: value)
    for raw in source.batches(["age"]):
        typing.type_batch(raw)
    assert found == typing.problems.get(("age", "category"), 0)
