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

import sluice
from schemas.contract import Contract, load_contract
from schemas.reading.contract_draft import draft_contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError
from sluice.ground.values import BLANKS, is_number, label
from sluice.ground.variables import Kind, Variable
from sluice.publication.copies import COPIES
from sluice.publication.records_file import read_typed, write_csv, write_parquet
from sluice.sources.arrow_source import ArrowSource, ParquetSource
from sluice.sources.csv_source import CsvSource
from sluice.sources.excel_source import ExcelSource
from sluice.sources.sql_source import SqlSource
from sluice.sources.statistical_file import SasSource, SpssSource, StataSource
from sluice.sources.tabular_source import TabularSource

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
    "decimal(20,0)": pa.array([Decimal(10**19 + n) for n in range(N)], pa.decimal128(20, 0)),
    "date32": pa.array(DAYS),
    "date64": pa.array(DAYS, pa.date64()),
    "timestamp": pa.array(MOMENTS, pa.timestamp("us")),
    "in a zone": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "time": pa.array([time(n % 24, n) for n in range(N)], pa.time64("us")),
    "text": pa.array([f"t{n % 7}" for n in range(N)]),
    "large text": pa.array([f"t{n % 7}" for n in range(N)], pa.large_string()),
    "dictionary": pa.array([f"t{n % 7}" for n in range(N)]).dictionary_encode(),
    "codes": pa.array([f"{n:03d}" for n in range(N)]),
    "digits": pa.array([str(n) for n in range(N)]),
    "exponents": pa.array(["1e3", "2e3", "7e1"] * (N // 3)),
    "blanks": pa.array([" a", "b ", "c"] * (N // 3)),
    "few numbers": pa.array([n % 4 for n in range(N)]),
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
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)  # as the calendar and the clock there showed it
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    text = (value if isinstance(value, str) else label(value)).strip(BLANKS)
    return label(float(text)) if is_number(text) and abs(float(text)) < 2**53 and text[-2:-1] != "e" else text


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
        if variable.kind.is_categorical and contract.by_name[name].categories is None:
            frame[name] = frame[name].cat.set_categories(list(variable.categories or ()))
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
        "" if value is None else value if isinstance(value, str) else label(value) for value in table["x"].to_pylist()
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
@pytest.mark.parametrize("name", SOURCES)
def test_every_type_of_a_table_leaves_as_it_came(tmp_path: Path, name: str, kind: str) -> None:
    table = pa.table({"x": ARROW[kind], "other": range(N)})
    pq.write_table(table, tmp_path / "x.parquet")
    source = SOURCES[name](table, tmp_path)
    _, frame, variables = drafted(source, tmp_path)
    expected = [as_text(value) for value in table["x"].to_pylist()]
    for output, came in outputs(frame, variables, tmp_path).items():
        assert [released(value, variables["x"]) for value in came] == expected, output


@pytest.mark.parametrize("kind", REFUSED)
def test_digits_and_nanoseconds_that_would_be_lost_are_refused(tmp_path: Path, kind: str) -> None:
    source = of_parquet(pa.table({"x": REFUSED[kind], "other": range(N)}), tmp_path)
    with pytest.raises(DataError, match=r"digits|finer"):
        drafted(source, tmp_path)


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_what_no_contract_describes_is_left_out_by_name(tmp_path: Path, kind: str) -> None:
    for made in (of_parquet, of_arrow):
        source = made(pa.table({"x": LEFT_OUT[kind], "other": range(N)}), tmp_path)
        assert source.column_names() == ["other"]
        assert "holds" in source.left_out()["x"]
        with pytest.raises(DataError, match="column 'x' holds"):
            next(source.batches(["x"]))


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


@pytest.mark.parametrize("kind", ["mixed", "spans", "periods", "uint64"])
def test_a_step_refuses_what_it_would_turn_into_text(kind: str) -> None:
    frame = pd.DataFrame({"x": PANDAS[kind], "v": np.arange(12) + 0.5})
    with pytest.raises(DataError, match="column 'x' holds"):
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


def of_spss(frame: pd.DataFrame, folder: Path) -> TabularSource:
    pyreadstat.write_sav(frame, folder / "x.sav")
    return SpssSource(path=str(folder / "x.sav"))


def of_sas(frame: pd.DataFrame, folder: Path) -> TabularSource:
    pyreadstat.write_xport(frame, folder / "x.xpt", file_format_version=8)
    return SasSource(path=str(folder / "x.xpt"))


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
