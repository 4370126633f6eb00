"""Tables of two measures of the same records: what a reader of both tells of how many contribute to a cell.

The reader has the published files alone; by subtraction, or by a linear program over the numbers that either tells.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.verdict import Verdict
from tests.flows.tables_house import TablesHouse
from tests.golden import golden
from tests.red_team.stages import made, publish
from tests.red_team.test_tables_and_records import TURNOVER, cells_of, firms_by_cell, suppressed, true_counts


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    return firms_by_cell(tmp_path, "firms-by-cell")


def counted(house: TablesHouse, least: int, **protection: Any) -> None:
    house.definition["measure"] = {}
    house.definition.pop("protection", None)
    house.definition |= {"protection": protection} if protection else {}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": least}]


def added(house: TablesHouse, least: int, tell: bool = False) -> None:
    house.definition["measure"] = TURNOVER
    house.definition.pop("protection", None)
    house.definition["form"] = {"tell_contributors": tell}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": least}, {"rule": "p_percent", "p": 10}]


def published(house: TablesHouse) -> pd.DataFrame:
    release = made(house)
    table, _ = cells_of(release)
    publish(release)
    return table


def test_counts_of_two_tell_how_many_contribute_to_the_suppressed_cells_of_amounts(house: TablesHouse) -> None:
    counted(house, 2)
    counts = published(house).set_index(["nace", "region"])["value"]
    added(house, 3)
    amounts, found = cells_of(made(house))
    few = [cell for cell in suppressed(amounts) if counts[cell] and int(counts[cell]) < 3]
    assert few
    finding = found["other_measures"]
    assert finding.verdict in (Verdict.REVIEW, Verdict.FAIL)  # FAIL where others follow from these
    golden(finding.says)
    assert str(len(few)) in finding.says


def test_a_protected_count_table_and_amounts_without_numbers_pass(house: TablesHouse) -> None:
    counted(house, 3)
    published(house)
    added(house, 3)
    _, found = cells_of(made(house))
    assert found["other_measures"].verdict is Verdict.PASS
    golden.words(found["other_measures"].says)


def test_numbers_told_with_amounts_give_the_suppressed_counts(house: TablesHouse) -> None:
    """Published amounts tell numbers of 3 and 4, which the counts keep below 5."""
    counted(house, 5)
    counts = published(house)
    added(house, 3, tell=True)
    amounts, found = cells_of(made(house))
    told = amounts[amounts["contributors"] != ""].set_index(["nace", "region"])["contributors"]
    learned = [cell for cell in suppressed(counts) if cell in told.index and true_counts(house)[cell] < 5]
    assert learned
    assert all(int(told[cell]) == true_counts(house)[cell] for cell in learned)
    assert found["other_measures"].verdict is Verdict.FAIL, found["other_measures"].says


def test_counts_after_amounts_that_tell_numbers_are_judged_as_well(house: TablesHouse) -> None:
    added(house, 3, tell=True)
    published(house)
    house.definition["form"] = {}
    counted(house, 5)
    _, found = cells_of(made(house))
    assert found["other_measures"].verdict is Verdict.FAIL, found["other_measures"].says


def test_listed_amounts_show_that_a_count_that_became_zero_is_none(house: TablesHouse) -> None:
    counted(house, 3, method="small_count_rounding", base=4)
    counts = published(house)
    added(house, 3)
    amounts, found = cells_of(made(house))
    rows = [set(table[["nace", "region"]].itertuples(index=False, name=None)) for table in (counts, amounts)]
    opened = rows[1] - rows[0]
    assert opened
    assert all(0 < true_counts(house)[cell] < 4 for cell in opened)
    finding = found["other_measures"]
    assert finding.verdict is Verdict.REVIEW
    golden(finding.says)
    assert str(len(opened)) in finding.says


def test_firms_in_several_cells_have_numbers_that_nobody_can_judge(house: TablesHouse) -> None:
    house.contract["record_key"] = ["firm", "nace"]
    house.data = pd.concat(
        [house.data, house.data.iloc[:60].assign(nace=np.where(house.data.nace[:60] == "01", "02", "01"))]
    )
    counted(house, 3)
    published(house)
    added(house, 3, tell=True)
    _, found = cells_of(made(house))
    assert found["contributor_numbers"].verdict is Verdict.REVIEW
    assert found["other_measures"].verdict is Verdict.REVIEW
    golden.words(found["other_measures"].says)
