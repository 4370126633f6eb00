"""The commands in docs/tables.md, run one after another on generated firms."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flows.cli.main import main

DOC = Path(__file__).parents[2] / "docs" / "tables.md"


def commands() -> list[list[str]]:
    """Every indented command, its continued lines joined."""
    text = DOC.read_text(encoding="utf-8").replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("    sluice ")]


def block(language: str) -> str:
    return DOC.read_text(encoding="utf-8").split(f"```{language}\n")[1].split("```")[0]


@pytest.fixture
def firms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Firms of four industries in four regions; some cells have one or two of them, the others eight."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(11)
    industries, regions = ("A01", "A02", "B01", "B02"), ("N1", "N2", "S1", "S2")
    few = {("A02", "N2"): 1, ("B01", "S1"): 2, ("A01", "S2"): 1}
    rows = [(i, r) for i in industries for r in regions for _ in range(few.get((i, r), 8))]
    made = pd.DataFrame(rows, columns=["nace", "region"])
    made["turnover"] = rng.lognormal(7, 0.5, len(made)).astype(int)
    made["employees"] = rng.integers(1, 90, len(made))
    made.assign(firm=np.arange(len(made))).to_csv("firms.csv", index=False)
    for name, groups, leaves in (("nace", "AB", industries), ("region", "NS", regions)):
        lines = ["code,parent", "Total,", *(f"{g},Total" for g in groups), *(f"{leaf},{leaf[0]}" for leaf in leaves)]
        Path(f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("nace.hrc").write_text("A\n@A01\n@A02\nB\n@B01\n@B02\n", encoding="utf-8")
    Path("firms.px").write_text(
        'STUB="region";\nHEADING="size","year";\nVALUES("region")="Total","north","south";\n'
        'VALUES("size")="Total","small","large";\nVALUES("year")="2024","2025";\n'
        "DATA=\n5 105 5 60 5 40\n5 70 5 .. 5 ..\n5 30 5 .. 5 ..;\n",
        encoding="utf-8",
    )
    added_up(made).to_csv("added-up.csv", index=False)
    Path("a_priori.csv").write_text(block("csv"), encoding="utf-8")
    Path("tables").mkdir()
    everything_published(made).to_csv("careless.csv", index=False)
    return tmp_path


def added_up(firms: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell of industries by regions, which have no groups here."""
    rows = []
    for industry in ("Total", "A", "B", *sorted(firms["nace"].unique())):
        for region in ("Total", *sorted(firms["region"].unique())):
            inside = firms[firms["nace"].str.startswith(industry) | (industry == "Total")]
            turnover = inside.loc[(inside["region"] == region) | (region == "Total"), "turnover"].sort_values()
            largest = [*turnover.iloc[::-1].head(2), 0][:2]
            rows.append((industry, region, turnover.sum(), len(turnover), *largest, "S"))
    return pd.DataFrame(rows, columns=["nace", "region", "turnover", "firms", "top1", "top2", "status"])


def everything_published(firms: pd.DataFrame) -> pd.DataFrame:
    """The table of the firms without any protection."""
    rows = [
        (nace, region, turnover)
        for industry, place, turnover in firms[["nace", "region", "turnover"]].itertuples(index=False)
        for nace in (industry, industry[0], "Total")
        for region in (place, place[0], "Total")
    ]
    cells = pd.DataFrame(rows, columns=["nace", "region", "value"]).groupby(["nace", "region"], as_index=False).sum()
    return cells.assign(status="published")


@pytest.mark.chain
def test_every_command_runs(firms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = commands()
    assert ["-".join(command[:2]) for command in found if command[0] == "table"] == [
        "table-protect", "table-audit", "table-audit", "table-audit", *["table-protect"] * 5, "table-audit",
        "table-protect", "table-protect", "table-redesign", "table-redesign",
    ]  # fmt: skip
    assert [command[0] for command in found if command[0] != "table"] == ["camouflage"]
    outcome = []
    for command in found:
        assert main(command) == 0, (command, capsys.readouterr().err)
        outcome.append(capsys.readouterr().out)
    assert "primary, " in outcome[0]
    assert "no cell that may be sensitive can be computed exactly" in outcome[1]
    assert "audit: safe against all" in outcome[2]
    assert "table_audit: PASS." in outcome[5]
    assert sorted(path.name for path in Path("tables").iterdir()) == ["nace to level 1-region.csv", "nace.csv"]
    assert "safe for each measure" in outcome[7]
    assert "earlier_editions: PASS. With cells.csv" in outcome[8]
    assert "more cells are suppressed" in outcome[9]
    assert "no safe pattern costs less than" in outcome[10]
    assert ": a gap of " in outcome[10]
    assert "merge " in outcome[12]
    assert "suppressed: " in outcome[13]
    assert "Nobody judged or approved these answers." in outcome[14]
    protected = pd.read_csv("cells.csv", dtype=str).set_index(["nace", "region"])["status"]
    assert protected["A01", "N1"] == "suppressed"  # the a-priori file asks for it
    assert protected["A", "Total"] == protected["B", "Total"] == "published"
