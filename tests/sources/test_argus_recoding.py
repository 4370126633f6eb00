"""Recodings of tau-ARGUS; the shape of the examples is that of its manual and of the files that come with it."""

from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources.argus_recoding import Recoding, closed_tree, codes_at, read_recoding
from tests.golden import golden

ROWS = [("Total", ""), ("1", "Total"), ("14", "1"), ("141", "14"), ("142", "14"), ("1421", "142"), ("2", "Total")]


def recoding(text: str, folder: Path) -> Recoding:
    (folder / "a.grc").write_text(text, encoding="utf-8")
    return read_recoding(folder / "a.grc")


def test_groups_of_codes(tmp_path: Path) -> None:
    """Codes are compared behind as many blanks as make them as long as the longest: 9 is before 10."""
    made = recoding('1:1-6\n2: 7, 9\n3: 10-\n<MISSING> 99\n<CODELIST> "size.cdl"\n', tmp_path)
    codes = ["1", "2", "6", "7", "8", "9", "10", "12"]
    assert made.of_codes(codes) == {"1": "1", "2": "1", "6": "1", "7": "2", "9": "2", "10": "3", "12": "3"}
    assert recoding("low: -B\nrest: C-", tmp_path).of_codes(["A", "B", "C", "D"]) == {
        "A": "low", "B": "low", "C": "rest", "D": "rest",
    }  # fmt: skip


def test_a_code_takes_in_all_below_it(tmp_path: Path) -> None:
    rows, taken = recoding("<TREERECODE>\n14\n2\n", tmp_path).in_tree(ROWS)
    assert [code for code, _ in rows] == ["Total", "1", "14", "2"]
    assert taken == {"141": "14", "142": "14", "1421": "14"}
    assert closed_tree(ROWS, codes_at(ROWS, 1))[1] == dict.fromkeys(("14", "141", "142", "1421"), "1")
    assert codes_at(ROWS, 3) == ["141", "142"]


@pytest.mark.parametrize(
    "text", ["", "no colon\n", "1:\n", "1:-\n", ":1-2\n", "1:7-9\n", "1:1-3\n2:3-4\n", "<TREERECODE>\n15\n"]
)
def test_refused(text: str, tmp_path: Path) -> None:
    def apply() -> None:
        made = recoding(text, tmp_path)
        made.in_tree(ROWS)
        made.of_codes("1234")

    golden.refused(DataError, apply)


def test_no_file(tmp_path: Path) -> None:
    golden.refused(DataError, read_recoding, tmp_path / "none.grc")
