"""A file is what its bytes say: formats that are read come back equal, others are named, and nothing is guessed."""

import gzip
import io
import pickle
import zipfile
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import pyreadstat
import pytest

from sluice.ground.errors import DataError
from sluice.sources.recognition import Recognised, recognise
from tests.golden import golden
from tests.sources.readers import refusal


def csv(folder: Path, content: str | bytes) -> Path:
    path = folder / "data.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_what_was_found_is_written_and_said(tmp_path: Path) -> None:
    found = recognise(csv(tmp_path, "id;pay;town\n01;1,5;Zürich\n02;2,25;Genève\n".encode("cp1252")))
    assert found.written(tmp_path) == {
        "type": "csv", "path": "data.csv", "separator": ";", "header": True, "decimal": ",", "encoding": "cp1252",
        "quote": '"',
    }  # fmt: skip
    assert found.says == ("text with 3 columns, separated by semicolon in cp1252", "numbers have a decimal comma")


def test_what_somebody_knows_is_taken(tmp_path: Path) -> None:
    path = csv(tmp_path, "a;b,c\n1;2,5\n")
    with golden.raises(DataError):
        recognise(path)
    assert recognise(path, separator=";", decimal=".").records.column_names() == ["a", "b,c"]
    assert recognise(path, separator=",", encoding="cp1250").written(tmp_path)["encoding"] == "cp1250"
    for wrong in ({"separator": ";;"}, {"decimal": "'"}, {"encoding": "utf-9"}):
        with golden.raises(DataError):
            recognise(path, **wrong)


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, content in members.items():
            made.writestr(name, content)
    return packed.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n \n", "holds nothing but blanks"),
        (b"%PDF-1.7\n1,2", "a PDF document"),
        (OLE + "Workbook".encode("utf-16-le"), "old format (.xls), which is not read; save it as .xlsx"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "an Office document with a password"),
        (gzip.compress(b"X\n\0\0\0\3\0\4"), "an R object (.rds), which is not read; in R: haven::write_dta"),
        (gzip.compress(b"RDX3\nX\n"), "an R workspace (.RData, .rda)"),
        (b"\x1c\0\0\0\0\0\0\0ENCRYPTEDSAV\0\0", "an SPSS file with a password"),
        (pickle.dumps({"a": 1}), "a Python pickle, which runs code when it is read"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a picture (PNG)"),
        (archive(**{"word/document.xml": b"", "[Content_Types].xml": b""}), "a Word document"),
        (archive(**{"content.xml": b"", "mimetype": b""}), "an OpenDocument file"),
        (archive(a=b"a,b\n1,2\n", b=b""), "a zip archive of 2 files; one is read"),
        (gzip.compress(gzip.compress(b"a,b\n1,2\n")), "packed twice"),
        (gzip.compress(b"PAR1"), "a Parquet file is read as it is. Unpack it"),
        (b'{"records": [1]}', "is JSON"),
        (b"<!DOCTYPE html><html>", "is a web page"),
        (b"a,b\n1,2\0\n", "bytes that no text contains"),
        (b"PAR1 and no more", "is not a whole Parquet file"),
        (b"<stata_dta><header>", "is damaged, or no Stata file"),
        (b"$FL2@(#) IBM SPSS", "is damaged, or no SPSS file"),
        (b"A;B;C\n1;2\n1;2;3;4\n", "The first line holds 2 times the semicolon, ';': is it the separator?"),
        (b"12 34 B 0007 99 X\n" * 5, "of fixed width. Name a layout"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_read_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(DataError) as raised:
        recognise(csv(tmp_path, content))
    assert says in str(raised.value)


def test_a_document_in_place_of_the_data_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text("dataset: people\nvariables:\n  - name: age\n", encoding="utf-8")
    with golden.raises(DataError):
        recognise(tmp_path / "people.yaml")


def test_a_database_in_a_file_by_its_table(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.bin") as made:
        made.execute("CREATE TABLE people AS SELECT 1 AS id, 'x' AS sex")
    found = recognise(tmp_path / "a.bin")
    assert found.written(tmp_path) == {"type": "duckdb", "path": "a.bin", "table": "people"}
    assert found.records.column_names() == ["id", "sex"]
    with duckdb.connect(tmp_path / "a.bin") as made:
        made.execute("CREATE TABLE more (id INTEGER)")
    with golden.raises(DataError):
        recognise(tmp_path / "a.bin")


def test_columns_of_a_database_that_no_contract_describes_are_left_out_and_named(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.bin") as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS id, INTERVAL 1 DAY AS stay, {'a': 1} AS parts, '101'::BIT AS bits")
    found = recognise(tmp_path / "a.bin")
    assert found.records.column_names() == ["id"]
    assert set(found.records.left_out()) == {"stay", "parts", "bits"}
    assert "stay holds spans of time" in found.says[-1]
    assert [table.to_pylist() for table in found.records.tables(["id"])] == [[{"id": 1}]]


def test_a_table_of_another_schema_is_named_with_it(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute("CREATE SCHEMA police; CREATE TABLE police.stops AS SELECT 1 AS id, 'x' AS sex")
    found = recognise(tmp_path / "a.duckdb")
    assert found.written(tmp_path) == {"type": "duckdb", "path": "a.duckdb", "table": "police.stops"}
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute("CREATE VIEW searched AS SELECT * FROM police.stops")
    with golden.raises(DataError):
        recognise(tmp_path / "a.duckdb")


def test_a_workbook_with_titles_hidden_and_several_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Records"
    sheet["A1"] = "Survey of households"
    for row in (["id", "area", None], ["01", 1, "note"], ["02", 2, None]):
        sheet.append(row)
    sheet.column_dimensions["B"].hidden = True
    sheet.row_dimensions[3].hidden = True
    book.create_sheet("Old").append(["x"])
    book["Old"].sheet_state = "hidden"
    book.create_sheet("Empty")
    book.save(tmp_path / "a.xlsx")
    found = recognise(tmp_path / "a.xlsx")
    assert found.written(tmp_path) == {"type": "excel", "path": "a.xlsx", "sheet": "Records", "header_row": 2}
    said = "; ".join(found.says)
    for part in ("named in row 2", "sheets are not read: Old", "hidden columns are read as others are: B",
                 "hidden rows are read as others are: 1", "without a name are not read: C"):  # fmt: skip
        assert part in said
    book.create_sheet("Other").append(["x", "y"])
    book.save(tmp_path / "a.xlsx")
    with golden.raises(DataError):
        recognise(tmp_path / "a.xlsx")
    assert recognise(tmp_path / "a.xlsx", "Other").written(tmp_path)["sheet"] == "Other"


def test_a_file_that_comes_in_another_shape_later_is_refused(tmp_path: Path) -> None:
    """Sniffed once: whoever swaps the separator between two runs gets no records, and no cell in the error."""
    source = recognise(csv(tmp_path, "id;pay\n1;1,5\n2;2,5\n")).records
    for content in ("id,pay\n1,geheim-4711\n", "id;pay\n1;2;geheim-4711\n", "pay\n1\n", "geheim-4711;7\n1;2\n"):
        csv(tmp_path, content)
        refusal(source, "id", "pay")
    (tmp_path / "data.csv").write_bytes(archive(a=b"id;pay\n1;2\n", b=b""))
    with golden.raises(DataError):
        list(source.batches(["id", "pay"]))


def test_what_a_file_says_of_its_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1, 2, 9], "nace": [111, 112, 6201]})
    pyreadstat.write_sav(
        frame, tmp_path / "a", column_labels={"sex": "Sex"},
        variable_value_labels={"sex": {1: "m", 2: "f", 9: "refused"}},
        missing_ranges={"sex": [9]}, variable_format={"nace": "N4"},
    )  # fmt: skip
    found = recognise(tmp_path / "a")
    assert found.says == (
        "SPSS file with 2 columns",
        "the file has value labels of 1 columns; the records keep their codes",
        "the file declares missing codes of 1 columns",
        "numbers shown with zeros in front are read as codes: nace",
    )
    assert isinstance(found, Recognised)
    assert found.described()["sex"].labels == {"1": "m", "2": "f", "9": "refused"}
    assert found.described()["sex"].declared_missing == ("9",)
    assert [list(batch["nace"]) for batch in found.records.batches(["nace"])] == [["0111", "0112", "6201"]]


GROUPED = ["id", "region", "age", "income", None]
RECORDS = [[number, "north", 30 + number, 100 * number, 90 * number] for number in range(8)]
SEVERAL_ROWS: dict[str, tuple[list[list[object]], tuple[str, ...]]] = {
    "units": ([["id", "region", "age", "pay", "rent"], [None, None, "years", "EUR", "EUR"]], ()),
    "labels above names": ([["Number", "Region", "Age", "Pay", "Rent"], ["id", "region", "age", "pay", "rent"]], ()),
    "merged over two": ([GROUPED, [None, None, None, "2019", "2020"]], ("D1:E1", "A1:A2", "B1:B2", "C1:C2")),
    "years below a name": ([GROUPED, [None, None, None, 2019, 2020]], ()),
    "below a title": ([["People"], GROUPED, [None, None, None, "2019", "2020"]], ("A1:E1", "D2:E2")),
}
ONE_ROW: list[list[list[object]]] = [
    [["id", "region", "age", "pay", "rent"]],
    [["id", "region", "age", "pay", "rent"], ["NA", "north", "NA", "NA", "NA"]],
    [["id", "region", "age", "pay", "rent"], [99, "south", None, None, None]],
    [[None, None, "Person", "Money", None], ["id", "region", "age", "pay", "rent"]],
]


@pytest.mark.parametrize("name", SEVERAL_ROWS)
def test_names_in_several_rows_of_a_sheet_are_asked_about(name: str, tmp_path: Path) -> None:
    above, merged = SEVERAL_ROWS[name]
    path = workbook(tmp_path, [*above, *RECORDS], merged)
    with golden.raises(DataError):
        recognise(path)
    if not merged:
        found = recognise(path, header_row=1).records  # whoever says so is believed
        assert sum(map(len, found.batches(found.column_names()))) == len(above) - 1 + len(RECORDS)


@pytest.mark.parametrize("above", ONE_ROW)
def test_names_in_one_row_of_a_sheet_are_not(above: list[list[object]], tmp_path: Path) -> None:
    assert (
        recognise(workbook(tmp_path, [*above, *RECORDS])).records.column_names()
        == above[-1 if above[0][0] is None else 0]
    )


def workbook(folder: Path, rows: list[list[object]], merged: tuple[str, ...] = ()) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for cells in merged:
        made.active.merge_cells(cells)
    made.save(folder / "a.xlsx")
    return folder / "a.xlsx"
