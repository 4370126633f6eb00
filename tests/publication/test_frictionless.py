"""What is published passes the validator of the standard, frictionless: CSV and Parquet, records and tables.

The validator is asked as a data user would: `frictionless validate datapackage.json`.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Variables
from sluice.publication.datapackage import records_datapackage, tables_datapackage
from sluice.publication.manifest import PublishedFile
from sluice.publication.published_table import PublishedTable
from sluice.publication.published_table_files import to_csv, to_parquet
from sluice.publication.records_file import write_csv, write_parquet
from sluice.publication.sdmx import to_sdmx_csv
from tests.publication.data_package import problems
from tests.publication.small_codebook import records
from tests.publication.small_table import file_of, small, whole


def published(folder: Path, name: str, rows: int) -> PublishedFile:
    content = (folder / name).read_bytes()
    return PublishedFile(path=name, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content), rows=rows)


def publish_records(folder: Path, frame: pd.DataFrame, variables: Variables) -> None:
    write_parquet(frame, folder / "data.parquet", variables)
    write_csv(frame, folder / "data.csv")
    files = [published(folder, name, len(frame)) for name in ("data.csv", "data.parquet")]
    describe(folder, records_datapackage("survey", "Survey", "survey", variables, {}, files, with_time=["seen"]))


def publish_tables(folder: Path, table: PublishedTable) -> None:
    contents = {"t.csv": to_csv(table), "t.parquet": to_parquet(table), "t.sdmx.csv": to_sdmx_csv(table, "XX:T(1.0)")}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    files = [file_of(name, content, None if name == "t.sdmx.csv" else table) for name, content in contents.items()]
    describe(folder, tables_datapackage("turnover", "Turnover", "firms", [(table, files)], "Turnover", "EUR"))


def describe(folder: Path, package: dict[str, Any]) -> None:
    (folder / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")


def test_records_of_every_kind(tmp_path: Path) -> None:
    publish_records(tmp_path, *records())
    assert problems(tmp_path) == []


def test_tables(tmp_path: Path) -> None:
    publish_tables(tmp_path, whole(*small(0)))
    assert problems(tmp_path) == []


def test_tables_of_sums_with_decimals_intervals_and_synthetic_values(tmp_path: Path) -> None:
    cells, status = small(2)
    interval = (np.zeros(len(status), dtype=np.int64), np.full(len(status), 2**53 - 1))
    publish_tables(tmp_path, whole(cells, status, interval=interval, synthetic=cells.total))
    assert problems(tmp_path) == []


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_the_validator_sees_another_value(tmp_path: Path, name: str) -> None:
    frame, variables = records()
    publish_records(tmp_path, frame, variables)
    frame["age"] = pd.array([16, 30, 91], "Int64")
    other = tmp_path / name
    if name == "data.csv":
        write_csv(frame, other)
    else:
        write_parquet(frame, other, variables)
    assert any("constraint-error" in each for each in problems(tmp_path))
