"""Dimensions of which nobody wrote a hierarchy."""

from pathlib import Path

from flows.cli.main import main
from sluice.ground.errors import DataError
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabulation import dimensions_of
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import COUNT, protect, write_firms


def test_codes_of_records_and_of_cells_add_up_to_their_total(tmp_path: Path) -> None:
    write_firms(tmp_path)
    assert main(protect(tmp_path, *COUNT)) == 0
    flat = ["--hierarchy=nace", "--hierarchy=region"]
    (tmp_path / "out").mkdir()
    made = ["protect-table", str(tmp_path / "micro.csv"), *flat, *COUNT, "--table=nace,region", "--table=nace"]
    assert main([*made, f"--output={tmp_path / 'out'}"]) == 0
    assert read_text(tmp_path / "out" / "nace-region.csv").equals(read_text(tmp_path / "cells.csv"))
    for cells in ("cells.csv", "out"):
        assert main(["audit-table", str(tmp_path / cells), *flat]) == 0


def test_refusals(tmp_path: Path) -> None:
    write_firms(tmp_path)
    flat, wrong = (StandaloneTable.of({"dimensions": [{"variable": name}]}, "x") for name in ("nace", "nase"))
    golden.refused(DataError, dimensions_of, flat, tmp_path / "micro.csv", totals=True)
    golden.refused(DataError, dimensions_of, wrong, tmp_path / "micro.csv")
    for given in ("=nace.csv", "nace="):
        golden.words(answered(["audit-table", str(tmp_path / "micro.csv"), f"--hierarchy={given}"], 1).err)
