"""A small file that becomes a large one takes no more memory than the process that reads it may have."""

import gzip
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from openpyxl import Workbook

from sluice.ground.errors import DataError
from sluice.sources import separate_reading
from sluice.sources.separate_reading import read_apart
from sluice.sources.sources import ArrowSource, CsvSource, ExcelSource, ParquetSource
from sluice.sources.sql_source import SqlSource
from sluice.sources.statistical_file import SpssSource
from sluice.sources.tabular_source import TabularSource
from tests.golden import golden

pytestmark = [pytest.mark.reads_apart, pytest.mark.servers]
LARGE = 1_500_000_000  # bytes: more than the process may have, which the file takes a fraction of


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SLUICE_MEMORY", "200MB")
    monkeypatch.setattr(separate_reading, "_PROGRAM", 400_000_000)


def parquet(path: Path) -> TabularSource:
    """One text, which the file holds once, in each of many records."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), pa.array(["x" * (LARGE // 2_000)]))
    pq.write_table(pa.table({"a": text}), path, compression="zstd", store_schema=False)
    return ParquetSource(path=str(path))


def arrow(path: Path) -> TabularSource:
    table = pa.table({"a": pa.array(["x" * (LARGE // 2_000)] * 2_000, pa.large_string())})
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(table)
    return ArrowSource(path=str(path))


def spss(path: Path) -> TabularSource:
    """As many bytes as a packed file may hold, of records that are alike."""
    frame = pd.DataFrame({"a": ["x" * 30_000] * 400})
    pyreadstat.write_sav(frame, path.with_suffix(".sav"))
    begun = path.with_suffix(".sav").read_bytes()
    path.write_bytes(gzip.compress(begun + begun[-10_000:] * 60_000, 1))
    return SpssSource(path=str(path))


def excel(path: Path) -> TabularSource:
    """One row of many cells: it is held whole."""
    book = Workbook()
    book.active.append(["a"])
    book.save(path)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace(
        b"</sheetData>", b'<row r="2">' + b'<c r="A2"><v>1</v></c>' * 3_000_000 + b"</row></sheetData>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return ExcelSource(path=str(path))


def view(path: Path) -> TabularSource:
    """A database whose view makes more than is in it."""
    with duckdb.connect(path) as made:
        made.execute("CREATE VIEW t AS SELECT string_agg(repeat('x', 1000) || range) AS a FROM range(1500000)")
    return SqlSource(url=f"duckdb:///{path}", table="t")


def view_of_sqlite(path: Path) -> TabularSource:
    with sqlite3.connect(path) as made:
        made.execute("CREATE VIEW t AS SELECT hex(zeroblob(400000000)) AS a")
    return SqlSource(url=f"sqlite:///{path}", table="t")


@pytest.mark.parametrize("make", [parquet, arrow, excel, view, view_of_sqlite])
def test_what_takes_more_is_refused_by_name(tmp_path: Path, make: Callable[[Path], TabularSource]) -> None:
    source = make(tmp_path / "small")
    assert (tmp_path / "small").stat().st_size < LARGE / 50
    with golden.raises(DataError) as raised:
        list(read_apart(source, ["a"]))
    assert str(raised.value).startswith(f"{source.title}: ")
    assert "SLUICE_MEMORY" in str(raised.value)
    assert raised.value.__context__ is None


def test_what_is_packed_too_well_in_an_spss_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with golden.raises(DataError):
        list(read_apart(spss(tmp_path / "small"), ["a"]))


def test_what_is_packed_well_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(b"a\n" + b"1\n" * 2_000_000, 9))
    assert sum(map(len, read_apart(CsvSource(path=str(tmp_path / "a")), ["a"]))) == 2_000_000


def test_a_database_keeps_in_memory_what_it_may(tmp_path: Path) -> None:
    """DuckDB would keep what it read as long as the machine has memory for it, and fail where this process has less."""
    with duckdb.connect(tmp_path / "r.duckdb") as made:
        made.execute("CREATE VIEW t AS SELECT current_setting('memory_limit') AS a")
    [found] = read_apart(SqlSource(url=f"duckdb:///{tmp_path}/r.duckdb", table="t"), ["a"])
    assert found["a"].tolist() == ["190.7 MiB"]  # a third of 600 MB
