"""Tables of web pages: PC-Axis and JSON-stat of both versions, in the shapes that their specifications allow."""

import json
from pathlib import Path
from typing import Any

import pytest

from sluice.ground.errors import DataError
from sluice.sources.cube_source import CubeSource, is_cube
from tests.golden import golden

PX = """CHARSET="ANSI";
AXIS-VERSION="2013";
CODEPAGE="utf-8";
LANGUAGE="en";
LANGUAGES="en","sv";
TITLE="Firms; by region "
"and size";
STUB="region";
HEADING="size","year";
STUB[sv]="län";
VALUES("region")="Total","Ö; north","South";
VALUES[sv]("län")="Total","Ö; norr","Syd";
CODES("region")="0","1","2";
VALUES("size")="Total","small";
VALUES("year")="2025";
DECIMALS=0;
DATASYMBOL3="confidential";
DATA=
"100"   60
..      "..."
-       40.5;
"""


def cells(folder: Path, text: str, name: str = "a.px") -> dict[str, list[str]]:
    (folder / name).write_text(text, encoding="utf-8")
    return CubeSource(path=str(folder / name)).cube.columns()


def of_json(folder: Path, written: Any) -> dict[str, list[str]]:
    return cells(folder, json.dumps(written), "a.json")


def test_px(tmp_path: Path) -> None:
    """Codes where there are some, else values; semicolons in quotes; other languages; marks, and what they say."""
    found = cells(tmp_path, PX)
    assert found == {
        "region": ["0", "0", "1", "1", "2", "2"],
        "size": ["Total", "small"] * 3,
        "year": ["2025"] * 6,
        "value": ["100", "60", "..", "confidential", "-", "40.5"],
    }


def version_2(**more: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "class": "dataset",
        "id": ["region", "size"],
        "size": [2, 2],
        "dimension": {
            "region": {"category": {"index": {"2": 1, "0": 0}, "label": {"0": "Total", "2": "South"}}},
            "size": {"category": {"index": ["Total", "small"]}},
        },
        "value": [100, 60, None, 40.5],
        **more,
    }


def test_json_stat_2(tmp_path: Path) -> None:
    found = of_json(tmp_path, version_2())
    assert found == {
        "region": ["0", "0", "2", "2"], "size": ["Total", "small"] * 2, "value": ["100", "60", "", "40.5"],
    }  # fmt: skip
    assert of_json(tmp_path, version_2(status=["", None, "c", ""]))["value"] == ["100", "60", "c", "40.5"]
    assert of_json(tmp_path, version_2(status={"2": ":"}))["value"] == ["100", "60", ":", "40.5"]
    assert of_json(tmp_path, version_2(status="p"))["value"] == ["100", "60", "p", "40.5"]


def test_of_single_values_those_that_are_not_listed_are_no_cells(tmp_path: Path) -> None:
    found = of_json(tmp_path, version_2(value={"0": 100, "3": 40, "1": None}, status={"2": ".."}))
    assert (found["size"], found["value"]) == (["Total", "small", "Total", "small"], ["100", "", "..", "40"])
    found = of_json(tmp_path, version_2(value={"0": 100}))
    assert found == {"region": ["0"], "size": ["Total"], "value": ["100"]}


def test_json_stat_1(tmp_path: Path) -> None:
    """Sizes and names stand among the dimensions; a category alone needs no index."""
    two = version_2()
    dimension = {"id": ["region", "unit"], "size": [2, 1], "region": two["dimension"]["region"],
                 "unit": {"category": {"label": {"N": "number"}}}}  # fmt: skip
    of = {"dimension": dimension, "value": [3, 2]}
    for written in ({"dataset": of}, {"firms": of}):
        found = of_json(tmp_path, written)
        assert found == {"region": ["0", "2"], "unit": ["N", "N"], "value": ["3", "2"]}


def test_which_files_are_such_tables(tmp_path: Path) -> None:
    for name, content, cube in (
        ("a.px", "", True), ("b.json", "\ufeff {}", True), ("c.json", "[1]", False), ("d.csv", "{}", False),
    ):  # fmt: skip
        (tmp_path / name).write_text(content, encoding="utf-8")
        assert is_cube(tmp_path / name) is cube
    assert not is_cube(tmp_path / "none.json")


def test_latin_letters(tmp_path: Path) -> None:
    (tmp_path / "a.px").write_bytes(PX.replace('CODEPAGE="utf-8";\n', "").encode("latin-1"))
    assert len(CubeSource(path=str(tmp_path / "a.px")).cube.dimensions) == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        PX.replace("40.5;", ";"),
        PX.replace("DATA=", 'KEYS("region")=CODES;\nDATA='),
        PX.replace('VALUES("size")="Total","small";', ""),
        PX.replace('"size"', '"value"'),
        '{"class": "collection"}',
        '{"a": {}, "b": {}}',
        '{"a": 3}',
        "{",
        json.dumps(version_2(size=[2, 3])),
        json.dumps(version_2(value=[1])),
        '{"class": ' * 3 + "}",
    ],
)
def test_refused(text: str, tmp_path: Path) -> None:
    golden.refused(DataError, cells, tmp_path, text)


def test_no_file(tmp_path: Path) -> None:
    with golden.raises(DataError):
        _ = CubeSource(path=str(tmp_path / "none.px")).cube


def test_a_small_file_that_asks_for_a_thousand_million_cells_fills_no_memory(tmp_path: Path) -> None:
    names, codes = ["a", "b", "c"], [str(code) for code in range(1000)]
    dimension = {name: {"category": {"index": codes}} for name in names}
    written = {"class": "dataset", "id": names, "size": [1000] * 3, "dimension": dimension, "value": {"0": 1}}
    with golden.raises(DataError):
        of_json(tmp_path, written)
