"""One sheet of a workbook: values as they are, and no bomb, no riddle, no cell in an error."""

import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from sluice.sources.sources import ExcelSource
from tests.golden import golden
from tests.sources.readers import SECRET, cells, refusal


def book(path: Path, *rows: list[Any], change: Callable[[Any], None] = lambda sheet: None) -> ExcelSource:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    change(made.active)
    made.save(path)
    return ExcelSource(path=str(path))


def test_values_are_what_they_are(tmp_path: Path) -> None:
    def zeros(sheet: Any) -> None:
        sheet["C2"].number_format = "00000"
        sheet["C3"].number_format = "00000"

    day = datetime(2024, 2, 29)
    source = book(
        tmp_path / "a.xlsx",
        ["code", "n", "zip", "day", "yes", "mixed", 2024],
        ["01", 1, 1067, day, True, "01", 1.5],
        ["02", 2.5, 99084, day, False, 2, None],
        [None, None, None, None, None, None, None],
        ["03", None, None, None, None, day, 3],
        [None] * 7,
        change=zeros,
    )
    stamp = pd.Timestamp(day)
    for size in (1, 100):
        assert cells(source, "code", "n", "zip", "day", "yes", "2024", size=size) == [
            ["01", 1, "01067", stamp, True, 1.5],
            ["02", 2.5, "99084", stamp, False, None],
            [None, None, None, None, None, None],  # a row that is empty between others is a record
            ["03", None, None, None, None, 3],
        ]
    assert cells(source, "mixed")[:2] == [["01"], ["2"]]
    assert source.column_names()[-1] == "2024"


def test_a_date_outside_the_calendar_is_missing_and_remarked_upon(tmp_path: Path) -> None:
    def late(sheet: Any) -> None:
        sheet["B4"] = 3_000_000
        sheet["B4"].number_format = "yyyy-mm-dd"

    day = datetime(2024, 2, 29)
    source = book(tmp_path / "a.xlsx", ["id", "visit"], [1, day], [2, day], [3, day], [4, day], change=late)
    for size in (2, 100):
        assert cells(source, "id", "visit", size=size)[2] == [3, None]
        [said] = source.remarks.all()
        assert (said.code, said.column, said.count, said.first) == ("reading.beyond_calendar", "visit", 1, 3)


def test_the_stored_value_of_a_formula_counts(tmp_path: Path) -> None:
    source = book(tmp_path / "a.xlsx", ["a", "b"], [1, 2], [1, "=A2*2"])
    golden(refusal(source, "a"))
    sheet = edited(tmp_path / "a.xlsx", "xl/worksheets/sheet1.xml", "<f>A2*2</f><v", "<f>A2*2</f><v>2</v><v")
    assert cells(ExcelSource(path=str(sheet)), "b") == [[2], [2]]


def edited(path: Path, part: str, old: str, new: str) -> Path:
    """A workbook with a part that no program writes."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old.encode() in parts[part]
    parts[part] = parts[part].replace(old.encode(), new.encode(), 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_what_would_be_read_wrongly_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    merged = book(path, ["a", "b"], [SECRET, 1], [None, 2], change=lambda sheet: sheet.merge_cells("A2:A3"))
    golden(refusal(merged, "a"))
    title = book(path, ["x", None], ["a", "b"], [1, 2], change=lambda sheet: sheet.merge_cells("A1:B1"))
    assert cells(title.model_copy(update={"header_row": 2}), "a", "b") == [[1, 2]]  # above the table they may be
    broken = book(path, ["a"], ["#REF!"], ["x"], change=lambda sheet: setattr(sheet["A2"], "data_type", "e"))
    golden(refusal(broken, "a"))
    absent = book(path, ["a"], ["#N/A"], [2], change=lambda sheet: setattr(sheet["A2"], "data_type", "e"))
    assert cells(absent, "a") == [["#N/A"], ["2"]]  # a mark for missing among numbers
    golden.words(refusal(absent.model_copy(update={"sheet": "Shet"}), "a"))
    golden(refusal(absent.model_copy(update={"header_row": 9}), "a"))
    golden.words(refusal(book(path, ["a", "a"], [1, 2]), "a"))
    without_an_end = book(path, ["a"], [1])
    edited(path, "xl/worksheets/sheet1.xml", "</sheetData>", "")
    golden(refusal(without_an_end, "a"))


@pytest.mark.chain
def test_a_workbook_that_wants_to_grow_or_to_reach_out(tmp_path: Path) -> None:
    """A billion laughs, a file of the house as an entity, a part that says it is small: none of them is parsed."""
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    house = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    for part in ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/styles.xml"):
        for bomb in (laughs, house, f"<!--<a {' ' * (1 << 16)}-->{laughs}"):
            source = book(tmp_path / "a.xlsx", ["a"], [1])
            start = "<workbook" if part == "xl/workbook.xml" else "<worksheet" if "sheet" in part else "<styleSheet"
            edited(tmp_path / "a.xlsx", part, start, bomb + start)
            golden.words(refusal(source, "a"))
    source = book(tmp_path / "a.xlsx", ["a"], [1])
    path = tmp_path / "a.xlsx"
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/sharedStrings2.xml", "w", force_zip64=True) as large,
    ):
        for _ in range(257):
            large.write(bytes(1 << 20))
    golden(refusal(source, "a"))


@pytest.mark.parametrize(
    ("part", "many", "says"),
    [
        ("xl/texts.xml", "<si/>" * ((4 << 20) + 1), "its shared strings hold more than 4,194,304 elements"),
        ("xl/styles.xml", "<xf/>" * ((1 << 18) + 1), "a part of it holds more than 262,144 elements"),
    ],
    ids=["shared strings", "styles"],
)
def test_a_small_workbook_of_millions_of_elements(tmp_path: Path, part: str, many: str, says: str) -> None:
    """By whatever name the part goes: each element would take its time, and memory."""
    path = tmp_path / "a.xlsx"
    source = book(path, ["a"], [SECRET])
    with zipfile.ZipFile(path, "a") as archive:
        names = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        archive.writestr("xl/texts.xml", f'<sst xmlns="{names}"></sst>')
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/xl/texts.xml" ContentType="{kind}"/></Types>'
    edited(path, "[Content_Types].xml", "</Types>", override)
    assert cells(source, "a") == [[SECRET]]
    end = "</sst>" if part == "xl/texts.xml" else "</cellXfs>"
    edited(path, part, end, many + end)
    assert path.stat().st_size < 100_000
    answer = refusal(source, "a")
    assert str(path) in answer
    assert says in answer


def test_links_to_other_workbooks_are_not_followed(tmp_path: Path) -> None:
    source = book(tmp_path / "a.xlsx", ["a"], [1])
    with zipfile.ZipFile(tmp_path / "a.xlsx", "a") as archive:
        archive.writestr("xl/externalLinks/externalLink1.xml", '<externalLink xmlns="x"/>')
        archive.writestr(
            "xl/externalLinks/_rels/externalLink1.xml.rels", '<Relationships Target="//host/share/b.xlsx"/>'
        )
    assert cells(source, "a") == [[1]]


def test_no_record_is_told_where_the_header_should_be(tmp_path: Path) -> None:
    """Who submits a definition, and must not see the records, asks for them one by one: header_row: 2, 3, ..."""
    source = book(tmp_path / "a.xlsx", ["name", "income"], [SECRET, 1], [SECRET, SECRET])
    for row in (2, 3):
        golden.words(refusal(source.model_copy(update={"header_row": row}), "name", "income"))
    golden.words(refusal(source, "name", "geld"))


def test_a_part_that_is_not_read_may_be_in_utf_16(tmp_path: Path) -> None:
    """Power Query keeps its query so; a definition that grows is found in UTF-16, too, where the part is read."""
    source = book(tmp_path / "a.xlsx", ["a", "b"], [1, "x"])
    with zipfile.ZipFile(tmp_path / "a.xlsx", "a") as archive:
        archive.writestr("customXml/item1.xml", '<?xml version="1.0" encoding="utf-16"?><q/>'.encode("utf-16"))
    assert source.column_names() == ["a", "b"]
    with zipfile.ZipFile(tmp_path / "a.xlsx", "a") as archive:
        archive.writestr("xl/other.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a/>'.encode("utf-16"))
    assert "DTD" in refusal(source, "a")


def test_the_row_of_the_names_may_be_said(tmp_path: Path) -> None:
    source = book(tmp_path / "a.xlsx", ["Survey", "of", "2024"], ["a", "b", "c"], [1, 2, 3])
    [outline] = source.outlines(header_row=2)
    assert (outline.header_row, outline.columns) == (2, 3)
    assert source.model_copy(update={"header_row": 2}).column_names() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/styles.xml", '<patternFill patternType="gray125"/>', ""),
        ("xl/styles.xml", '<family val="2"/>', '<family val="99"/><color rgb="12"/>'),
        ("xl/workbook.xml", 'activeTab="0"', 'activeTab="none"'),
        ("xl/workbook.xml", "<definedNames/>", '<definedNames><definedName name="a" localSheetId="x"/></definedNames>'),
        ("docProps/core.xml", 'W3CDTF">', 'W3CDTF">yesterday '),
        (
            "xl/worksheets/sheet1.xml",
            "<sheetData>",
            '<sheetViews><sheetView workbookViewId="q"/></sheetViews><sheetData>',
        ),
        (
            "xl/worksheets/sheet1.xml",
            "</sheetData>",
            '</sheetData><autoFilter ref="A1:B2"><filterColumn colId="0"><customFilters><customFilter operator="near" '
            'val="!" /></customFilters></filterColumn></autoFilter>',
        ),
        ("xl/worksheets/sheet1.xml", 'left="0.75"', 'left="wide"'),
    ],
)  # fmt: skip
def test_what_does_not_count_may_be_written_as_programs_like(tmp_path: Path, part: str, old: str, new: str) -> None:
    """Excel opens all of these, and openpyxl none: 'expected Fill', 'Max value is 14'. Formats of dates still count."""
    path = tmp_path / "a.xlsx"
    source = book(path, ["n", "day"], [1, datetime(2024, 2, 29)])
    edited(path, part, old, new)
    with pytest.raises((TypeError, ValueError)):
        openpyxl.load_workbook(path)
    assert cells(source, "n", "day") == [[1, pd.Timestamp("2024-02-29")]]


def test_a_time_of_more_than_a_day_keeps_its_hours(tmp_path: Path) -> None:
    source = book(tmp_path / "a.xlsx", ["n", "worked"], [1, timedelta(hours=30, minutes=5)])
    assert cells(source, "worked") == [["30:05:00"]]


def test_a_note_below_the_records_is_none_of_them(tmp_path: Path) -> None:
    source = book(tmp_path / "a.xlsx", ["a", "b", "c"], [1, 2, 3], [None, None, None], [SECRET, None, None])
    golden(refusal(source, "a"))


def test_strict_open_xml_says_how_to_save_it(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    source = book(path, ["a"], [1])
    plain = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    edited(path, "xl/workbook.xml", plain, "http://purl.oclc.org/ooxml/spreadsheetml/main")
    golden(refusal(source, "a"))
