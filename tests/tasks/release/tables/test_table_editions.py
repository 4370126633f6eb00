"""Editions of tables, each as it was published: what several of them give away together."""

from pathlib import Path

import pytest

from sluice.ground.errors import DocumentError
from sluice.ground.verdict import Verdict
from tasks.release.products import load_product
from tasks.release.tables.published_cells import request_of, staged_and_published_cells
from tasks.release.tables.table_editions import compare_with_earlier_editions
from tests.flows.tables_house import TablesHouse
from tests.golden import golden
from tests.red_team.stages import made, publish
from tests.red_team.test_tables_and_records import TURNOVER, cells_of


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    """A table of turnover by industry."""
    house = TablesHouse(tmp_path / "house")
    house.definition |= {
        "dimensions": house.definition["dimensions"][:1],
        "tables": [{"name": "cells", "dimensions": ["nace"]}],
    }
    return house


def test_an_edition_with_other_decimals_is_never_passed_over(house: TablesHouse) -> None:
    """Of three editions the second has whole units: nobody knows what it tells with the first and the third."""
    editions = []
    for decimals in (1, 0, 1):
        house.definition["measure"] = {**TURNOVER, "decimals": decimals}
        house.definition["title"] += "."
        release = made(house)
        cells_of(release)
        _, cells, published = staged_and_published_cells(release)
        found = compare_with_earlier_editions(release, cells, published, request_of(release, cells), 1)
        editions.append({finding.scope: finding for finding in found})
        publish(release)
        last = release.id
        if decimals == 0:
            rounded = last
    assert {finding.verdict for finding in editions[1].values()} == {Verdict.REVIEW}
    assert editions[2][rounded].verdict is Verdict.REVIEW
    golden(editions[2][rounded].says)
    assert [finding.verdict for scope, finding in editions[2].items() if scope != rounded] == [Verdict.PASS]


def test_decimals_are_declared_and_not_read_off_the_first_edition(house: TablesHouse) -> None:
    """The first edition happens to have whole values, the second has not: both have the decimals that are declared."""
    house.definition["measure"] = {name: value for name, value in TURNOVER.items() if name != "decimals"}
    house.write()
    with golden.raises(DocumentError):
        load_product(house.file, house.workspace())
    house.definition["measure"]["decimals"] = 1
    tenths = house.data["turnover"]
    for turnover in (tenths.round(), tenths):
        house.data["turnover"] = turnover
        release = made(house)
        cells_of(release)
        _, cells, published = staged_and_published_cells(release)
        assert cells.decimals == 1
        found = compare_with_earlier_editions(release, cells, published, request_of(release, cells), 1)
        assert all(finding.verdict is Verdict.PASS for finding in found)
        publish(release)
