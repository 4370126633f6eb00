"""Patterns as other programs write them."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flows.cli.main import main
from sluice.ground.errors import DataError
from tasks.workbench.cells_files import CellColumns
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import COUNT, command, protect, write_firms


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_firms(tmp_path)
    assert main(protect(tmp_path, *COUNT)) == 0
    return tmp_path


def test_every_way_to_say_it_is_the_same_pattern(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = read_text(folder / "cells.csv")
    hidden = cells["status"] == "suppressed"

    def audited(frame: pd.DataFrame, *more: str) -> tuple[int, str]:
        frame.to_csv(folder / "theirs.csv", index=False)
        capsys.readouterr()
        code = main(command("audit-table", folder / "theirs.csv", *more))
        shown = capsys.readouterr()
        return code, shown.err if code == 1 else shown.out.split("\n")[0]

    plain = audited(cells)
    assert plain == (0, f"{len(cells)} cells, {hidden.sum()} suppressed")
    assert audited(cells.drop(columns="status")) == plain
    assert audited(cells.assign(status=hidden.map({True: "TRUE", False: "FALSE"}))) == plain
    assert (
        audited(
            cells.rename(columns={"status": "suppressed", "value": "freq"}).assign(weight="1"),
            "--cells-status=suppressed",
            "--cells-value=freq",
        )
        == plain
    )
    for mark in ("..", "(D)", "c", "*", "Suppressed"):
        assert audited(cells.drop(columns="status").assign(value=cells["value"].where(~hidden, mark))) == plain
    for mark in ("-", "NA", "0 to 4"):  # may be another thing
        marked = cells.drop(columns="status").assign(value=cells["value"].where(~hidden, mark))
        assert audited(marked)[0] == 1
        if mark != "0 to 4":
            assert f"--status-word {mark}=suppressed" in audited(marked)[1]
            assert audited(marked, f"--status-word={mark}=suppressed") == plain
    assert audited(cells.assign(value=cells["value"].where(~hidden, "NA"))) == plain
    assert audited(cells.assign(value=cells["value"].where(hidden, "..")))[0] == 1  # published without a value
    letters = cells.assign(status=hidden.map({True: "D", False: "V"}))
    assert "got 'V'" in audited(letters)[1]
    assert "--status-word V=suppressed" in audited(letters)[1]
    meant = ("--status-word=D=suppressed", "--status-word=V=published")
    assert audited(letters, *meant) == plain
    firms = read_text(folder / "micro.csv")
    inside = [
        str(int((firms["nace"].isin([n]) | (n == "Total")).mul(firms["region"].isin([r]) | (r == "Total")).sum()))
        for n, r in zip(cells["nace"], cells["region"], strict=True)
    ]
    beside = cells.assign(value=inside)
    assert audited(beside)[0] == 2
    assert audited(beside, "--hide-values") == plain
    code, says = audited(cells.rename(columns={"status": "state"}))
    assert code == 1
    golden.words(says)
    assert "--status-word: must be WORD=OURS with one of published" in audited(cells, "--status-word=D=secret")[1]


@pytest.mark.parametrize(
    ("word", "own"),
    [("u", "primary"), ("X", "secondary"), ("s", "published"), ("z", "published"), ("Unsafe", "primary")],
)
def test_letters_of_other_programs(word: str, own: str) -> None:
    frame = pd.DataFrame({"a": ["x"], "status": [word], "value": ["1"]}, dtype="str")
    assert CellColumns().read(frame)["status"].tolist() == [own]
    assert CellColumns(words={word: "suppressed"}).read(frame)["status"].tolist() == ["suppressed"]


def test_an_unknown_word_is_refused() -> None:
    frame: Any = pd.DataFrame({"a": ["x"], "status": ["primry"], "value": [""]}, dtype="str")
    golden.refused(DataError, CellColumns().read, frame)
