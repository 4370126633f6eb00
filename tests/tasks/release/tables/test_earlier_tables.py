"""The difference of a cell that two editions publish: who has both files subtracts."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.verdict import Finding, Verdict
from tasks.release.product import AnyRelease
from tasks.release.tables.published_cells import request_of, staged_and_published_cells
from tasks.release.tables.table_editions import compare_with_earlier_editions
from tests.flows.tables_house import TablesHouse
from tests.golden import golden
from tests.red_team.stages import made, publish
from tests.red_team.test_tables_and_records import cells_of

NEWCOMER = {"firm": "F9999", "holding": "H9999", "nace": "01", "region": "N1", "size": "large", "turnover": 7777.7}


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    """Turnover of firms by industry and region."""
    house = TablesHouse(tmp_path / "house")
    house.definition |= {
        "dimensions": house.definition["dimensions"][:2],
        "tables": [{"name": "cells", "dimensions": ["nace", "region"]}],
    }
    return house


def edition(house: TablesHouse) -> "tuple[AnyRelease, pd.Series[Any]]":
    """An edition, and its published cells."""
    release = made(house)
    table, _ = cells_of(release)
    table = table[table["status"] == "published"].set_index(["nace", "region"])
    return release, table["value"].astype(float)


def compared(release: AnyRelease) -> dict[Verdict, Finding]:
    _, cells, published = staged_and_published_cells(release)
    found = compare_with_earlier_editions(release, cells, published, request_of(release, cells), 1)
    return {finding.verdict: finding for finding in found}


def two_editions(house: TablesHouse, changed: pd.DataFrame) -> "tuple[pd.Series[Any], dict[Verdict, Finding]]":
    """What subtracting gives where both publish a cell and it is not 0; and what was found of it."""
    first, before = edition(house)
    publish(first)
    house.data = changed
    second, now = edition(house)
    difference = (now - before).dropna().round(1)
    return difference[difference != 0], compared(second)


def with_newcomer(data: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([data, pd.DataFrame([NEWCOMER])], ignore_index=True)


@pytest.mark.parametrize("contributor", ["firm", None])
def test_a_firm_more_is_the_difference_of_two_published_cells(house: TablesHouse, contributor: str | None) -> None:
    house.definition["measure"] = {"variable": "turnover", "decimals": 1} | (
        {"contributor": contributor} if contributor else {}
    )
    if contributor is None:
        house.contract["record_key"] = ["firm", "nace"]  # nobody is known again
    difference, found = two_editions(house, with_newcomer(house.data))
    assert (difference == NEWCOMER["turnover"]).all()
    assert len(difference) >= 4
    golden(found[Verdict.FAIL].says)
    assert str(len(difference)) in found[Verdict.FAIL].says


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.2, Verdict.REVIEW), (0.001, Verdict.FAIL)],  # a correction; a unit that was mistaken tells the turnover
)
def test_the_correction_of_one_firm_needs_a_decision(house: TablesHouse, factor: float, verdict: Verdict) -> None:
    changed = house.data.copy()
    one = changed.index[(changed.nace == "01") & (changed.region == "N1")][0]
    changed.loc[one, "turnover"] = round(changed.loc[one, "turnover"] * factor + 0.1, 1)
    difference, found = two_editions(house, changed)
    assert len(set(difference)) == 1  # what the correction is
    golden(found[verdict].says)
    assert str(len(difference)) in found[verdict].says
    assert (Verdict.FAIL in found) == (verdict is Verdict.FAIL)


def test_a_correction_beside_an_arrival_fails(house: TablesHouse) -> None:
    """Who was corrected subtracts its own correction, and has the newcomer's turnover."""
    changed = with_newcomer(house.data)
    one = changed.index[(changed.nace == "01") & (changed.region == "N1")][0]
    changed.loc[one, "turnover"] += 0.5
    difference, found = two_editions(house, changed)
    assert (difference == round(NEWCOMER["turnover"] + 0.5, 1)).any()
    golden(found[Verdict.FAIL].says)


def test_a_firm_more_among_small_changes_is_told_nearly(house: TablesHouse) -> None:
    """Four others in its cell change by 0.1: the difference is within a hundredth of the newcomer's turnover."""
    changed = with_newcomer(house.data)
    there = changed.index[(changed.nace == "01") & (changed.region == "N1")][:4]
    changed.loc[there, "turnover"] = (changed.loc[there, "turnover"] + 0.1).round(1)
    difference, found = two_editions(house, changed)
    assert (np.abs(difference - NEWCOMER["turnover"]) < 78).all()
    assert f"{len(difference)} cells" in found[Verdict.REVIEW].says
    golden.words(found[Verdict.REVIEW].says)


def test_an_ordinary_next_month_passes(house: TablesHouse) -> None:
    changed = house.data.copy()
    changed["turnover"] = (changed.turnover * np.random.default_rng(5).lognormal(0, 0.1, len(changed)) + 0.1).round(1)
    _, found = two_editions(house, changed.drop(changed.index[changed.nace == "01"][:2]))
    assert set(found) == {Verdict.PASS}, [finding.says for finding in found.values()]


def test_one_record_more_is_found_in_the_counts_that_changed(house: TablesHouse) -> None:
    house.definition["measure"] = {}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": 3}]
    difference, found = two_editions(house, with_newcomer(house.data))
    assert (difference == 1).all()
    golden(found[Verdict.FAIL].says)
    assert str(len(difference)) in found[Verdict.FAIL].says


def test_counts_that_change_in_many_cells_pass(house: TablesHouse) -> None:
    house.definition["measure"] = {}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": 3}]
    changed = house.data.drop(house.data.index[5::7])
    _, found = two_editions(house, changed)
    assert set(found) == {Verdict.PASS}, [finding.says for finding in found.values()]


def test_totals_of_tables_without_a_common_dimension_need_a_decision(house: TablesHouse) -> None:
    """A firm more is the difference of the two totals, which is all that the editions share."""
    publish(edition(house)[0])
    house.data = with_newcomer(house.data)
    house.definition |= {"dimensions": [{"variable": "size"}], "tables": [{"name": "cells", "dimensions": ["size"]}]}
    second = made(house)
    cells_of(second)
    golden.words(compared(second)[Verdict.REVIEW].says)
