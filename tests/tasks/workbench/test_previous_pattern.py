"""A table beside a pattern that was published before: what it suppressed stays so, and neither undoes the other."""

from pathlib import Path

import numpy as np
import pandas as pd

from flows.cli.main import main
from sluice.ground.errors import DataError
from sluice.publication.pattern_file import Pattern
from sluice.tabular.model.cells import Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from tasks.workbench.cells_files import read_cells
from tasks.workbench.previous_pattern import PreviousPattern
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import command, protect

RULE = ("--rule=minimum_frequency=4",)
DIMENSIONS = [Dimension.flat("nace", ["A", "B", "C"]), Dimension.flat("region", ["N", "S", "W"])]
COUNTS = {"A": (2, 20, 30), "B": (20, 25, 20), "C": (30, 20, 40)}


def write_counts(folder: Path, **other: tuple[int, int, int]) -> pd.DataFrame:
    """Records of which A, N has 2, and every other cell enough."""
    for dimension in DIMENSIONS:
        rows = "".join(f"{code},Total\n" for code in dimension.codes[1:])
        (folder / f"{dimension.name}.csv").write_text(f"code,parent\nTotal,\n{rows}", encoding="utf-8")
    counts = {**COUNTS, **other}
    rows = [
        (nace, region)
        for nace in counts
        for region, count in zip("NSW", counts[nace], strict=True)
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["nace", "region"])
    frame.to_csv(folder / "micro.csv", index=False)
    return frame


def first(folder: Path, *codes: str) -> str:
    """An a-priori file by which these cells are suppressed before others."""
    rows = "".join(f"{code},suppress_first\n" for code in codes)
    (folder / "a_priori.csv").write_text(f"nace,region,status\n{rows}", encoding="utf-8")
    return f"--set=protection.a_priori={folder / 'a_priori.csv'}"


def suppressed(folder: Path, name: str) -> set[tuple[str, str]]:
    cells = read_text(folder / name)
    return set(cells.loc[cells["status"] == "suppressed", ["nace", "region"]].itertuples(index=False, name=None))


def both_together(folder: Path) -> int:
    """What `audit-table` says of the values that either file publishes."""
    before, now = (read_text(folder / name) for name in ("before.csv", "cells.csv"))
    known = now.merge(before, on=["nace", "region"], suffixes=("", "_before"))
    known["value"] = known["value"].where(known["value"] != "", known["value_before"])
    known["status"] = np.where(known["value"] != "", "published", "suppressed")
    known[["nace", "region", "status", "value"]].to_csv(folder / "both.csv", index=False)
    return main(command("audit-table", folder / "both.csv"))


def test_two_patterns_of_one_table_undo_each_other_unless_they_are_made_together(tmp_path: Path) -> None:
    write_counts(tmp_path)
    assert main(protect(tmp_path, *RULE, first(tmp_path, "A,S", "B,N", "B,S"), output="before.csv")) == 0
    other = first(tmp_path, "A,W", "C,N", "C,W")
    assert main(protect(tmp_path, *RULE, other)) == 0
    assert suppressed(tmp_path, "before.csv") & suppressed(tmp_path, "cells.csv") == {("A", "N")}
    assert both_together(tmp_path) == 2  # each hides A, N and no other cell alike
    assert main(protect(tmp_path, *RULE, other, f"--previous={tmp_path / 'before.csv'}")) == 0
    assert suppressed(tmp_path, "before.csv") <= suppressed(tmp_path, "cells.csv")
    assert both_together(tmp_path) == 0


def test_a_folder_tells_its_own_tables_whatever_is_made_now(tmp_path: Path) -> None:
    """Such as the folder of a published release, whose files bear other names."""
    write_counts(tmp_path)
    assert main(protect(tmp_path, *RULE, output="before.csv")) == 0
    (tmp_path / "shelf").mkdir()
    (tmp_path / "before.csv").rename(tmp_path / "shelf" / "industry by region.csv")
    tables = ("--table=nace,region", "--table=nace")
    golden.words(answered(protect(tmp_path, *RULE, *tables, f"--previous={tmp_path / 'shelf'}")).out)


def test_the_edition_before_is_judged_and_said(tmp_path: Path) -> None:
    write_counts(tmp_path)
    assert main(protect(tmp_path, *RULE, output="before.csv")) == 0
    write_counts(tmp_path, C=(30, 21, 40))
    found = answered([*protect(tmp_path, *RULE, f"--previous={tmp_path / 'before.csv'}"), "--json"]).json
    assert [(each["rule"], each["verdict"]) for each in found["findings"]] == [
        ("table_audit", "PASS"),
        ("earlier_editions", "PASS"),
    ]
    golden.words(found["findings"][1]["says"])


def test_a_file_that_shares_no_cell_was_not_compared(tmp_path: Path) -> None:
    """As one of rounded figures: it does not say what was done to them."""
    write_counts(tmp_path, **{nace: tuple(10 * count + 7 for count in COUNTS[nace]) for nace in COUNTS})
    assert main(protect(tmp_path, *RULE, output="before.csv")) == 0
    write_counts(tmp_path)
    found = answered([*protect(tmp_path, *RULE, f"--previous={tmp_path / 'before.csv'}"), "--json"]).json["findings"]
    golden([each["says"] for each in found if each["rule"] == "earlier_editions"])


def test_what_was_published_is_out(tmp_path: Path) -> None:
    """With a higher minimum, cells are sensitive that the earlier file published: nobody can take them back."""
    write_counts(tmp_path)
    assert main(protect(tmp_path, *RULE, first(tmp_path, "A,S", "B,N", "B,S"), output="before.csv")) == 0
    given = protect(tmp_path, "--rule=minimum_frequency=21", f"--previous={tmp_path / 'before.csv'}")
    shown = answered(given, 2).out
    assert "earlier_editions: FAIL. With before.csv" in shown
    assert "sensitive, and was published in the earlier edition" in shown
    assert not (tmp_path / "cells.csv").exists()


def pattern(folder: Path) -> Pattern:
    return read_cells(folder / "before.csv", DIMENSIONS, None)[0]


def test_what_was_suppressed_is_taken_to_be_revised_as_little_as_can_be(tmp_path: Path) -> None:
    write_counts(tmp_path)
    given = first(tmp_path, "A,S", "B,N", "B,S")
    assert main(protect(tmp_path, *RULE, given, output="before.csv")) == 0
    frame = write_counts(tmp_path, B=(20, 28, 20))  # three more in B, S, which the file suppresses
    now = records_of(frame, DIMENSIONS, Measure()).cells(DIMENSIONS)
    edition = PreviousPattern("before.csv", pattern(tmp_path), None).edition(now, nonnegative=True)
    total = {edition.cells.name(cell): int(edition.cells.total[cell]) for cell in range(len(edition.cells))}
    assert total["nace B, region S"] == 25  # the totals of row and column tell that it had three fewer
    assert (total["nace A, region N"], total["nace A, region S"]) == (2, 20)
    assert not (edition.cells.equations @ edition.cells.total).any()
    revised = edition.cells.contributors > len(frame)
    assert {edition.cells.name(int(cell)) for cell in np.flatnonzero(revised)} >= {"nace B, region S"}
    assert not revised[[name == "nace A, region N" for name in total]].any()


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    frame = write_counts(tmp_path)
    assert main(protect(tmp_path, *RULE, output="before.csv")) == 0
    before = read_text(tmp_path / "before.csv")
    given = f"--previous={tmp_path / 'before.csv'}"

    def refuses(says: str, *more: str) -> None:
        assert says in answered(protect(tmp_path, *RULE, given, *more), 1).err
        assert not (tmp_path / "cells.csv").exists()

    refuses(
        "the previous pattern is for the method suppression of one measure; got controlled_rounding",
        "--method=controlled_rounding=5",
    )
    before.assign(value=before["value"].where(before["value"] == "", before["value"] + ".5")).to_csv(
        tmp_path / "before.csv", index=False
    )
    refuses("before.csv has values of 1 decimals and this table of 0")
    wrong = before.assign(value=before["value"].where(before["nace"] != "C", before["value"].replace("40", "41")))
    wrong.to_csv(tmp_path / "before.csv", index=False)
    refuses("before.csv: its published totals do not add up, whatever its suppressed cells are")
    before.rename(columns={"status": "state"}).to_csv(tmp_path / "before.csv", index=False)
    refuses("no column 'status'")
    assert "would overwrite" in answered(protect(tmp_path, *RULE, given, output="before.csv"), 1).err
    now = records_of(frame, DIMENSIONS, Measure()).cells(DIMENSIONS)
    empty = Pattern(tuple(DIMENSIONS), now.codes, np.full(len(now), Status.PUBLISHED, np.uint8), now.total + 1,
                    np.ones(len(now), dtype=bool), 0, False)  # fmt: skip
    golden.refused(DataError, PreviousPattern("x", empty, None).edition, now, nonnegative=True)
