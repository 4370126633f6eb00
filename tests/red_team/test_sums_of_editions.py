"""Publications of which one is the sum of the others: what a quarter suppresses, the year less three quarters gives.

Each is safe by itself. The reader has the published files alone, and subtracts.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.verdict import Finding, Verdict
from tests.flows.tables_house import TablesHouse
from tests.golden import golden
from tests.red_team.stages import made, publish
from tests.red_team.test_tables_and_records import TURNOVER, cells_of

DIMENSIONS = ["nace"]
QUARTERS = ("q1", "q2", "q3", "q4")


def periods() -> dict[str, pd.DataFrame]:
    """Firms that report each quarter, but for three of one industry that open in the second: two firms are too few."""
    rng = np.random.default_rng(3)
    everybody = pd.DataFrame(
        {
            "firm": [f"F{number:03d}" for number in range(60)],
            "holding": [f"H{number:03d}" for number in range(60)],
            "nace": ["04"] * 5 + ["05"] * 8 + ["NA"] * 9 + ["01"] * 18 + ["02"] * 20,
            "region": "N1",
            "size": "small",
            "turnover": rng.uniform(80, 120, 60),
        }
    )
    found = {}
    for quarter in QUARTERS:
        turnover = (everybody["turnover"] * rng.uniform(0.8, 1.2, 60)).round(1)
        found[quarter] = everybody.assign(turnover=turnover)[3 if quarter == "q1" else 0 :]
    together = pd.concat(found.values())
    total = together.groupby("firm")["turnover"].sum().round(1)
    year = together.drop_duplicates("firm").assign(turnover=lambda frame: frame["firm"].map(total))
    return {**found, "year": year}


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    house = TablesHouse(tmp_path / "house")
    house.definition |= {
        "dimensions": house.definition["dimensions"][:1],
        "tables": [{"name": "cells", "dimensions": DIMENSIONS}],
        "measure": dict(TURNOVER),
    }
    return house


def read(
    house: TablesHouse, data: dict[str, pd.DataFrame], order: tuple[str, ...], dated: bool = False, **declared: Any
) -> tuple[Any, Any]:
    """The tables as the public reads them, and what was found of each, one published after the other.

    dated : the quarters are editions of one definition, told apart by their reference period
    """
    tables, found = {}, {}
    for period in order:
        house.data = data[period]
        house.definition["name"] = period
        if dated:
            quarter = {"length": "quarter", "fixed": f"2025-Q{period[1:]}"}
            house.contract["reference_period"] = {"length": "year", "fixed": "2025"} if period == "year" else quarter
            house.definition["name"] = "year" if period == "year" else "quarters"
        house.definition.pop("adds_up", None)
        if period == "year":
            house.definition |= declared
        release = made(house)
        tables[period], _ = cells_of(release)
        found[period] = all_findings(release)
        publish(release)
    return tables, found


def all_findings(release: Any) -> list[Finding]:
    from tasks.release.tables.published_cells import request_of, staged_and_published_cells
    from tasks.release.tables.sums_of_editions import compare_with_sums

    _, cells, published = staged_and_published_cells(release)
    return compare_with_sums(release, cells, published, request_of(release, cells), 1)


def subtracted(tables: dict[str, pd.DataFrame]) -> dict[tuple[str, str], float]:
    """Period and cell -> the value of each cell that one file alone suppresses, by subtraction."""
    values = {period: table.set_index("nace")["value"] for period, table in tables.items()}
    told: dict[tuple[str, str], float] = {}
    for cell in values["year"].index:
        parts = {quarter: values[quarter].get(cell, "0") for quarter in QUARTERS}
        hidden = [quarter for quarter, value in parts.items() if value == ""]
        rest = sum(float(value) for value in parts.values() if value)
        whole = values["year"][cell]
        if whole and len(hidden) == 1:
            told[hidden[0], cell] = round(float(whole) - rest, 1)
        elif not whole and not hidden:
            told["year", cell] = round(rest, 1)
    return told


def worst(findings: list[Finding]) -> Verdict:
    return max((finding.verdict for finding in findings), default=Verdict.PASS)


@pytest.mark.parametrize(
    "order", [(*QUARTERS, "year"), pytest.param(("q1", "year", "q3", "q4", "q2"), marks=pytest.mark.exhaustive)]
)
def test_the_year_less_three_quarters_needs_a_decision_where_nobody_said_so(
    house: TablesHouse, order: tuple[str, ...]
) -> None:
    data = periods()
    tables, found = read(house, data, order)
    told = subtracted(tables)
    true = data["q1"].groupby("nace")["turnover"].sum().round(1)
    assert told == {("q1", nace): true[nace] for nace in ("04", "05")}
    assert [worst(found[period]) for period in order] == [Verdict.PASS] * 4 + [Verdict.REVIEW]
    golden(next(finding.says for finding in found[order[-1]] if finding.verdict is Verdict.REVIEW))


@pytest.mark.parametrize(
    "order", [pytest.param((*QUARTERS, "year"), marks=pytest.mark.exhaustive), ("q1", "year", "q3", "q4", "q2")]
)
def test_what_is_declared_to_add_up_is_protected_together(house: TablesHouse, order: tuple[str, ...]) -> None:
    tables, found = read(house, periods(), order, adds_up=QUARTERS)
    assert not subtracted(tables)
    assert {worst(each) for each in found.values()} == {Verdict.PASS}
    golden([finding.says for finding in found[order[-1]]])


@pytest.mark.parametrize(
    "order", [pytest.param((*QUARTERS, "year"), marks=pytest.mark.exhaustive), ("q1", "q2", "q3", "year", "q4")]
)
def test_the_editions_of_one_definition_are_parts_of_the_year_that_they_lie_in(
    house: TablesHouse, order: tuple[str, ...]
) -> None:
    """Beside the same quarter of the year before, which is no part of it."""
    house.data, house.definition["name"] = periods()["q2"].assign(turnover=77.0), "quarters"
    house.contract["reference_period"] = {"length": "quarter", "fixed": "2024-Q2"}
    release = made(house)
    cells_of(release)
    publish(release)
    tables, found = read(house, periods(), order, dated=True, adds_up=["quarters"])
    assert not subtracted(tables)
    assert {worst(each) for each in found.values()} == {Verdict.PASS}


def test_a_sum_of_tables_that_suppress_nothing_needs_no_decision(house: TablesHouse) -> None:
    data = periods()
    few = data["q2"].firm[:3]
    without = {period: frame[~frame.firm.isin(few) & (frame.nace != "04")] for period, frame in data.items()}
    tables, found = read(house, without, (*QUARTERS, "year"))
    assert not any((table["status"] == "suppressed").any() for table in tables.values())
    assert {worst(each) for each in found.values()} == {Verdict.PASS}


def test_rounded_parts_of_an_exact_sum_need_a_decision(house: TablesHouse) -> None:
    """Three exact quarters and the year tell what the fourth was before its values were changed."""
    data = periods()
    _, found = read(house, data, QUARTERS[1:])
    house.definition["protection"] = {"method": "controlled_rounding", "base": 50}
    _, changed = read(house, data, ("q1",))
    del house.definition["protection"]
    _, last = read(house, data, ("year",))
    assert [worst(each) for each in (*found.values(), *changed.values())] == [Verdict.PASS] * 4
    assert worst(last["year"]) is Verdict.REVIEW
    golden([finding.says for finding in last["year"]])


def test_a_part_of_which_nothing_is_published_is_named(house: TablesHouse) -> None:
    """Its name may be misspelt, and nothing would ever be held against the sum."""
    _, found = read(house, periods(), ("q1", "year"), adds_up=("q1", "quarter-2"))
    (absent,) = (finding for finding in found["year"] if finding.code == "earlier_editions.sums_none")
    assert [*absent.data["names"]] == ["quarter-2"]
