"""Where a protected table is written, and how it is read again: one file, or a folder with one for each table."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flows.cli.main import main
from sluice.ground.errors import DataError
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.cells_files import CellColumns, read_cells, refuse_unfit_output
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import COUNT, VALUE, command, protect, write_firms

LINKED = ("--table=nace,region", "--table=region")


def dimensions() -> list[Dimension]:
    return [Dimension.flat("nace", [f"K{n}" for n in range(6)]), Dimension.flat("region", [f"R{n}" for n in range(5)])]


def test_a_folder_gets_a_file_of_each_table(tmp_path: Path) -> None:
    write_firms(tmp_path)
    (tmp_path / "out").mkdir()
    assert main(protect(tmp_path, *VALUE, *LINKED, output="out")) == 0
    assert main(protect(tmp_path, *VALUE, *LINKED)) == 0
    whole = read_text(tmp_path / "cells.csv")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["nace-region.csv", "region.csv"]
    both = read_text(tmp_path / "out" / "nace-region.csv")
    assert both.equals(whole)
    regions = read_text(tmp_path / "out" / "region.csv")
    assert list(regions) == ["region", "status", "value"]
    assert regions.equals(whole[whole["nace"] == "Total"].drop(columns="nace").reset_index(drop=True))
    assert main(command("audit-table", tmp_path / "cells.csv", *LINKED)) == 0


def test_a_folder_is_read_as_its_one_file_would_be(tmp_path: Path) -> None:
    write_firms(tmp_path)
    (tmp_path / "out").mkdir()
    tables = [["nace"], ["region"]]
    given = [*COUNT, "--table=nace", "--table=region"]
    assert main(protect(tmp_path, *given, output="out")) == main(protect(tmp_path, *given)) == 0
    folder, found = read_cells(tmp_path / "out", dimensions(), None)
    assert found == [("nace",), ("region",)]
    file, _ = read_cells(tmp_path / "cells.csv", dimensions(), tables)
    order = [np.lexsort(each.codes.T) for each in (folder, file)]
    for name in ("codes", "status", "value", "has"):
        one, other = (getattr(each, name)[by] for each, by in zip((folder, file), order, strict=True))
        assert np.array_equal(one, other)
    golden.refused(DataError, read_cells, tmp_path / "out", dimensions(), tables[:1])
    golden.refused(DataError, read_cells, tmp_path / "out", dimensions()[:1], None)
    (tmp_path / "out" / "again.csv").write_bytes((tmp_path / "out" / "region.csv").read_bytes())
    golden.refused(DataError, read_cells, tmp_path / "out", dimensions(), None)
    (tmp_path / "out" / "again.csv").unlink()
    (tmp_path / "out" / "region.csv").unlink()
    golden.refused(DataError, read_cells, tmp_path / "out", dimensions(), tables)
    (tmp_path / "out" / "nace.csv").unlink()
    golden.refused(DataError, read_cells, tmp_path / "out", dimensions(), None)


def test_files_of_a_folder_tell_their_tables(tmp_path: Path) -> None:
    """Also a table that ends above the leaves, whatever its file is called; other files are no tables."""
    nace = Dimension.of("nace", [("Total", ""), ("K", "Total"), ("K1", "K"), ("K2", "K")])
    region = Dimension.flat("region", ["R0", "R1"])
    (tmp_path / "by group.csv").write_text(
        "nace,region,status,value\n"
        + "".join(f"{n},{r},published,{v}\n" for n in ("Total", "K") for r, v in (("Total", 3), ("R0", 1), ("R1", 2))),
        encoding="utf-8",
    )
    (tmp_path / "nace.csv").write_text(
        "nace,status,value\nTotal,published,3\nK,published,3\nK1,published,1\nK2,published,2\n"
    )
    (tmp_path / "readme.csv").write_text("about\nthese\n", encoding="utf-8")
    pattern, tables = read_cells(tmp_path, [nace, region], None)
    assert sorted(tables or ()) == [("nace",), ("nace:1", "region")]
    assert len(pattern) == 8


def test_a_total_that_two_files_give_otherwise(tmp_path: Path) -> None:
    for name, total in (("nace", 3), ("region", 4)):
        (tmp_path / f"{name}.csv").write_text(f"{name},status,value\nTotal,published,{total}\n", encoding="utf-8")
    golden.refused(DataError, read_cells, tmp_path, dimensions(), [["nace"], ["region"]])


def test_cells_of_other_tables_are_not_passed_over(tmp_path: Path) -> None:
    write_firms(tmp_path)
    assert main(protect(tmp_path, *COUNT)) == 0
    for given in (
        command("audit-table", tmp_path / "cells.csv", "--table=nace", "--table=region"),
        protect(tmp_path, *COUNT, "--table=nace", f"--previous={tmp_path / 'cells.csv'}", output="next.csv"),
    ):
        golden.words(answered(given, 1).err)
    assert not (tmp_path / "next.csv").exists()


def test_what_is_read_is_not_overwritten(tmp_path: Path) -> None:
    write_firms(tmp_path)
    (tmp_path / "out").mkdir()
    assert main(protect(tmp_path, *COUNT, output="out")) == 0
    before = (tmp_path / "out" / "nace-region.csv").read_bytes()
    assert (
        "would overwrite" in answered(protect(tmp_path, *COUNT, f"--previous={tmp_path / 'out'}", output="out"), 1).err
    )
    assert (tmp_path / "out" / "nace-region.csv").read_bytes() == before
    golden.words(answered(protect(tmp_path, *COUNT, output="no"), 1).err)
    golden.words(answered(command("audit-table", tmp_path / "no"), 1).err)


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    strange = [Dimension.flat("a/b", ["x"])]
    golden.refused(DataError, refuse_unfit_output, tmp_path, [], [[each.name for each in strange]])
    golden.refused(DataError, refuse_unfit_output, tmp_path, [], [["nace", "region"]] * 2)
    (tmp_path / "nace-region.csv").touch()
    golden.refused(DataError, refuse_unfit_output, tmp_path, [tmp_path / "nace-region.csv"], [["nace", "region"]])


# Patterns as other programs write them.


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
    for mark in ("-", "NA", ": u"):  # may be another thing
        marked = cells.drop(columns="status").assign(value=cells["value"].where(~hidden, mark))
        code, says = audited(marked)
        assert (code, f"--status-word {shlex.quote(f'{mark}=suppressed')}" in says) == (1, True)
        assert audited(marked, f"--status-word={mark}=suppressed") == plain
    for mark in ("0 to 4", "<3", "(1–2)", "fewer than 5"):  # readers know its bounds
        marked = cells.drop(columns="status").assign(value=cells["value"].where(~hidden, mark))
        code, says = audited(marked, f"--status-word={mark}=suppressed")
        assert (code, "--known" in says) == (1, True)
    flags = cells.rename(columns={"status": "flag"}).assign(flag=hidden.map({True: "c", False: ""}))
    assert audited(flags, "--cells-status=flag") == plain  # a cell with a figure, and nothing said, is published
    assert audited(flags.assign(value=cells["value"].where(~hidden, ": c")), "--cells-status=flag") == plain
    eurostat = cells["value"].where(~hidden, ": c").where(hidden, cells["value"] + " p")
    assert audited(cells.drop(columns="status").assign(value=eurostat)) == plain
    assert audited(cells.assign(value=cells["value"].where(~hidden, "NA"))) == plain
    assert audited(cells.assign(value=cells["value"].where(hidden, "..")))[0] == 1  # published without a value
    for word in "DBd":  # of tau-ARGUS and rtauargus
        eurostat = cells.assign(status=hidden.map({True: word, False: "V" if word != "d" else "v"}))
        assert audited(eurostat) == (0, f"{plain[1]}: {apart(word, int(hidden.sum()))}")
    free = cells.assign(status=hidden.map({True: "N", False: "F"}))  # of SDMX
    assert audited(free) == plain
    normal = cells.assign(status=hidden.map({True: "Q", False: "A"}))  # of SDMX: A is a normal value
    assert "got 'A'" in audited(normal)[1] or "got 'Q'" in audited(normal)[1]
    letters = cells.assign(status=hidden.map({True: "K", False: "W"}))
    assert "got 'W'" in audited(letters)[1]
    assert "--status-word W=suppressed" in audited(letters)[1]
    meant = ("--status-word=K=suppressed", "--status-word=W=published")
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


def apart(word: str, hidden: int) -> str:
    return f"{hidden} primary, 0 secondary" if word == "B" else f"0 primary, {hidden} secondary"


def test_columns_that_are_codes_and_the_options_of_records_are_refused_with_the_way_out(folder: Path) -> None:
    (folder / "wide.csv").write_text("nace;2020;2021\nTotal;110;120\nKA;x;50\nKB;x;70\n", encoding="utf-8")
    golden(answered(["audit-table", str(folder / "wide.csv"), "--hierarchy=nace"], 1).err)
    golden(answered(command("audit-table", folder / "cells.csv", "--status=status"), 1).err)
    golden(answered(command("audit-table", folder / "cells.csv", "--cells-status=state"), 1).err)


@pytest.mark.parametrize(
    ("word", "own"),
    [
        ("u", "primary"),
        ("P", "published"),
        ("X", "secondary"),
        ("s", "published"),
        ("z", "published"),
        ("Unsafe", "primary"),
    ],
)
def test_letters_of_other_programs(word: str, own: str) -> None:
    frame = pd.DataFrame({"a": ["x"], "status": [word], "value": ["1"]}, dtype="str")
    assert CellColumns().read(frame)["status"].tolist() == [own]
    assert CellColumns(words={word: "suppressed"}).read(frame)["status"].tolist() == ["suppressed"]


def test_an_unknown_word_is_refused() -> None:
    frame: Any = pd.DataFrame({"a": ["x"], "status": ["primry"], "value": [""]}, dtype="str")
    golden.refused(DataError, CellColumns().read, frame)


def test_a_crossed_table_is_refused_by_the_columns_that_it_has(tmp_path: Path) -> None:
    """Path and columns stand once."""
    (tmp_path / "crossed.csv").write_text("nace,R0,R1,Total\nK0,3,c,9\n")
    with golden.raises(DataError) as raised:
        read_cells(tmp_path / "crossed.csv", dimensions(), None)
    assert str(raised.value).count("crossed.csv") == 1
