"""The same cells under other names, with two patterns of suppressed cells: a reader compares their figures."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sluice.ground.verdict import Finding, Verdict
from tests.flows.tables_house import TablesHouse, firms
from tests.golden import golden
from tests.red_team.stages import made, publish
from tests.red_team.test_tables_and_records import cells_of, firms_by_cell


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    """Turnover of firms by industry and region, published."""
    house = firms_by_cell(tmp_path, "turnover-tables")
    house.keep_secret(1)  # which cells are suppressed depends on it
    release = made(house)
    cells_of(release)
    publish(release)
    house.definition["name"] = "other-tables"
    return house


def other_codes(house: TablesHouse) -> None:
    """All but the total's, which both have in common."""
    for name in ("nace", "region"):
        other = {code: code if code in ("", "Total") else f"x{code}" for code in ("", *house.hierarchies[name])}
        house.hierarchies[name] = {other[code]: other[parent] for code, parent in house.hierarchies[name].items()}
        house.data[name] = house.data[name].map(other)


def other_data_set(house: TablesHouse) -> None:
    house.contract["dataset"] = "businesses"


def other_variable(house: TablesHouse, unit: int = 1) -> None:
    house.data["sales"] = (house.data.turnover * unit).round(1)
    house.contract["variables"].append({**house.contract["variables"][-1], "name": "sales"})
    house.definition["measure"]["variable"] = "sales"


def other_unit(house: TablesHouse) -> None:
    other_variable(house, 1000)


def finding(house: TablesHouse) -> Finding:
    _, found = cells_of(made(house))
    return found["earlier_editions"]


@pytest.mark.parametrize("rename", [other_codes, other_data_set, other_variable])
def test_the_same_cells_under_other_names_are_audited_as_one(house: TablesHouse, rename: Any) -> None:
    rename(house)
    house.definition["protection"] = {"method": "suppression", "cost": "cells"}  # other cells are suppressed
    found = finding(house)
    assert found.verdict is Verdict.FAIL
    assert (found.code, found.notes[0].code) == ("earlier_editions.opened", "earlier_editions.other_names")
    assert "nace Total, region " in found.says


def test_the_same_pattern_under_another_variable_passes(house: TablesHouse) -> None:
    other_variable(house)
    found = finding(house)
    assert found.verdict is Verdict.PASS, found.says
    golden.words(found.says)


def test_the_same_figures_in_another_unit_need_a_decision(house: TablesHouse) -> None:
    other_unit(house)
    found = finding(house)
    assert found.verdict is Verdict.REVIEW, found.says
    golden.words(found.says)
    assert "turnover-tables-" in found.says


def other_firms(house: TablesHouse) -> None:
    other_data_set(house)
    house.data = firms(seed=2)


def other_amounts(house: TablesHouse) -> None:
    other_variable(house)
    house.data["sales"] = pd.Series(house.data.turnover.sample(frac=1, random_state=1).to_numpy())


@pytest.mark.parametrize("change", [other_firms, other_amounts])
def test_other_figures_do_not(house: TablesHouse, change: Any) -> None:
    change(house)
    found = finding(house)
    assert found.verdict is Verdict.PASS, found.says
