"""`sluice table audit`: attack a pattern, whoever made it."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flows.cli.main import main
from tests.flows.house import answered, run_here
from tests.golden import golden

# A published table with one blank in each row and column of its upper left corner: x11 + x12 = 30, and so on.
CELLS = """nace,region,status,value
Total,Total,published,180
Total,R1,published,60
Total,R2,published,60
Total,R3,published,60
KA,Total,published,60
KA,R1,primary,
KA,R2,secondary,
KA,R3,published,20
KB,Total,published,60
KB,R1,secondary,
KB,R2,secondary,
KB,R3,published,20
KC,Total,published,60
KC,R1,published,20
KC,R2,published,20
KC,R3,published,20
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nace.csv").write_text("code,parent\nTotal,\nKA,Total\nKB,Total\nKC,Total\n", encoding="utf-8")
    (tmp_path / "region.csv").write_text("code,parent\nTotal,\nR1,Total\nR2,Total\nR3,Total\n", encoding="utf-8")
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    return tmp_path


def arguments(folder: Path, *more: str, cells: str = "cells.csv") -> list[str]:
    hierarchies = [f"--hierarchy={name}={folder / name}.csv" for name in ("nace", "region")]
    return ["audit-table", str(folder / cells), *hierarchies, *more]


def put(folder: Path, old: str, new: str) -> None:
    text = (folder / "cells.csv").read_text(encoding="utf-8")
    assert old in text
    (folder / "cells.csv").write_text(text.replace(old, new), encoding="utf-8")


def with_records(folder: Path, owners: dict[str, list[int]]) -> list[str]:
    """Records of CELLS, ten contributors a cell; `owners`: cell -> contributions instead. Each of a firm of its own."""
    rows = []
    for nace in ("KA", "KB", "KC"):
        for region in ("R1", "R2", "R3"):
            rows += [(nace, region, value) for value in owners.get(f"{nace} {region}", [2] * 10)]
    micro = pd.DataFrame(rows, columns=["nace", "region", "value"])
    micro["id"] = range(len(micro))
    micro.to_csv(folder / "micro.csv", index=False)
    return [f"--microdata={folder / 'micro.csv'}", "--value=value", "--contributor=id", "--rule=p_percent=10"]


def audited(*given: str) -> tuple[int, dict[str, Any]]:
    answer = run_here(*given, "--json")
    assert answer.out, answer.err
    return answer.code, answer.json


def test_what_anybody_can_compute(folder: Path) -> None:
    """Worked by hand: KA, R1 may be anything from 0 to 40, and each blank is the same or 40 less it."""
    code, told = audited(*arguments(folder))
    assert code == 0
    assert (told["cells"], told["primary"], told["secondary"], told["with_records"]) == (16, 1, 3, False)
    assert [(cell["low"], cell["high"]) for cell in told["intervals"]] == [("0", "40")] * 4
    assert told["narrowest"][0] == {
        "nace": "KA",
        "region": "R1",
        "status": "primary",
        "low": "0",
        "high": "40",
        "within_percent": 100.0,
    }


def test_a_packed_file(folder: Path) -> None:
    (folder / "cells.csv.gz").write_bytes(gzip.compress(CELLS.encode()))
    assert main(arguments(folder, cells="cells.csv.gz")) == 0


def test_a_blank_that_can_be_filled(folder: Path) -> None:
    put(folder, "KB,R1,secondary,", "KB,R1,published,20")
    code, told = audited(*arguments(folder))
    assert code == 2
    golden(told["breaches"])
    assert len(told["exactly_known"]) == 3
    shown = answered(arguments(folder), 2)
    golden.where("1 breach", shown.out)
    assert "Without --microdata" in shown.err


def test_an_estimate_that_is_near_enough(folder: Path) -> None:
    """KA, R1 and KA, R3 add up to 40, and KA, R3 is 4 at most: 38 is within 5.6 % of all that KA, R1 can be."""
    put(folder, "KC,R1,published,20", "KC,R1,secondary,")
    put(folder, "KA,R2,secondary,", "KA,R2,published,1")
    put(folder, "KB,R2,secondary,", "KB,R2,published,39")
    code, told = audited(*arguments(folder))
    assert code == 2
    put(folder, "KA,R3,published,20", "KA,R3,secondary,")
    put(folder, "KC,R3,published,20", "KC,R3,secondary,")
    put(folder, "Total,R3,published,60", "Total,R3,published,24")  # so that KA, R3 is 4 at most
    put(folder, "KA,Total,published,60", "KA,Total,published,41")
    put(folder, "KC,Total,published,60", "KC,Total,published,43")
    put(folder, "Total,Total,published,180", "Total,Total,published,144")
    code, told = audited(*arguments(folder))
    cell = next(each for each in told["intervals"] if each["status"] == "primary")
    assert (code, cell["low"], cell["high"]) == (0, "36", "40")
    assert cell["within_percent"] == pytest.approx(100 * 4 / 76, abs=1e-3)
    assert audited(*arguments(folder, "--within=5"))[0] == 0
    code, told = audited(*arguments(folder, "--within=6"))
    assert code == 2
    golden(told["breaches"])


def test_a_suppressed_cell_with_its_value(folder: Path) -> None:
    put(folder, "KA,R1,primary,", "KA,R1,primary,20")
    code, told = audited(*arguments(folder))
    assert code == 2
    golden(told["breaches"][0])


def test_a_cell_that_is_not_there_is_empty(folder: Path) -> None:
    put(folder, "KB,R1,secondary,\n", "")
    put(folder, "Total,R1,published,60", "Total,R1,published,40")
    put(folder, "KB,Total,published,60", "KB,Total,published,40")
    put(folder, "Total,Total,published,180", "Total,Total,published,160")
    code, told = audited(*arguments(folder))
    assert code == 2
    golden(told["breaches"])


def test_linked_tables(folder: Path) -> None:
    margins = [line for line in CELLS.splitlines() if "Total" in line or line.startswith("nace")]
    (folder / "cells.csv").write_text("\n".join(margins), encoding="utf-8")
    assert main(arguments(folder)) == 0
    assert main(arguments(folder, "--table=nace", "--table=region")) == 0


BAD = [
    pytest.param("KC,Total,published,60", "KC,Total,published,61", id="a total that is none"),
    pytest.param("KC,R3,published,20", "KC,R3,published,20.000001", id="a total that is one off"),
    pytest.param("KA,R3,published,20", "KA,R3,published,61", id="a total that cannot be"),
    pytest.param("KC,R3", "KCC,R3", id="an unknown code"),
    pytest.param("KC,R3", "KC,R2", id="a cell twice"),
    pytest.param("primary", "primry", id="an unknown status"),
    pytest.param("KC,R3,published,20", "KC,R3,published,", id="no value"),
    pytest.param("KC,R3,published,20", "KC,R3,published,c", id="no number"),
    pytest.param("nace,region,status,value", "nace,region,state,value", id="no column"),
    pytest.param("nace,region,status,value", "nace,region,a,b", id="no columns"),
    pytest.param("KC,R3,published,20", "KC,R3,published,-20", id="a negative value"),
    pytest.param("KC,R3,published,20", "KC,R3", id="a short line"),
]


@pytest.mark.parametrize(("old", "new"), BAD)
def test_bad_input(folder: Path, old: str, new: str) -> None:
    put(folder, old, new)
    told = answered(arguments(folder), 1)
    golden(told.err)
    assert told.out == ""


def test_with_the_records(folder: Path) -> None:
    given = with_records(folder, {"KA R1": [19, 1]})
    code, told = audited(*arguments(folder, *given))
    assert (code, told["breaches"], told["sensitive"]) == (0, [], {"p_percent": 1})
    assert told["attacks"]["attempted"] == told["attacks"]["completed"] > 0
    assert "audit: safe" in answered(arguments(folder, *given)).out


def test_a_sensitive_cell_that_is_published(folder: Path) -> None:
    given = with_records(folder, {"KC R3": [19, 1]})
    code, told = audited(*arguments(folder, *given))
    assert code == 2
    golden([each for each in told["breaches"] if "nace KC, region R3" in each])


def test_a_contributor_who_undoes_a_neighbour(folder: Path) -> None:
    """Safe against outsiders; but the only contributor of KB, R1 knows that cell, and so the three others."""
    given = with_records(folder, {"KA R1": [19, 1], "KB R1": [20]})
    code, told = audited(*arguments(folder, *given))
    assert code == 2
    assert told["attackers"]["outsider"] == 0
    assert told["attackers"]["contributor"] > 0
    assert any("the sole contributor of nace KB, region R1" in breach for breach in told["breaches"])
    assert main(arguments(folder)) == 0  # what is published alone does not show it
    assert audited(*arguments(folder, *given, "--set=table_attackers.coalition=0"))[1]["attackers"]["contributor"] == 0


def test_values_that_are_not_those_of_the_records(folder: Path) -> None:
    given = with_records(folder, {"KC R3": [2] * 11})
    golden.words(answered(arguments(folder, *given), 1).err)
    put(folder, "KC,R3,published,20\n", "")
    golden(answered(arguments(folder, *with_records(folder, {})), 1).err)
    (folder / "cells.csv").write_text(CELLS, encoding="utf-8")
    golden(answered(arguments(folder, *with_records(folder, {"KC R3": []})), 1).err)


def test_options_that_need_others(folder: Path) -> None:
    for more in (
        ("--contributor=id", "--value=value"),
        (*with_records(folder, {}), "--within=5"),
        (*with_records(folder, {})[:-1],),
        ("--set=measure.negative=no",),
    ):
        golden(answered(arguments(folder, *more), 1).err)


def test_parts_and_their_sum_are_audited_together(tmp_path: Path) -> None:
    """What a quarter suppresses, the year and the other quarters give back, each of them safe by itself."""
    cells = {"A": ("published", 50), "B": ("published", 60), "Total": ("published", 110)}
    hidden = cells | {"A": ("suppressed", ""), "B": ("suppressed", "")}
    year = {code: ("published", 4 * int(value)) for code, (_, value) in cells.items()}
    for name, table in (("q1", hidden), ("q2", cells), ("q3", cells), ("q4", cells), ("year", year)):
        rows = "".join(f"{code},{status},{value}\n" for code, (status, value) in table.items())
        (tmp_path / f"{name}.csv").write_text(f"act,status,value\n{rows}", encoding="utf-8")
    audit = ["audit-table", str(tmp_path / "year.csv"), "--hierarchy=act", "--json"]
    parts = [f"--sum-of={tmp_path / f'q{quarter}.csv'}" for quarter in (1, 2, 3, 4)]
    for quarter in (1, 2, 3, 4):
        assert answered(["audit-table", str(tmp_path / f"q{quarter}.csv"), "--hierarchy=act", "--json"]).json["safe"]
    assert answered(audit).json["safe"]
    assert answered([*audit, *parts], 2).json["exactly_known"] == ["act A, part q1", "act B, part q1"]
    assert answered([*audit, *parts[:2]], 1).err  # two of four quarters are no year
    golden(answered([*audit, parts[0], parts[0]], 1).err)
    golden(answered([*audit, *parts, f"--microdata={tmp_path / 'q1.csv'}", "--rule=minimum_frequency=3"], 1).err)
