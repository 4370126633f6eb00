"""Files outside any release: the same cells from every format, and none that cannot be read."""

from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from sluice.ground.errors import DataError
from sluice.sources.recognition import recognise
from tasks.workbench.tabular_file import errors_of, read_records, read_text, remarks_on, table_source
from tests.golden import golden

ROWS = pd.DataFrame({"age": [34, 51, 8], "region": ["01", "10", ""]})


def files(folder: Path) -> list[Path]:
    """The same records as texts, as a workbook and as files of statistical programs."""
    ROWS.to_csv(folder / "a.csv", index=False)
    ROWS.to_csv(folder / "a.txt", index=False, sep=";")
    ROWS.to_excel(folder / "a.xlsx", index=False)
    pyreadstat.write_dta(ROWS, str(folder / "a.dta"))
    pyreadstat.write_sav(ROWS, str(folder / "a.sav"))
    return [folder / name for name in ("a.csv", "a.txt", "a.xlsx", "a.dta", "a.sav")]


def test_every_format_gives_the_same_cells(tmp_path: Path) -> None:
    for file in files(tmp_path):
        assert table_source(file).column_names() == ["age", "region"]
        assert read_text(file)["region"].tolist() == ["01", "10", ""], file.suffix
        assert [float(each) for each in read_text(file)["age"]] == [34, 51, 8], file.suffix
        read = read_records(table_source(file), None, ["age"])["age"]
        assert [float(each) for each in read] == [34, 51, 8], file.suffix


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("income;sex\n1,500;m\n2,75;f\n", "utf-8"),
        ("town;income\nKöln;1,5\nGießen;2,5\n", "cp1252"),
        ("town,income\nA,1\nB,2\n", "utf-16"),
        ("Survey of people\n\nid,income,sex\n1,10,m\n2,20,f\n3,30,f\n", "utf-8"),
        ("# by the office\nid,income\n1,10\n2,20\n", "utf-8"),
        ("1,10,m\n2,20,f\n3,30,m\n", "utf-8"),
        ("id,job\n1,'a,b'\n2,'c,d'\n", "utf-8"),
        ("id   income\n1     10\n2    200\n", "utf-8"),
        ("sep=;\nid;income\n1;10\n2;20\n", "utf-8"),
    ],
)
def test_a_csv_is_read_as_a_project_of_it_would_be(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    assert table_source(tmp_path / "a.csv") == recognise(tmp_path / "a.csv").records


@pytest.mark.parametrize(
    ("text", "read"), [("a;b\n1,500;x\n2,75;y\n", ["1.500", "2.75"]), ("a;b\n1,234;x\n", ["1,234"])]
)
def test_decimal_commas_of_a_file_are_read_and_what_may_be_thousands_is_left(
    tmp_path: Path, text: str, read: list[str]
) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert read_records(table_source(tmp_path / "a.csv"), None)["a"].tolist() == read


def test_what_no_format_fits_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n")
    with pytest.raises(DataError, match="PDF"):
        read_text(tmp_path / "a.pdf")
    golden.refused(DataError, read_text, tmp_path / "absent.dta")


def test_what_of_a_frame_is_not_read_as_it_stands() -> None:
    frame = pd.DataFrame({"a": ["x", " x", None], "b": pd.Categorical(["y ", "y ", "z"]), "n": [1, 2, 3]})
    assert [(each.column, each.count) for each in remarks_on(frame)] == [("a", 1), ("b", 2)]
    assert [each.column for each in remarks_on(frame, ["b", "n"])] == ["b"]
    summed = pd.DataFrame({"town": ["A", "B", "A", "Total"], "n": [1, 2, 3, 6]})
    assert [(each.code, each.first) for each in remarks_on(summed)] == [("reading.totals", 4)]


def test_an_error_of_records_says_that_the_last_ones_seem_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("town,region,n\nA,x,1\nB,y,2\nTotal,,3\nSource: the register,,\n", encoding="utf-8")
    table = table_source(tmp_path / "a.csv")

    def fail() -> None:
        with errors_of(tmp_path / "a.csv", table):
            read_records(table, None)
            raise DataError("'region' has no code in a record")

    golden.refused(DataError, fail)
