"""`sluice table audit --repair`: a pattern of anybody's, made safe by suppressing further cells."""

from pathlib import Path

import pandas as pd
import pytest

from flows.cli.main import main
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import VALUE, command, protect, write_firms


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A pattern of primary cells alone, in `cells.csv`; that of `protect-table` in `whole.csv`."""
    write_firms(tmp_path)
    assert main(protect(tmp_path, *VALUE, "--set=form.tell_primary=true", output="whole.csv")) == 0
    whole = read_text(tmp_path / "whole.csv")
    assert main(protect(tmp_path, *VALUE[:2], "--rule=dominance=1,100", output="true.csv")) == 0  # none is sensitive
    careless = whole.assign(status=whole["status"].replace("secondary", "published"))
    published = careless["status"] == "published"
    careless["value"] = careless["value"].where(~published, read_text(tmp_path / "true.csv")["value"])
    careless.to_csv(tmp_path / "cells.csv", index=False)
    return tmp_path


def audit(folder: Path, *more: str, cells: str = "cells.csv") -> list[str]:
    return command("audit-table", folder / cells, f"--microdata={folder / 'micro.csv'}", *VALUE, *more)


def test_only_further_cells_are_suppressed_and_then_it_is_safe(folder: Path) -> None:
    assert main(audit(folder)) == 2
    found = answered([*audit(folder, f"--repair={folder / 'repaired.csv'}"), "--json"]).json
    assert not found["safe"]
    assert found["repaired"]["safe"]
    before, after = read_text(folder / "cells.csv"), read_text(folder / "repaired.csv")
    assert ((before["status"] != "published") <= (after["status"] != "published")).all()
    added = (before["status"] == "published") & (after["status"] != "published")
    assert found["repaired"]["added"] == int(added.sum()) > 0
    assert set(after["status"]) == {"published", "primary", "secondary"}  # the words of the file that was given
    assert main(audit(folder, cells="repaired.csv")) == 0
    golden.words(answered(audit(folder, f"--repair={folder / 'again.csv'}")).out)


def test_a_sensitive_cell_that_is_published_is_suppressed(folder: Path) -> None:
    whole = read_text(folder / "true.csv").assign(status="published")
    whole.to_csv(folder / "cells.csv", index=False)
    assert main(audit(folder, f"--repair={folder / 'repaired.csv'}")) == 0
    sensitive = read_text(folder / "whole.csv")["status"] == "primary"
    assert (read_text(folder / "repaired.csv").loc[sensitive, "value"] == "").all()
    assert main(audit(folder, cells="repaired.csv")) == 0


def test_counts_get_one_word_whatever_they_had(folder: Path) -> None:
    counted = ["--contributor=id", "--rule=minimum_frequency=4"]
    firms = read_text(folder / "micro.csv")
    table = pd.crosstab(firms["nace"], firms["region"], margins=True, margins_name="Total")
    cells = table.reset_index().melt("nace").query("value > 0")
    small = cells["value"] < 4
    cells = cells.assign(status=small.map({True: "primary", False: "published"}), value=cells["value"].where(~small))
    cells.astype({"value": "Int64"}).to_csv(folder / "counts.csv", index=False)
    given = [f"--microdata={folder / 'micro.csv'}", *counted, f"--repair={folder / 'repaired.csv'}"]
    assert main(command("audit-table", folder / "counts.csv", *given)) == 0
    assert set(read_text(folder / "repaired.csv")["status"]) == {"published", "suppressed"}


def test_a_value_beside_its_status_is_taken_out(folder: Path) -> None:
    whole, true = read_text(folder / "whole.csv"), read_text(folder / "true.csv")
    at = int((whole["status"] == "primary").to_numpy().argmax())
    whole.loc[at, "value"] = true.loc[at, "value"]
    whole.to_csv(folder / "cells.csv", index=False)
    assert main(audit(folder, f"--repair={folder / 'repaired.csv'}")) == 0
    assert read_text(folder / "repaired.csv").loc[at, "value"] == ""


def test_nothing_is_written_where_nothing_is_to_be_repaired(folder: Path) -> None:
    golden.words(answered(audit(folder, f"--repair={folder / 'repaired.csv'}", cells="whole.csv")).out)
    assert not (folder / "repaired.csv").exists()


def test_what_cannot_be_repaired_is_said(folder: Path) -> None:
    cells, true = (read_text(folder / name) for name in ("cells.csv", "true.csv"))
    at = int((cells["status"] == "primary").to_numpy().argmax())
    row, value = cells.loc[at], int(true.loc[at, "value"])
    known = folder / "known.csv"
    known.write_text(f"nace,region,lower,upper\n{row['nace']},{row['region']},{value},{value}\n", encoding="utf-8")
    given = f"--repair={folder / 'repaired.csv'}"
    golden.words(answered(audit(folder, given, f"--known={known}"), 1).err)
    assert main(audit(folder, f"--known={known}", cells="whole.csv")) == 2  # safe without that knowledge
    known.write_text(f"nace,region,lower,upper\n{row['nace']},{row['region']},{value + 1},\n", encoding="utf-8")
    shown = answered(audit(folder, f"--known={known}"), 1).err
    assert "do not hold its value" in shown
    assert "known.csv" in shown
    assert str(value) not in shown
    assert not (folder / "repaired.csv").exists()


def test_options_of_repair(folder: Path) -> None:
    golden.words(answered(command("audit-table", folder / "cells.csv", f"--repair={folder / 'repaired.csv'}"), 1).err)
    for output in ("cells.csv", "nace.csv", "micro.csv"):
        before = (folder / output).read_bytes()
        assert "would overwrite" in answered(audit(folder, f"--repair={folder / output}"), 1).err
        assert (folder / output).read_bytes() == before
