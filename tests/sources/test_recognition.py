"""A file is what its bytes say: formats that are read come back equal, others are named, and nothing is guessed."""

import gzip
import io
import pickle
import zipfile
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
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
    golden(found.says)


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
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\n \n", id="blank"),
        pytest.param(b"%PDF-1.7\n1,2", id="pdf"),
        pytest.param(OLE + "Workbook".encode("utf-16-le"), id="old_excel"),
        pytest.param(OLE + "EncryptedPackage".encode("utf-16-le"), id="office_password"),
        pytest.param(gzip.compress(b"X\n\0\0\0\3\0\4"), id="rds"),
        pytest.param(gzip.compress(b"RDX3\nX\n"), id="rda"),
        pytest.param(b"\x1c\0\0\0\0\0\0\0ENCRYPTEDSAV\0\0", id="spss_password"),
        pytest.param(pickle.dumps({"a": 1}), id="pickle"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0", id="picture"),
        pytest.param(archive(**{"word/document.xml": b"", "[Content_Types].xml": b""}), id="word"),
        pytest.param(archive(**{"content.xml": b"", "mimetype": b""}), id="open_document"),
        pytest.param(archive(a=b"a,b\n1,2\n", b=b""), id="two_members"),
        pytest.param(gzip.compress(gzip.compress(b"a,b\n1,2\n")), id="packed_twice"),
        pytest.param(gzip.compress(b"PAR1"), id="packed_parquet"),
        pytest.param(b'{"records": [1]}', id="json"),
        pytest.param(b"<!DOCTYPE html><html>", id="web_page"),
        pytest.param(b"<table border=1>\n" + b"<tr><td>1</td></tr>\n" * 20, id="table_of_a_web_page"),
        pytest.param(b"a,b\n1,2\0\n", id="zero_byte"),
        pytest.param(b"id,x\n" + b"1,a\0b\n" * 20, id="zero_bytes"),
        pytest.param(b"id,xy\n" + b"1,a\0b\n" * 20, id="zero_bytes_in_a_pair"),
        pytest.param("a,b\n1,\udc01\n".encode("utf-16-le", "surrogatepass"), id="utf_16"),
        pytest.param(b"a,b\n1,x\n2,x\ry,3\n", id="cr_of_two"),
        pytest.param(b'a,b\r\n1,"x\ry"\r\n2,x\r3,y\r\n', id="cr_in_quotes"),
        pytest.param(b"PAR1 and no more", id="parquet"),
        pytest.param(b"<stata_dta><header>", id="stata"),
        pytest.param(b"$FL2@(#) IBM SPSS", id="spss"),
        pytest.param(b"A;B;C\n1;2\n1;2;3;4\n", id="semicolon"),
        pytest.param(b"12 34 B 0007 99 X\n" * 5, id="fixed_width"),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, content: bytes) -> None:
    golden.refused(DataError, recognise, csv(tmp_path, content))


def test_line_ends_of_any_program_are_read(tmp_path: Path) -> None:
    for content in ("a,b\r1,2\r3,4\r", "a,b\r\r\n1,2\r\n3,4\n", 'a,b\n1,"2\r3"\n3,4\n', 'a,b\r1,"2\n3"\r3,4\r'):
        found = recognise(csv(tmp_path, content)).records
        assert sum(map(len, found.batches(["a", "b"]))) == 2


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
        made.execute("CREATE TABLE t AS SELECT 1 AS id, INTERVAL 1 DAY AS stay, {'a': 1} AS parts, 'x'::BLOB AS scan")
    found = recognise(tmp_path / "a.bin")
    assert found.records.column_names() == ["id"]
    assert set(found.records.left_out()) == {"stay", "parts", "scan"}
    golden(found.says[-1])
    assert [table.to_pylist() for table in found.records.tables(["id"])] == [[{"id": 1}]]


def test_a_file_none_of_whose_columns_is_read_is_not_said_to_hold_no_record(tmp_path: Path) -> None:
    pq.write_table(pa.table({"scan": [b"x", b"y"]}), tmp_path / "a.parquet")
    with golden.raises(DataError):
        recognise(tmp_path / "a.parquet")


@pytest.mark.parametrize("name", ["", " "])
def test_a_column_without_a_name_is_left_out_and_named_whatever_the_file_is(tmp_path: Path, name: str) -> None:
    table = pa.table({"id": [1], name: [2], "scan": [b"x"]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.OSFile(str(tmp_path / "a.arrow"), "w") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    files = ["a.parquet", "a.arrow"]
    if name:  # DuckDB has no column whose name is empty
        with duckdb.connect(tmp_path / "a.duckdb") as made:
            made.execute("CREATE TABLE t AS SELECT 1 AS id, 2 AS \" \", 'x'::BLOB AS scan")
        files.append("a.duckdb")
    for each in files:
        found = recognise(tmp_path / each)
        assert found.records.column_names() == ["id"]
        assert set(found.records.left_out()) == {"column 2", "scan"}
        assert [rows.to_pylist() for rows in found.records.tables(["id"])] == [[{"id": 1}]]


def test_a_table_of_another_schema_is_named_with_it(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute("CREATE SCHEMA police; CREATE TABLE police.stops AS SELECT 1 AS id, 'x' AS sex")
    found = recognise(tmp_path / "a.duckdb")
    assert found.written(tmp_path) == {"type": "duckdb", "path": "a.duckdb", "table": "police.stops"}
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute("CREATE VIEW searched AS SELECT * FROM police.stops")
    with golden.raises(DataError):
        recognise(tmp_path / "a.duckdb")


def test_a_workbook_without_a_cell_is_refused(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "a.xlsx")
    for sheet in (None, "Sheet"):
        with golden.raises(DataError):
            recognise(tmp_path / "a.xlsx", sheet)


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
    golden(found.says)
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
