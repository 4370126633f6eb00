"""Decimal commas are read where they can be nothing else."""

from pathlib import Path

import pandas as pd
import pytest

from flows.cli.main import main
from tasks.workbench.tabular_file import with_points
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import VALUE, command, protect, write_firms


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["1,5", "2", ""], ["1.5", "2", ""]),
        (["1,500", "12,25"], ["1.500", "12.25"]),
        (["0,125", "-3"], ["0.125", "-3"]),
        (["12345,678"], ["12345.678"]),
        (["1,500", "2"], ["1,500", "2"]),  # perhaps fifteen hundred
        (["1,5", "2.5"], ["1,5", "2.5"]),
        (["1,234,567", "1,5"], ["1,234,567", "1,5"]),
        (["1,5", "x"], ["1.5", "x"]),
    ],
)
def test_only_what_is_certain(given: list[str], read: list[str]) -> None:
    frame = pd.DataFrame({"code": ["1,5"] * len(given), "value": given}, dtype="str")
    made = with_points(frame, ["value", "absent"])
    assert made["value"].tolist() == read
    assert made["code"].tolist() == frame["code"].tolist()


def test_files_as_spreadsheets_of_half_the_world_write_them(tmp_path: Path) -> None:
    firms = write_firms(tmp_path)
    assert main(protect(tmp_path, *VALUE, "--set=measure.decimals=1", output="plain.csv")) == 0
    for name in ("nace", "region"):
        read_text(tmp_path / f"{name}.csv").to_csv(tmp_path / f"{name}.csv", sep=";", index=False)
    firms.assign(value=firms["value"].astype(float)).to_csv(tmp_path / "micro.csv", sep=";", decimal=",", index=False)
    assert main(protect(tmp_path, *VALUE, "--set=measure.decimals=1")) == 0
    cells = read_text(tmp_path / "cells.csv")
    assert cells.equals(read_text(tmp_path / "plain.csv"))
    with_commas = cells.assign(value=cells["value"].str.replace(".", ","))
    with_commas.to_csv(tmp_path / "cells.csv", sep=";", index=False)
    given = [f"--microdata={tmp_path / 'micro.csv'}", *VALUE, "--set=measure.decimals=1"]
    assert main(command("audit-table", tmp_path / "cells.csv", *given)) == 0
    firms.assign(value=[f"{1 + value % 900},000" for value in firms["value"]]).to_csv(
        tmp_path / "micro.csv", index=False
    )
    golden(answered(protect(tmp_path, *VALUE), 1).err)
