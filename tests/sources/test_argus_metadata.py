"""Metadata of tau-ARGUS, in the shape of the manual's examples and of what rtauargus writes."""

from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources.argus_metadata import hierarchy_of_widths, metadata_text, read_metadata
from tests.golden import golden

OF_CELLS = """   <SEPARATOR> ";"
   <SAFE> s
   <UNSAFE> u
Size "99"
    <RECODEABLE>
    <TOTCODE> "All"
Region
    <RECODABLE>
    <HIERARCHICAL>
    <HIERCODELIST> "my regions.hrc"
    <HIERLEADSTRING> "@"
    <DISTANCE> 2 4 4 4 4
Var2
    <NUMERIC>
    <DECIMALS> 2
Freq
    <FREQUENCY>
Var2_Shadow
    <NUMERIC> <SHADOW>
Cost
    <NUMERIC> <COSTVAR>
Top1
    <MAXSCORE>
Top2
    <MAXSCORE>
Status
    <STATUS>
Lower
    <NUMERIC> <LOWERPL>
Upper
    <NUMERIC> <UPPERPL>
"""
OF_RECORDS = """Size 1 2 99
  <RECODEABLE>
Industry 3 5 "99999"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 3 1 1 0 0
Var2 8 7
  <NUMERIC>
  <DECIMALS> 1
Group 15 2
  <HOLDING>
Asked 17 1
  <REQUEST> "1" "2"
Wgt 18 3
  <WEIGHT>
"""


def write(folder: Path, text: str, name: str = "a.rda") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_cells(tmp_path: Path) -> None:
    read = read_metadata(write(tmp_path, OF_CELLS))
    roles = ["dimension", "dimension", "number", "frequency", "shadow", "cost", "largest", "largest", "status", "lower",
             "upper"]  # fmt: skip
    assert [each.role for each in read.variables] == roles
    assert (read.separator, dict(read.words)) == (";", {"s": "safe", "u": "unsafe"})
    assert (read.variable("size").total, read.variable("Region").total) == ("All", "Total")
    assert read.variable("Region").said["HIERCODELIST"] == "my regions.hrc"
    assert (read.variable("Var2").decimals, read.variable("Freq").decimals) == (2, None)
    assert [each.missing for each in read.variables[:2]] == [("99",), ()]


def test_widths_and_missing_codes(tmp_path: Path) -> None:
    """A number is a width, one in quotes a code; without a separator there is a place before the width."""
    read = read_metadata(write(tmp_path, '<SEPARATOR> ","\nA 2 "99"\nB 2 98 "x"\nC "97" "96"\nD\nE 5\n'))
    assert [each.missing for each in read.variables] == [("99",), ("98", "x"), ("97", "96"), (), ()]
    read = read_metadata(write(tmp_path, 'A 1 2 99 "98"\nB 3 1\n'))
    assert [each.missing for each in read.variables] == [("99", "98"), ()]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    read = read_metadata(write(tmp_path, OF_CELLS))
    again = read_metadata(write(tmp_path, metadata_text(read), "b.rda"))
    assert (again.separator, again.words) == (read.separator, read.words)
    for one, other in zip(read.variables, again.variables, strict=True):
        assert (one.name, one.role, one.missing, one.said) == (other.name, other.role, other.missing, other.said)


def test_records_of_fixed_width(tmp_path: Path) -> None:
    read = read_metadata(write(tmp_path, OF_RECORDS))
    (tmp_path / "a.asc").write_text(" 10111 1234,5 11\n", encoding="utf-8")
    assert [each.role for each in read.variables] == [
        "dimension",
        "dimension",
        "number",
        "holding",
        "request",
        "weight",
    ]
    with pytest.raises(DataError):
        read.read(tmp_path / "a.asc")  # too short a line
    lines = [" 10111  1234,5G112.5", " 20121     3.0G2   1"]
    (tmp_path / "a.asc").write_text("\n".join(lines), encoding="utf-8")
    frame = read.read(tmp_path / "a.asc")
    assert frame["Size"].tolist() == ["1", "2"]
    assert frame["Var2"].tolist() == ["1234.5", "3.0"]


def test_cells_with_a_separator(tmp_path: Path) -> None:
    (tmp_path / "a.tab").write_text('" 2";"All";5,50;6;5,50;5,50;5,00;0,50;U;0,75;0,75\n', encoding="utf-8")
    frame = read_metadata(write(tmp_path, OF_CELLS)).read(tmp_path / "a.tab")
    assert frame.iloc[0].tolist() == ["2", "All", "5.50", "6", "5.50", "5.50", "5.00", "0.50", "U", "0.75", "0.75"]


def test_hierarchy_of_widths() -> None:
    rows = hierarchy_of_widths(["0111", "0112", "02", "0120"], [2, 1, 1, 0], "Total", "here")
    assert rows == [
        ("Total", ""), ("01", "Total"), ("011", "01"), ("0111", "011"), ("0112", "011"), ("012", "01"),
        ("0120", "012"), ("02", "Total"),
    ]  # fmt: skip
    golden.refused(DataError, hierarchy_of_widths, ["01112"], [2, 1, 1], "Total", "here")


@pytest.mark.parametrize("text", ["", "   <SPSS>\nSize\n", "<RECODEABLE>\nSize 1 2\n", "Size 1 2\n  <CKN> T(3)\n"])
def test_refused(text: str, tmp_path: Path) -> None:
    golden.refused(DataError, read_metadata, write(tmp_path, text))


def test_a_variable_that_there_is_not(tmp_path: Path) -> None:
    read = read_metadata(write(tmp_path, OF_CELLS.replace("<MAXSCORE>", "<FREQUENCY>")))
    golden.refused(DataError, read.variable, "Var")
    golden.refused(DataError, read.only, "frequency")
    golden.refused(DataError, read_metadata, tmp_path / "none.rda")
    golden.refused(DataError, read.read, tmp_path / "none.tab")
