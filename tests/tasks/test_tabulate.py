"""Every cell of the tables, added up in DuckDB, is what adding up by hand gives."""

from collections.abc import Callable

import pytest

from tasks.failure import StepFailed
from tasks.release.product import AnyRelease
from tasks.release.tables.published_cells import read_staged_cells
from tasks.table_protection import tabulate
from tests.flows.house import House
from tests.flows.tables_house import TablesHouse

Bring = Callable[[House], AnyRelease]


def test_cells_are_the_sums_over_the_records(tables_house: TablesHouse, validated: Bring) -> None:
    release = validated(tables_house)
    staged = tabulate(release)
    cells = read_staged_cells(release, staged)
    assert len(cells) == staged.cells
    total = {cells.name(at): int(cells.total[at]) for at in range(len(cells))}
    data = tables_house.data
    by_hand = round(10 * data.loc[(data["nace"] == "01") & (data["region"] == "N1"), "turnover"].sum())
    (name,) = (name for name in total if "01" in name and "N1" in name)
    assert total[name] == by_hand
    assert max(total.values()) == round(10 * data["turnover"].sum())


def test_the_same_records_give_the_same_bytes(tables_house: TablesHouse, validated: Bring) -> None:
    release = validated(tables_house)
    assert tabulate(release) == tabulate(release)


def test_a_code_that_no_hierarchy_has_is_refused(tables_house: TablesHouse, validated: Bring) -> None:
    tables_house.data.loc[3, "region"] = "X9"
    with pytest.raises(StepFailed) as refused:
        tabulate(validated(tables_house))
    assert "region" in refused.value.detail
