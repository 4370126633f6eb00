"""Tables of an office's web page, audited in each form in which they may be saved: all answer the same."""

import json
from pathlib import Path

import pandas as pd
import pytest

import sluice
from tests.flows.house import BLOCKED, DONE, answered
from tests.golden import golden

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


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_title_above_the_names(kind: str, tmp_path: Path) -> None:
    """As web pages export them; without the line of the names the file is refused, with a wrong one, too."""
    path = save(tmp_path, kind, VALUES)
    if kind == "csv":
        titled = "Turnover by region and size\nin thousands\n" + path.read_text(encoding="utf-8")
        path.write_text(titled, encoding="utf-8")
    else:
        frame = pd.read_excel(path)
        with pd.ExcelWriter(path) as book:
            frame.to_excel(book, index=False, startrow=2)
            book.sheets["Sheet1"].cell(1, 1, "Turnover by region and size")
    found = audit(path, "--header-row=3", code=BLOCKED)
    assert found["exactly_known"] == ["region south, size large"]
    for wrong in ("--header-row=4", "--header-row=900"):
        answered(["audit-table", str(path), "--hierarchy=region", "--hierarchy=size", wrong], 1).refused(figures=True)
    golden.words(answered(["audit-table", str(tmp_path), "--hierarchy=region", "--header-row=3"], 1).err)


def test_values_below_zero_are_as_near_as_those_above() -> None:
    """Losses of 80 to 60 are within 14.3 % as gains are; what may be either has no nearness."""
    rows = [
        ("Total", "Total", -160),
        ("Total", "N", -100),
        ("Total", "S", -60),
        ("A", "Total", -90),
        ("B", "Total", -70),
    ]
    cells = pd.DataFrame([*rows, *((a, b, None) for a in "AB" for b in "NS")], columns=["a", "b", "value"])
    cells["status"] = ["published" if pd.notna(value) else "suppressed" for value in cells["value"]]
    bounds = pd.DataFrame({"a": ["A"], "b": ["N"], "lower": [-80], "upper": [-60]})
    for sign in (1, -1):
        known = bounds if sign == 1 else bounds.assign(lower=-bounds["upper"], upper=-bounds["lower"])
        table = cells.assign(value=sign * cells["value"])
        found = sluice.audit(table, ["a", "b"], nonnegative=False, known=known)
        near = {(each["a"], each["b"]): each["within_percent"] for each in found.summary()["narrowest"]}
        assert near["A", "N"] == pytest.approx(100 * 20 / 140, abs=1e-3)
        assert near["B", "S"] == pytest.approx(100 * 20 / 80, abs=1e-3)  # from -50 to -30
    free = sluice.audit(cells, ["a", "b"], nonnegative=False, known=bounds.assign(lower=-80, upper=40))
    near = {(each["a"], each["b"]): each["within_percent"] for each in free.summary()["narrowest"]}
    assert near["A", "N"] == 100


def test_what_a_file_says_of_a_value_that_is_there_is_not_passed_over(tmp_path: Path) -> None:
    """Confidential figures of an internal file: JSON-stat says so beside them."""
    path = save(tmp_path, "json", [["100", "60", "40"], ["70", "40", "30"], ["30", "20", "10"]])
    written = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**written, "status": {"17": "c", "0": "p"}}), encoding="utf-8")
    assert not audit(path, code=BLOCKED)["safe"]  # a suppressed cell has a value
    assert audit(path, "--hide-values", code=BLOCKED)["exactly_known"] == ["region south, size large"]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_tables_and_hierarchies_are_read_in_the_encoding_that_they_prove(tmp_path: Path, encoding: str) -> None:
    path = save(tmp_path, "csv", BOX)
    plain = audit(path)
    path.write_bytes(path.read_text(encoding="utf-8").replace("north", "Büro").encode(encoding))
    assert audit(path) == plain
    (tmp_path / "region.csv").write_bytes("code,parent\nTotal,\nBüro,Total\nsouth,Total\n".encode(encoding))
    (tmp_path / "region.hrc").write_bytes("Büro\nsouth\n".encode(encoding))
    for kind in ("csv", "hrc"):
        options = [f"--hierarchy=region={tmp_path / 'region'}.{kind}", "--hierarchy=size", "--only=year=2025", "--json"]
        assert answered(["audit-table", str(path), *options], DONE).json["safe"] == plain["safe"]


def test_what_is_no_hierarchy_and_what_is_no_total_are_said(tmp_path: Path) -> None:
    path = save(tmp_path, "csv", BOX)
    (tmp_path / "region.json").write_text('{"Total": ["north", "south"]}', encoding="utf-8")
    options = ["--hierarchy=size", "--only=year=2025"]
    golden.words(answered(["audit-table", str(path), f"--hierarchy=region={tmp_path}/region.json", *options], 1).words)
    path.write_text(path.read_text(encoding="utf-8").replace("Total", "Insgesamt"), encoding="utf-8")
    golden.words(answered(["audit-table", str(path), "--hierarchy=region", *options], 1).words)
