"""What DuckDB hands out as Arrow is what its rows say."""

import sqlite3
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from sluice.ground.errors import DataError
from sluice.sources import sql_source
from sluice.sources.sql_source import SqlSource
from tests.golden import golden

ALIKE = {
    "a BOOLEAN": "true, false, NULL",
    "a UTINYINT": "0, 255, NULL",
    "a BIGINT": "-9223372036854775808, 9223372036854775807, NULL",
    "a FLOAT": "0.5, 1e30, NULL",
    "a DOUBLE": "0.1, 'nan', 'inf', NULL",
    "a VARCHAR": "'', 'NULL', '01', 'é', NULL",
    "a DATE": "'0001-01-01', '9999-12-31', NULL",
    "a TIMESTAMP": "'2024-02-29 23:59:59.999999', NULL",
    "a ENUM('x', 'y')": "'y', 'x', NULL",
    "a DECIMAL(38, 0)": "12345678901234567, NULL",
    "a DECIMAL(38, 2)": "1.25, 3.00, NULL",
    "a DECIMAL(38, 1)": "99999999999999999999999999999999999.5, NULL",
}
AS_SHOWN = {
    "a HUGEINT": ("170141183460469231731687303715884105727, 1", ["170141183460469231731687303715884105727", "1"]),
    "a UBIGINT": ("18446744073709551615, 1", ["18446744073709551615", "1"]),
    "a TIME": ("'10:00:00', NULL, '24:00:00'", ["10:00:00", None, "24:00:00"]),
    "a UUID": ("'00000000-0000-0000-0000-000000000001'", ["00000000-0000-0000-0000-000000000001"]),
}


def source_of(folder: Path, column: str, values: str) -> SqlSource:
    path = folder / "a.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t ({column})")
        for value in values.split(", "):
            connection.execute(f"INSERT INTO t VALUES ({value})")
    return SqlSource(url=f"duckdb:///{path}", table="t")


def read(source: SqlSource) -> pa.Table:
    return pa.concat_tables(source.tables(["a"], 2), promote_options="permissive")


@pytest.mark.parametrize(("column", "values"), ALIKE.items())
def test_values_and_types_are_those_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, values: str
) -> None:
    source = source_of(tmp_path, column, values)
    by_arrow = read(source)
    monkeypatch.setattr(sql_source, "arrow_reader", lambda *_: None)
    by_rows = read(source)
    assert by_arrow.schema == by_rows.schema
    assert by_arrow.to_pylist() == by_rows.to_pylist()
    assert by_arrow["a"].null_count > 0


@pytest.mark.parametrize(("column", "values", "expected"), [(name, *what) for name, what in AS_SHOWN.items()])
def test_what_arrow_has_otherwise_is_taken_as_duckdb_shows_it(
    tmp_path: Path, column: str, values: str, expected: list[object]
) -> None:
    assert read(source_of(tmp_path, column, values))["a"].to_pylist() == expected


def test_a_list_of_numbers_is_left_out(tmp_path: Path) -> None:
    assert list(source_of(tmp_path, "a INTEGER[]", "[1]").left_out()) == ["a"]


def test_a_date_that_python_does_not_know_is_text(tmp_path: Path) -> None:
    source = source_of(tmp_path, "a DATE", "'infinity', '2024-01-01'")
    found = next(source.batches(["a"]))["a"]
    assert pd.api.types.is_string_dtype(found.dtype)
    assert found.tolist() == ["infinity", "2024-01-01"]


def test_a_text_that_is_none_of_utf_8_is_refused_by_its_column(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE t (a INTEGER, town TEXT)")
        connection.execute("INSERT INTO t VALUES (1, CAST(x'c328' AS TEXT))")
    with golden.raises(DataError):
        read(SqlSource(url=f"sqlite:///{tmp_path / 'a.db'}", table="t"))
