"""The separator of a file that nobody described."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources.csv_source import CsvSource, described_csv, separator_of
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


STRAY = {
    'a,b\n1,2\n3,"x"y"\n': "line 3, column 2",
    'a,b\n"p "q" r",2\n3,4\n': "line 2, column 1",
    'a,b\n1,"x"y" "\n"two\nlines",4\n': "line 2, column 2",
    'a,b\n1,"x ""y"" z"\n"two\nlines",4\n': "",
    'a,b\n1,5" nail\n"a,""b"",c",4\n': "",
    'a,b\n1,"x" \n"",4\n': "",
    'a,b\n1,x""y\n,""\n': "",
}


@pytest.mark.parametrize("text", STRAY)
def test_text_behind_a_closing_quote_is_refused_by_its_place_and_no_other_quote_is(tmp_path: Path, text: str) -> None:
    """Readers differ in what such a cell is: ab", a"b or an error."""
    (tmp_path / "a.csv").write_text(text)
    source = CsvSource(path=str(tmp_path / "a.csv"), line_breaks="two" in text)
    if STRAY[text]:
        with pytest.raises(DataError, match=STRAY[text]):
            list(source.tables(["a", "b"]))
    else:
        assert sum(map(len, source.tables(["a", "b"]))) == 2
