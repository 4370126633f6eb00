"""The separator of a file that nobody described."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.sources.csv_source import described_csv, separator_of
from sluice.sources.hierarchy_file import read_rows


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("code,parent", ","),
        ("code;parent", ";"),
        ("code\tparent", "\t"),
        ("code|parent", "|"),
        ("code", ","),
        ("", ","),
        ('nace;"turnover, in euro, net";region', ";"),
        ("nace;turnover, net;region", ";"),
    ],
)
def test_what_stands_most_often_between_names(header: str, separator: str) -> None:
    assert separator_of(header) == separator


def test_of_files(tmp_path: Path) -> None:
    text = "\ufeff\ncode;parent\nTotal;\nA;Total\n"
    (tmp_path / "plain.csv").write_text(text, encoding="utf-8")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "broken.csv.gz").write_bytes(b"code;parent")
    for name in ("plain.csv", "packed.csv.gz"):
        assert read_rows(tmp_path / name) == [("Total", ""), ("A", "Total")]
    assert described_csv(tmp_path / "broken.csv.gz").separator == ","  # reading it says what is wrong
    assert described_csv(tmp_path / "absent.csv").separator == ","


@pytest.mark.servers
def test_a_process_ends_well_that_stopped_in_the_middle_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 3_000_000)  # more than is read ahead
    said = "from sluice.sources.csv_source import CsvSource; tables = CsvSource(path='a.csv').tables(['a']); "
    ended = subprocess.run([sys.executable, "-c", f"{said}next(tables); tables.close()"], cwd=tmp_path, check=False)
    assert ended.returncode == 0
