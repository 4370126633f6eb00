"""Readability: what is published comes as numbers, texts and dates to those who read it with other programs.

R reads it where Debian's r-base-core and r-cran-haven are installed (`apt-get install r-base-core r-cran-haven`).
"""

import shutil
import subprocess
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sluice.publication.copies import COPIES
from sluice.publication.published_table_files import to_csv, to_parquet
from sluice.publication.records_file import write_csv, write_parquet
from tests.publication.plain_names import plainly_named
from tests.publication.small_codebook import records
from tests.publication.small_table import small, whole

NUMBERS = ("age", "children", "income", "weight")
SCRIPT = Path(__file__).with_name("read_in_r.R")


@cache
def haven() -> str:
    """R with haven; '' where there is none."""
    found = shutil.which("Rscript")
    if found is None:
        return ""
    return found if subprocess.run([found, "-e", "library(haven)"], capture_output=True).returncode == 0 else ""


def test_pandas_and_duckdb_read_records_as_numbers_texts_and_times(tmp_path: Path) -> None:
    frame, variables = records()
    write_parquet(frame, tmp_path / "data.parquet", variables)
    by_pandas = pd.read_parquet(tmp_path / "data.parquet")
    assert all(pd.api.types.is_numeric_dtype(by_pandas[name]) for name in NUMBERS)
    assert by_pandas["born"].dtype.kind == by_pandas["seen"].dtype.kind == "M"
    assert by_pandas["school"].tolist() == ["01", "02", "01"]
    by_duckdb = duckdb.sql(f"DESCRIBE SELECT * FROM '{tmp_path / 'data.parquet'}'").fetchall()
    types = {name: kind for name, kind, *_ in by_duckdb}
    assert {types[name] for name in NUMBERS} == {"BIGINT", "DOUBLE"}
    assert (types["born"], types["school"]) == ("TIMESTAMP", "VARCHAR")
    (total,) = duckdb.sql(f"SELECT sum(children) FROM '{tmp_path / 'data.parquet'}'").fetchall()
    assert total == (2,)


@pytest.mark.parametrize("decimals", [0, 2])
def test_pandas_and_duckdb_read_tables_as_numbers(tmp_path: Path, decimals: int) -> None:
    """Arrow's decimals are objects to pandas: a mean of them fails, or is no number."""
    cells, status = small(decimals)
    bounds = (np.zeros(len(status), dtype=np.int64), np.full(len(status), 2**53 - 1))
    table = whole(cells, status, interval=bounds)
    (tmp_path / "t.parquet").write_bytes(to_parquet(table))
    (tmp_path / "t.csv").write_bytes(to_csv(table))
    expected = [np.nan if value is None else value / 10**decimals for value in table.value]
    for read in (pd.read_parquet(tmp_path / "t.parquet"), pd.read_csv(tmp_path / "t.csv")):
        for name in ("value", "contributors", "lower", "upper"):
            assert pd.api.types.is_numeric_dtype(read[name])
        np.testing.assert_array_equal(read["value"].to_numpy(dtype=float), expected)
    as_texts = pd.read_csv(tmp_path / "t.csv", dtype={"area": str}, keep_default_na=False)
    by_duckdb = duckdb.sql(f"SELECT DISTINCT area FROM '{tmp_path / 't.parquet'}'").fetchall()
    assert {*as_texts["area"]} == {area for (area,) in by_duckdb} == {"Total", "01", "NA"}
    (total,) = duckdb.sql(f"SELECT sum(value) FROM '{tmp_path / 't.parquet'}'").fetchall()
    assert float(total[0]) == pytest.approx(np.nansum(expected))
    assert not any(str(field.type).startswith("decimal") for field in pq.read_schema(tmp_path / "t.parquet"))


@pytest.mark.smoke
@pytest.mark.servers
def test_r_reads_csv_stata_and_spss(tmp_path: Path) -> None:
    if not (found := haven()):
        pytest.skip("there is no R with haven: apt-get install r-base-core r-cran-haven")
    frame, variables = plainly_named()
    write_parquet(frame, tmp_path / "data.parquet", variables)
    write_csv(frame, tmp_path / "data.csv")
    for copy in COPIES.values():
        copy.write(tmp_path / "data.parquet", tmp_path / f"data{copy.ending}", variables, "A survey")
    subprocess.run([found, str(SCRIPT), str(tmp_path)], check=True, capture_output=True, timeout=300)
    for name in ("csv", "dta", "sav"):
        read = pd.read_csv(tmp_path / f"{name}.values", keep_default_na=False, dtype=str)
        columns = pd.read_csv(tmp_path / f"{name}.columns", keep_default_na=False).set_index("name")
        assert list(read) == list(variables)
        assert read["age"].tolist() == ["16", "30", "90"]
        assert [float(each) if each else None for each in read["children"]] == [0, None, 2]
        assert [float(each) if each else None for each in read["income"]] == [1e-9, None, 12345678.9]
        assert set(columns.loc[["age", "children", "income", "weight"], "class"]) <= {"integer", "numeric"}
        assert read["born"].tolist() == ["1950-01-31", "", "2001-12-01"]
        assert read["diagnoses"].tolist() == ["A00;B01", "", "A00"]
        if name != "csv":
            assert columns.loc["school", "class"] == "labelled"
            assert read["school"].tolist() == ["01: none", "02: some & more", "01: none"]
            assert columns.loc["age", "label"] == "Age at the interview (years)"
            assert (columns.loc["born", "class"], columns.loc["seen", "class"]) == ("Date", "POSIXct")
