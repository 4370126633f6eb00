"""What no step names leaves as it came: every type of every source, in every output, or refused in a sentence."""

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import sqlalchemy as sa

import sluice
from schemas.contract import Contract, load_contract
from schemas.reading.contract_draft import draft_contract
from schemas.reading.overview import overview
from schemas.reading.typing import SourceTyping
from sluice.ground.databases import database_url
from sluice.ground.errors import DataError
from sluice.ground.values import BLANKS, is_number, label
from sluice.ground.variables import Kind, Variable
from sluice.publication.copies import COPIES
from sluice.publication.records_file import read_typed, write_csv, write_parquet
from sluice.publication.schema_change import SchemaChange, carry_out
from sluice.sources.arrow_source import ArrowSource, ParquetSource
from sluice.sources.csv_source import CsvSource
from sluice.sources.excel_source import ExcelSource
from sluice.sources.sql_source import SqlSource
from sluice.sources.statistical_file import SasSource, SpssSource, StataSource
from sluice.sources.tabular_source import TabularSource
from tests.golden import golden

N = 48
DAYS = [date(1950, 1, 1) + timedelta(97 * n) for n in range(N)]
MOMENTS = [datetime(1990, 1, 1, 0, n % 24, n, 250_000) for n in range(N)]
EVERY_FIFTH = [None if n % 5 == 0 else float(n) for n in range(N)]

ARROW: dict[str, pa.Array] = {
    "int8": pa.array(range(N), pa.int8()),
    "uint64": pa.array(range(N), pa.uint64()),
    "uint64 beyond": pa.array([2**63 + n for n in range(N)], pa.uint64()),
    "int64": pa.array([2**60 + n for n in range(N)]),
    "float32": pa.array([n / 3 for n in range(N)], pa.float32()),
    "float64": pa.array([n / 7 for n in range(N)]),
    "whole and missing": pa.array(EVERY_FIFTH),
    "bool": pa.array([n % 3 == 0 for n in range(N)]),
    "bool and missing": pa.array([None if n % 5 == 0 else n % 2 == 0 for n in range(N)]),
    "decimal": pa.array([Decimal(59_471 + n) / 1000 for n in range(N)], pa.decimal128(9, 3)),
    "decimal of 32 bits": pa.array([Decimal(59_471 + n) / 1000 for n in range(N)], pa.decimal32(9, 3)),
    "decimal of 256 bits": pa.array([Decimal(n) / 4 for n in range(N)], pa.decimal256(60, 2)),
    "decimal(20,0)": pa.array([Decimal(10**19 + n) for n in range(N)], pa.decimal128(20, 0)),
    "date32": pa.array(DAYS),
    "date64": pa.array(DAYS, pa.date64()),
    "timestamp": pa.array(MOMENTS, pa.timestamp("us")),
    "in a zone": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "time": pa.array([time(n % 24, n) for n in range(N)], pa.time64("us")),
    "text": pa.array([f"t{n % 7}" for n in range(N)]),
    "large text": pa.array([f"t{n % 7}" for n in range(N)], pa.large_string()),
    "dictionary": pa.array([f"t{n % 7}" for n in range(N)]).dictionary_encode(),
    "dictionary of days": pa.array(DAYS).dictionary_encode(),
    "codes": pa.array([f"{n:03d}" for n in range(N)]),
    "digits": pa.array([str(n) for n in range(N)]),
    "exponents": pa.array(["1e3", "2e3", "7e1"] * (N // 3)),
    "huge and tiny": pa.array([(n + 1) * 10.0 ** (300 if n % 2 else -300) for n in range(N)]),
    "blanks": pa.array([" a", "b ", "c"] * (N // 3)),
    "few numbers": pa.array([n % 4 for n in range(N)]),
    "lists of texts": pa.array([["a", "b"][: n % 3] for n in range(N)]),
}
REFUSED = {
    "decimal(18,2)": pa.array([Decimal(f"{1234567890123456 + n}.11") for n in range(N)], pa.decimal128(18, 2)),
    "nanoseconds": pa.array([10**18 + n for n in range(N)], pa.timestamp("ns")),
}
LEFT_OUT = {
    "duration": pa.array([timedelta(hours=n) for n in range(N)]),
    "binary": pa.array([b"a%d" % n for n in range(N)]),
    "structure": pa.array([{"a": n} for n in range(N)]),
    "numbers in lists": pa.array([[n, 1] for n in range(N)]),
}


def as_text(value: Any) -> str:
    """A value of the source as the file of a release writes it: blanks at the ends do not count."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, list):
        return ";".join(value)
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)  # as the calendar and the clock there showed it
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    text = (value if isinstance(value, str) else label(value)).strip(BLANKS)
    if not is_number(text) or text[-2:-1] == "e" or 2**53 <= abs(float(text)) < 1e200:
        return text
    return label(float(text))


def released(value: Any, variable: Variable) -> str:
    """A value of a file of the release in the same way; a day and its first moment are one."""
    is_date = variable.kind is Kind.DATE and value and value == value
    return as_text(pd.Timestamp(value).to_pydatetime() if is_date else value)


def drafted(source: TabularSource, folder: Path) -> tuple[Contract, pd.DataFrame, dict[str, Variable]]:
    """The typed records by the drafted contract, in which nothing names anybody, so that all is released."""
    written = folder / "contract.yaml"
    text = draft_contract(source, "x").splitlines()
    written.write_text("\n".join("    role: other" if line.startswith("    role:") else line for line in text))
    contract = load_contract(written)
    typing = SourceTyping(contract, lambda _, name: name, source.decimal_mark)
    frame = pd.concat([typing.type_batch(batch) for batch in source.batches(list(contract.staged))])
    variables = typing.variables()
    for name, variable in variables.items():
        if variable.categories is not None and contract.by_name[name].categories is None:
            frame[name] = frame[name].cat.set_categories(list(variable.categories))
    return contract, frame, variables


def of_parquet(table: pa.Table, folder: Path) -> TabularSource:
    pq.write_table(table, folder / "x.parquet")
    return ParquetSource(path=str(folder / "x.parquet"))


def of_arrow(table: pa.Table, folder: Path) -> TabularSource:
    with pa.ipc.new_file(folder / "x.arrow", table.schema) as file:
        file.write_table(table)
    return ArrowSource(path=str(folder / "x.arrow"))


def of_csv(table: pa.Table, folder: Path) -> TabularSource:
    cells = [
        ""
        if value is None
        else ";".join(value)
        if isinstance(value, list)
        else value
        if isinstance(value, str)
        else label(value)
        for value in table["x"].to_pylist()
    ]
    (folder / "x.csv").write_text("x,other\n" + "".join(f'"{cell}",{n}\n' for n, cell in enumerate(cells)))
    return CsvSource(path=str(folder / "x.csv"))


def of_duckdb(table: pa.Table, folder: Path) -> TabularSource:
    with duckdb.connect(folder / "x.duckdb") as database:
        database.execute("CREATE TABLE t AS SELECT * FROM 'x.parquet'".replace("x.parquet", str(folder / "x.parquet")))
    return SqlSource(url=f"duckdb:///{folder / 'x.duckdb'}", table="t")


SOURCES: dict[str, Callable[[pa.Table, Path], TabularSource]] = {
    "Parquet": of_parquet, "Arrow": of_arrow, "CSV": of_csv, "DuckDB": of_duckdb,
}  # fmt: skip


def outputs(frame: pd.DataFrame, variables: dict[str, Variable], folder: Path) -> dict[str, list[Any]]:
    """The column x as each file of a release has it."""
    parquet, csv = folder / "out.parquet", folder / "out.csv"
    write_parquet(frame, parquet, variables)
    write_csv(frame, csv)
    read = read_typed(parquet, variables)["x"].astype(object)
    cells = pd.read_csv(csv, dtype="str", keep_default_na=False)["x"]
    found = {"Parquet": read.tolist(), "CSV": cells.tolist()}
    for name, copy in COPIES.items():
        if copy.unfit(variables) or list(copy._unheld(read_typed(parquet, variables), variables)):
            continue  # refused, in a sentence that names the column
        copy.write(parquet, folder / f"out{copy.ending}", variables, "x")
        assert not copy.differing(parquet, folder / f"out{copy.ending}", variables), name
    return found


@pytest.mark.parametrize("kind", ARROW)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.exhaustive] * (name == "DuckDB")) for name in SOURCES]
)
def test_every_type_of_a_table_leaves_as_it_came(tmp_path: Path, name: str, kind: str) -> None:
    table = pa.table({"x": ARROW[kind], "other": range(N)})
    pq.write_table(table, tmp_path / "x.parquet")
    source = SOURCES[name](table, tmp_path)
    _, frame, variables = drafted(source, tmp_path)
    expected = [as_text(value) for value in table["x"].to_pylist()]
    for output, came in outputs(frame, variables, tmp_path).items():
        assert [released(value, variables["x"]) for value in came] == expected, output


@pytest.mark.chain
def test_every_type_of_a_table_in_duckdb_leaves_as_it_came(tmp_path: Path) -> None:
    table = pa.table({f"x{at}": values for at, values in enumerate(ARROW.values())})
    pq.write_table(table, tmp_path / "x.parquet")
    _, frame, variables = drafted(of_duckdb(table, tmp_path), tmp_path)
    write_parquet(frame, tmp_path / "out.parquet", variables)
    read = read_typed(tmp_path / "out.parquet", variables).astype(object)
    for at, kind in enumerate(ARROW):
        came = [released(value, variables[f"x{at}"]) for value in read[f"x{at}"]]
        assert came == [as_text(value) for value in table[f"x{at}"].to_pylist()], kind


VIEWS = {
    "texts": pa.array([" a", "b ", None] * (N // 3), pa.string_view()),
    "a dictionary": pa.array([f"t{n % 7}" for n in range(N)]).dictionary_encode().cast(
        pa.dictionary(pa.int32(), pa.string_view())
    ),
    "lists": pa.array([["a", "b"][: n % 3] for n in range(N)], pa.list_(pa.string_view())),
}  # fmt: skip


@pytest.mark.parametrize("kind", VIEWS)
def test_texts_that_arrow_holds_as_views_are_read_as_others_and_bytes_left_out(tmp_path: Path, kind: str) -> None:
    """As newer versions of Polars write them."""
    blobs = pa.array([b"a"] * N, pa.binary_view())
    source = of_arrow(pa.table({"x": VIEWS[kind], "other": range(N), "blobs": blobs}), tmp_path)
    assert set(source.left_out()) == {"blobs"}
    _, frame, variables = drafted(source, tmp_path)
    assert [(each.code, each.count) for each in source.remarks.all()] == [("reading.blanks", 2 * N // 3)] * (
        kind == "texts"
    )
    expected = [as_text(value) for value in VIEWS[kind].to_pylist()]
    for output, came in outputs(frame, variables, tmp_path).items():
        assert [released(value, variables["x"]) for value in came] == expected, output


def test_moments_with_a_time_zone_are_told(tmp_path: Path) -> None:
    source = of_parquet(pa.table({"x": ARROW["in a zone"], "other": ARROW["timestamp"]}), tmp_path)
    drafted(source, tmp_path)
    assert [(each.code, each.column, each.count) for each in source.remarks.all()] == [("reading.in_a_zone", "x", N)]


def test_a_draft_tells_of_moments_with_a_zone_in_texts_and_of_columns_without_a_value(tmp_path: Path) -> None:
    cells = [f"1990-01-{n + 1:02d}T00:30:00+01:00" for n in range(20)]
    (tmp_path / "x.csv").write_text("born,none,age\n" + "".join(f"{cell},NA,{n}\n" for n, cell in enumerate(cells)))
    source = CsvSource(path=str(tmp_path / "x.csv"))
    overview(source)
    assert [(each.code, each.column, each.count) for each in source.remarks.all()] == [
        ("reading.in_a_zone", "born", 20),
        ("reading.no_value", "none", 20),
    ]


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.timestamp("us", "Europe/Berlin")], ids=str)
def test_a_date_beyond_the_calendar_is_missing_and_its_record_told(tmp_path: Path, kind: pa.DataType) -> None:
    far = 2**31 - 1 if kind == pa.date32() else 2**62
    dates = pa.array([*range(N), far], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    source = of_arrow(pa.table({"x": dates, "other": range(N + 1)}), tmp_path)
    _, frame, _ = drafted(source, tmp_path)
    assert frame["x"].isna().tolist() == [False] * N + [True]
    met = [each for each in source.remarks.all() if each.code == "reading.beyond_calendar"]
    assert [(each.column, each.count, each.first) for each in met] == [("x", 1, N + 1)]


@pytest.mark.parametrize("kind", REFUSED)
def test_digits_and_nanoseconds_that_would_be_lost_are_refused(tmp_path: Path, kind: str) -> None:
    source = of_parquet(pa.table({"x": REFUSED[kind], "other": range(N)}), tmp_path)
    golden.refused(DataError, drafted, source, tmp_path)


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_what_no_contract_describes_is_left_out_by_name(tmp_path: Path, kind: str) -> None:
    for made in (of_parquet, of_arrow):
        source = made(pa.table({"x": LEFT_OUT[kind], "other": range(N)}), tmp_path)
        assert source.column_names() == ["other"]
        assert "holds" in source.left_out()["x"]
        golden.refused(DataError, next, source.batches(["x"]))


@pytest.mark.parametrize("made", [of_parquet, of_arrow])
def test_a_text_that_is_none_of_utf_8_is_refused_by_its_column(
    tmp_path: Path, made: Callable[[pa.Table, Path], TabularSource]
) -> None:
    bytes_ = pa.py_buffer(b"a\xe4")
    text = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), bytes_])
    source = made(pa.table({"x": text, "other": [1]}), tmp_path)
    golden.refused(DataError, next, source.batches(["other", "x"]))


PANDAS: dict[str, Any] = {
    "texts of digits": pd.Series(["1", "2"] * 6),
    "exponents": pd.Series(["1e3", "2e3", "7e1"] * 4),
    "signs and blanks": pd.Series(["+1", " 2", "NA"] * 4),
    "truth": pd.Series([True, False] * 6),
    "truth or missing": pd.Series(pd.array([True, None] * 6, dtype="boolean")),
    "mixed": pd.Series([1, "1", 1.0] * 4, dtype=object),
    "spans": pd.Series(pd.to_timedelta(np.arange(12), "h")),
    "periods": pd.Series(pd.period_range("2020-01", periods=12, freq="M")),
    "uint64": pd.Series(np.arange(12, dtype=np.uint64) + np.uint64(2**63 + 5)),
    "intervals": pd.Series(pd.cut(np.arange(12), 4)),
    "in Berlin": pd.Series(pd.date_range("1990-01-01", periods=12, tz="Europe/Berlin")),
    "nanoseconds": pd.Series(pd.date_range("1990-01-01", periods=12, unit="ns") + pd.Timedelta(3, "ns")),
    "whole floats": pd.Series(np.arange(12.0)),
    "int8": pd.Series(np.arange(12, dtype=np.int8)),
    "float32": pd.Series(np.arange(12, dtype=np.float32) / 3),
    "ordered": pd.Series(pd.Categorical(["a", "b"] * 6, categories=["b", "a", "c"], ordered=True)),
    "numbers as categories": pd.Series(pd.Categorical([1, 2] * 6)),
    "beyond the calendar": pd.Series(np.array(["20000-12-31", "-0044-01-01"] * 6, dtype="datetime64[s]")),
    "complex": pd.Series(np.arange(12) * 1j),
    "bytes": pd.Series([b"a", b"b"] * 6),
    "mappings": pd.Series([{"a": 1}, {"a": 2}] * 6),
    "pairs": pd.Series([(1, 2), (3, 4)] * 6),
    "arrow structures": pd.Series([{"a": 1}] * 12, dtype=pd.ArrowDtype(pa.struct([("a", pa.int64())]))),
    "arrow bytes": pd.Series([b"a"] * 12, dtype=pd.ArrowDtype(pa.binary())),
    "arrow decimals of 32 bits": pd.Series([Decimal("1.10")] * 12, dtype=pd.ArrowDtype(pa.decimal32(5, 2))),
    "large numbers as objects": pd.Series([2**70, 1] * 6, dtype=object),
    "sparse": pd.Series(pd.arrays.SparseArray([0, 0, 1] * 4)),
    "half floats": pd.Series(np.arange(12) / 8, dtype="float16"),
    "arrow decimals": pd.Series([Decimal("1.10"), None] * 6, dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
}


@pytest.mark.parametrize("kind", PANDAS)
def test_a_column_of_a_notebook_that_no_step_names_comes_back_as_it_was_given(kind: str) -> None:
    frame = pd.DataFrame({"x": PANDAS[kind], "v": np.arange(12) + 0.5})
    plans: list[dict[str, Any]] = [
        {"method": "rounding", "columns": ["v"], "base": 1},
        {"method": "sampling", "fraction": 0.5},
    ]
    for plan in plans:
        masked = sluice.mask(frame, plan, seed=1)
        pd.testing.assert_series_equal(masked.frame["x"], frame["x"][masked.frame.index], check_freq=False)


NO_METHOD_TREATS = (
    "mixed", "spans", "periods", "uint64", "intervals", "beyond the calendar", "complex", "bytes", "mappings", "pairs",
    "arrow structures", "arrow bytes",
)  # fmt: skip


@pytest.mark.parametrize("kind", NO_METHOD_TREATS)
def test_a_step_refuses_what_it_would_turn_into_text(kind: str) -> None:
    frame = pd.DataFrame({"x": PANDAS[kind], "v": np.arange(12) + 0.5})
    with golden.raises(DataError):
        sluice.mask(frame, {"method": "pram", "columns": ["x"], "retention": 0.8}, seed=1)


def of_excel(frame: pd.DataFrame, folder: Path) -> TabularSource:
    book = openpyxl.Workbook()
    for row in [list(frame), *frame.astype(object).where(frame.notna(), None).values.tolist()]:
        book.active.append(row)
    book.save(folder / "x.xlsx")
    return ExcelSource(path=str(folder / "x.xlsx"))


def of_stata(frame: pd.DataFrame, folder: Path) -> TabularSource:
    pyreadstat.write_dta(frame, folder / "x.dta")
    return StataSource(path=str(folder / "x.dta"))


def of_spss(frame: pd.DataFrame, folder: Path, **said: Any) -> TabularSource:
    pyreadstat.write_sav(frame, folder / "x.sav", **said)
    return SpssSource(path=str(folder / "x.sav"))


def of_sas(frame: pd.DataFrame, folder: Path, **said: Any) -> TabularSource:
    pyreadstat.write_xport(frame, folder / "x.xpt", file_format_version=8, **said)
    return SasSource(path=str(folder / "x.xpt"))


# Format -> a number that the program shows so, and the date that leaves: its own, of which a part is shown.
SHOWN_IN_PART = {
    "MOYR8": (of_spss, 13_003_456_000.0, "1994-11-05"),
    "QYR6": (of_spss, 13_003_456_000.0, "1994-11-05"),
    "MONYY7": (of_sas, 200.0, "1960-07-19"),
    "YEAR4": (of_sas, 200.0, "1960-07-19"),
}


@pytest.mark.parametrize("shown", SHOWN_IN_PART)
def test_a_date_of_which_a_part_is_shown_is_a_date(tmp_path: Path, shown: str) -> None:
    made, number, day = SHOWN_IN_PART[shown]
    frame = pd.DataFrame({"x": [number, None, 1e16]})
    source = made(frame, tmp_path, variable_format={"x": shown})
    found = next(source.batches(["x"]))["x"]
    assert found.isna().tolist() == [False, True, True]
    assert str(found[0]) == day


DATABASES = [
    "duckdb",
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.servers),
    pytest.param("mariadb", marks=pytest.mark.servers),
]


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The address of an empty one, and the schema that tables stand in."""
    kind = request.param
    if kind in ("duckdb", "sqlite"):
        return f"{kind}:///{tmp_path / 'database'}", "main"
    url = request.getfixturevalue(kind)
    return url, "public" if kind == "postgresql" else str(database_url(url).database)


def executed(url: str, *statements: str) -> None:
    engine = sa.create_engine(database_url(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.mark.chain
@pytest.mark.parametrize("database", DATABASES, indirect=True)
def test_every_type_of_a_table_stands_in_a_database_as_it_came(tmp_path: Path, database: tuple[str, str]) -> None:
    url, schema = database
    table = pa.table(ARROW)
    source = of_parquet(table, tmp_path)
    _, frame, variables = drafted(source, tmp_path)
    write_parquet(frame, tmp_path / "out.parquet", variables)
    executed(url, "SELECT 1")  # a file must be there
    carry_out(SchemaChange(url=url, into=schema, tables={"made": tmp_path / "out.parquet"}))
    found = pa.concat_tables(SqlSource(url=url, table="made").tables(list(ARROW)), promote_options="permissive")
    for kind in ARROW:
        came = [released(value, variables[kind]) for value in found[kind].to_pylist()]
        assert came == [as_text(value) for value in table[kind].to_pylist()], kind


# Type -> what is written, and what leaves; it stands in each of twelve records, another in a thirteenth.
OF_DATABASES: dict[str, dict[str, tuple[str, str]]] = {
    "duckdb": {
        "HUGEINT": ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
        "UBIGINT": ("18446744073709551615", "18446744073709551615"),
        "DECIMAL(9,3)": ("59.471", "59.471"),
        "DOUBLE": ("0.1", "0.1"),
        "BIT": ("'011'", "011"),
        "UUID": ("'123e4567-e89b-12d3-a456-426655440000'", "123e4567-e89b-12d3-a456-426655440000"),
        "ENUM('a', 'b')": ("'a'", "a"),
        "TIME": ("'24:00:00'", "24:00:00"),
        "TIMETZ": ("'10:00:00+02'", "10:00:00+02"),
        "DATE": ("'infinity'", "infinity"),
        "TIMESTAMP": ("'-infinity'", "-infinity"),
        "TIMESTAMPTZ": ("'infinity'", "infinity"),
        "TIMESTAMP_S": ("'0044-03-15 (BC)'", "-0043-03-15 00:00:00"),
        "TIMESTAMP_NS": ("'2020-01-01 10:00:00.123456'", "2020-01-01T10:00:00.123456"),
        "JSON": ("""'{"a":1.10}'""", '{"a":1.10}'),
        "VARCHAR": ("'1e3'", "1e3"),
        "VARCHAR[]": ("['a', 'b']", "a;b"),
    },
    "sqlite": {
        "INTEGER": ("9223372036854775807", "9223372036854775807"),
        "NUMERIC": ("'1.50'", "1.5"),
        "TEXT": ("'01'", "01"),
        "DATE": ("'2020-01-01'", "2020-01-01T00:00:00"),
        "BOOLEAN": ("1", "1"),
    },
    "postgresql": {
        "NUMERIC(30,10)": ("12345678901234567890.1234567891", "12345678901234567890.1234567891"),
        "REAL": ("0.1", "0.1"),
        "MONEY": ("1234.5", "$1,234.50"),
        "INT4RANGE": ("'[1,5)'", "[1,5)"),
        "TSRANGE": ("'[2020-01-01,)'", '["2020-01-01 00:00:00",)'),
        "NUMMULTIRANGE": ("'{[1.50,5)}'", "{[1.50,5)}"),
        "TEXT[]": ("'{a,b}'", "a;b"),
        "BIT(3)": ("B'011'", "011"),
        "INET": ("'10.0.0.0/8'", "10.0.0.0/8"),
        "TSVECTOR": ("'fat cat'", "'cat' 'fat'"),
        "OID": ("4000000000", "4000000000"),
        "TIME": ("'24:00'", "24:00:00"),
        "TIMETZ": ("'10:00+02'", "10:00:00+02:00"),
        "DATE": ("'infinity'", "infinity"),
        "TIMESTAMP": ("'-infinity'", "-infinity"),
        "TIMESTAMPTZ": ("'20000-01-01 10:00+00'", "20000-01-01 10:00:00+00"),
        "TIMESTAMP(0)": ("'0044-03-15 10:00 BC'", "0044-03-15 10:00:00 BC"),
        "JSON": ("""'{"a": 1.10}'""", '{"a": 1.10}'),
        "JSONB": ("'[1, 2]'", "[1, 2]"),
        "CHAR(3)": ("'a'", "a"),
    },
    "mariadb": {
        "DECIMAL(65,30)": (
            "12345678901234567890.123456789012345678901234567891",
            "12345678901234567890.123456789012345678901234567891",
        ),
        "BIT(9)": ("b'100000001'", "257"),
        "YEAR": ("1999", "1999"),
        "TIME": ("'838:59:59'", "838:59:59"),
        "TIME(6)": ("'-30:00:00.5'", "-30:00:00.500000"),
        "DATETIME(6)": ("'2024-02-29 23:59:59.123456'", "2024-02-29T23:59:59.123456"),
        "DATE": ("'0000-00-00'", "0000-00-00"),
        "DATETIME": ("'2024-00-00'", "2024-00-00 00:00:00"),
        "ENUM('01', 'b')": ("'01'", "01"),
        "SET('a', 'b')": ("'a,b'", "a,b"),
        "JSON": ("""'{"a": 1.10}'""", '{"a": 1.10}'),
        "BIGINT UNSIGNED": ("18446744073709551615", "18446744073709551615"),
        "INT(5) ZEROFILL": ("7", "00007"),
        "FLOAT": ("16777217", "16777216"),
        "FLOAT(9,3)": ("0.333333333", "0.333"),
        "UUID": ("'123e4567-e89b-12d3-a456-426655440000'", "123e4567-e89b-12d3-a456-426655440000"),
        "INET6": ("'::1'", "::1"),
        "TINYINT(1)": ("7", "7"),
        "VARCHAR(5) CHARACTER SET latin1": ("'ä'", "ä"),
    },
}  # fmt: skip
OF_BYTES_OR_SPANS: dict[str, dict[str, str]] = {
    "duckdb": {"BLOB": "'a'", "INTERVAL": "'1 month'", "STRUCT(a INT)": "{'a': 1}"},
    "sqlite": {"BLOB": "x'ff'"},
    "postgresql": {"BYTEA": "'a'", "INTERVAL": "'1 month'", "INT[]": "'{1}'"},
    "mariadb": {"BLOB": "'a'", "BINARY(3)": "'a'", "GEOMETRY": "ST_GeomFromText('POINT(1 2)')"},
}


@pytest.mark.parametrize("database", DATABASES, indirect=True)
def test_every_type_of_a_database_leaves_as_it_came(tmp_path: Path, database: tuple[str, str]) -> None:
    url, _ = database
    kind = url.partition(":")[0].partition("+")[0]
    held, others = OF_DATABASES[kind], OF_BYTES_OR_SPANS[kind]
    columns = [f"x{at} {ddl}" for at, ddl in enumerate((*held, *others))]
    values = ", ".join([*(written for written, _ in held.values()), *others.values()])
    nothing = ", ".join(["NULL"] * len(columns))
    modes = ["SET sql_mode = ''"] if kind == "mariadb" else []
    rows = ", ".join([f"({values})"] * 12 + [f"({nothing})"])
    executed(url, *modes, f"CREATE TABLE t ({', '.join(columns)})", f"INSERT INTO t VALUES {rows}")
    source = SqlSource(url=url, table="t")
    _, frame, variables = drafted(source, tmp_path)
    assert list(source.left_out()) == [f"x{at}" for at in range(len(held), len(columns))]
    write_parquet(frame, tmp_path / "out.parquet", variables)
    read = read_typed(tmp_path / "out.parquet", variables).astype(object)
    for at, (ddl, (_, expected)) in enumerate(held.items()):
        came = [released(value, variables[f"x{at}"]) for value in read[f"x{at}"]]
        assert came == [expected] * 12 + [""], ddl


CELLS: dict[str, list[Any]] = {
    "whole": [n * 37 for n in range(N)],
    "missing": EVERY_FIFTH,
    "fractions": [n / 8 for n in range(N)],
    "texts": [f"t{n % 7}" for n in range(N)],
    "codes": [f"{n:03d}" for n in range(N)],
    "exponents": ["1e3", "2e3", "7e1"] * (N // 3),
    "days": [datetime(day.year, day.month, day.day) for day in DAYS],
    "few": [float(n % 4) for n in range(N)],
}


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("made", [of_excel, of_stata, of_spss, of_sas], ids=lambda made: made.__name__)
def test_every_type_of_another_program_leaves_as_it_came(
    tmp_path: Path, made: Callable[[pd.DataFrame, Path], TabularSource], kind: str
) -> None:
    frame = pd.DataFrame({"x": CELLS[kind], "other": [float(n) for n in range(N)]})
    _, typed, variables = drafted(made(frame, tmp_path), tmp_path)
    expected = [as_text(value) for value in frame["x"].tolist()]
    for output, came in outputs(typed, variables, tmp_path).items():
        assert [released(value, variables["x"]) for value in came] == expected, output
