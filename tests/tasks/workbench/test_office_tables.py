"""Tables of an office's web page, audited in each form in which they may be saved: all answer the same."""

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.flows.house import BLOCKED, DONE, answered

REGIONS, SIZES = ["Total", "north", "south"], ["Total", "small", "large"]
# The one mark of its row and its column is computed from either.
VALUES = [["100", "60", "40"], ["70", "40", "30"], ["30", "20", ".."]]
BOX = [["100", "60", "40"], ["70", "..", ".."], ["30", "..", ".."]]


def save(folder: Path, kind: str, values: list[list[str]], year: str = "2025") -> Path:
    rows = [
        {"region": region, "size": size, "year": each, "value": values[i][j] if each == year else "7"}
        for i, region in enumerate(REGIONS)
        for j, size in enumerate(SIZES)
        for each in ("2024", year)
    ]
    path = folder / f"table.{kind}"
    if kind == "px":
        lists = {"region": REGIONS, "size": SIZES, "year": ["2024", year]}
        quoted = {name: ",".join(f'"{code}"' for code in codes) for name, codes in lists.items()}
        said = "".join(f'VALUES("{name}")={codes};\n' for name, codes in quoted.items())
        data = " ".join(row["value"] if row["value"][0].isdigit() else f'"{row["value"]}"' for row in rows)
        path.write_text(f'CHARSET="ANSI";\nSTUB="region";\nHEADING="size","year";\n{said}DATA=\n{data};\n', "utf-8")
    elif kind == "json":
        numbers = [float(row["value"]) if row["value"][0].isdigit() else None for row in rows]
        marks = {str(at): row["value"] for at, row in enumerate(rows) if not row["value"][0].isdigit()}
        written = {
            "class": "dataset", "version": "2.0", "id": ["region", "size", "year"], "size": [3, 3, 2],
            "dimension": {
                name: {"category": {"index": codes}}
                for name, codes in (("region", REGIONS), ("size", SIZES), ("year", ["2024", year]))
            },
            "value": numbers, "status": marks,
        }  # fmt: skip
        path.write_text(json.dumps(written), encoding="utf-8")
    elif kind == "xlsx":
        frame = pd.DataFrame(rows)
        frame["value"] = [float(each) if each[0].isdigit() else each for each in frame["value"]]
        frame.to_excel(path, index=False)
    else:
        pd.DataFrame(rows).to_csv(path, index=False)
    return path


def audit(path: Path, *more: str, code: int = DONE) -> dict[str, object]:
    options = ["--hierarchy=region", "--hierarchy=size", "--only=year=2025", "--json"]
    found: dict[str, object] = answered(["audit-table", str(path), *options, *more], code).json
    return {name: found[name] for name in ("cells", "suppressed", "exactly_known", "safe")}


@pytest.mark.parametrize("kind", ["csv", "px", "json", "xlsx"])
def test_every_form_answers_the_same(kind: str, tmp_path: Path) -> None:
    found = audit(save(tmp_path, kind, VALUES), code=BLOCKED)
    assert found["exactly_known"] == ["region south, size large"]
    found = audit(save(tmp_path, kind, BOX))
    assert (found["cells"], found["suppressed"], found["exactly_known"], found["safe"]) == (9, 4, [], True)


@pytest.mark.parametrize("kind", ["csv", "px", "json", "xlsx"])
def test_rounding_and_decimals(kind: str, tmp_path: Path) -> None:
    """Each figure rounded by itself to 5: the box holds, and a total that is too far off is named."""
    rounded = [["100", "60", "45"], ["70", "..", ".."], ["30", "..", ".."]]
    path = save(tmp_path, kind, rounded)
    options = ["--hierarchy=region", "--hierarchy=size", "--only=year=2025"]
    answered(["audit-table", str(path), *options], 1).refused(figures=True)
    assert audit(path, "--rounded-to=5")["safe"]
    decimals = [["100.04", "60.01", "40.03"], ["70", "..", ".."], ["30.04", "..", ".."]]
    assert audit(save(tmp_path, kind, decimals), "--decimals=1")["safe"]


@pytest.mark.parametrize("mark", [".", ":", "-", "n/a"])
def test_a_mark_that_may_stand_for_several_things_is_asked_about(mark: str, tmp_path: Path) -> None:
    box = [[each.replace("..", mark) for each in row] for row in BOX]
    path = save(tmp_path, "px", box)
    options = ["--hierarchy=region", "--hierarchy=size", "--only=year=2025"]
    assert f"--status-word {mark}=suppressed" in answered(["audit-table", str(path), *options], 1).words
    assert audit(path, f"--status-word={mark}=suppressed")["suppressed"] == 4
    zero = [["100", "60", "40"], ["70", "30", "40"], ["30", "30", mark]]
    assert audit(save(tmp_path, "px", zero), f"--status-word={mark}=zero")["cells"] == 9
    assert audit(save(tmp_path, "px", zero), f"--status-word={mark}=absent")["cells"] == 8


def test_one_code_alone(tmp_path: Path) -> None:
    path = save(tmp_path, "px", VALUES)
    for only in ("year=1999", "year", "month=1"):
        answered(["audit-table", str(path), "--hierarchy=region", "--hierarchy=size", f"--only={only}"], 1).refused()
