"""Waivers of sensitive cells, outside any release: only a live one lets a cell be published."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.cli.main import main
from sluice.ground.errors import DocumentError
from tasks.workbench.standalone_table import StandaloneTable
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import COUNT, protect, write_firms

TODAY = datetime.now(UTC).date()  # when the tests begin: some may run after midnight


def waiver(**other: Any) -> dict[str, Any]:
    return {
        "rule": "minimum_frequency",
        "scope": "nace K1, region R3",
        "reason": "The three firms agreed in writing to be shown.",
        "owner": "mia",
        "granted": TODAY - timedelta(days=1),
        "expires": TODAY + timedelta(days=30),
    } | other


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table in which a sensitive cell is to be published."""
    write_firms(tmp_path)
    assert main(protect(tmp_path, *COUNT)) == 0
    cells = read_text(tmp_path / "cells.csv")
    assert cells.loc[(cells["nace"] == "K1") & (cells["region"] == "R3"), "status"].tolist() == ["suppressed"]
    (tmp_path / "a_priori.csv").write_text("nace,region,status\nK1,R3,published\n", encoding="utf-8")
    (tmp_path / "cells.csv").unlink()
    return tmp_path


def with_waivers(folder: Path, *waivers: dict[str, Any]) -> list[str]:
    written = {
        "dimensions": [{"variable": name, "hierarchy": f"{name}.csv"} for name in ("nace", "region")],
        "protection": {"method": "suppression", "a_priori": "a_priori.csv"},
        "waivers": list(waivers),
    }
    (folder / "table.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    return protect(folder, *COUNT, f"--spec={folder / 'table.yaml'}")


def test_a_live_waiver_lets_a_cell_be_published_and_is_said(folder: Path) -> None:
    found = answered([*with_waivers(folder, waiver()), "--json"]).json
    assert found["verdict"] == "PASS"
    said = next(each for each in found["findings"] if each["rule"] == "minimum_frequency")
    assert said["verdict"] == "FAIL"
    assert said["waiver"].startswith("mia until")
    cells = read_text(folder / "cells.csv").set_index(["nace", "region"])
    assert cells.loc[("K1", "R3"), "status"] == "published"


@pytest.mark.parametrize(
    "other",
    [
        {"expires": TODAY - timedelta(days=1), "granted": TODAY - timedelta(days=9)},
        {"granted": TODAY + timedelta(days=9)},
        {"rule": "p_percent"},
        {"scope": "nace K5, region R3"},
        {"scope": "K1, R3"},
    ],
)
def test_no_other_waiver_does(folder: Path, other: dict[str, Any]) -> None:
    said = answered(with_waivers(folder, waiver(**other)), 1).err
    golden(said)
    golden(said)
    assert not (folder / "cells.csv").exists()


def test_codes_in_another_order_are_the_same_cell(folder: Path) -> None:
    assert main(with_waivers(folder, waiver(scope="region R3,  nace K1"))) == 0


def test_what_is_wrong_with_a_list_is_said(folder: Path) -> None:
    for written in (waiver(reason="because"), {**waiver(), "until": "2026-01-01"}):
        golden(answered(with_waivers(folder, written), 1).err)


def test_waivers_without_a_wish_are_refused() -> None:
    with golden.raises(DocumentError):
        StandaloneTable.of({"dimensions": [{"variable": "nace"}], "waivers": [waiver()]}, "the table")
