"""Releases on their way, brought there by the verbs themselves, without a flow around them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.ingest import ingest, validate
from tasks.release.product import AnyRelease
from tasks.release.products import load_product
from tests.flows.house import House
from tests.flows.tables_house import TablesHouse

Bring = Callable[[House], AnyRelease]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house")


@pytest.fixture
def tables_house(tmp_path: Path) -> TablesHouse:
    return TablesHouse(tmp_path / "house")


@pytest.fixture(scope="session")
def received() -> Bring:
    """Write the documents of a house and stage its data."""

    def bring(house: House) -> AnyRelease:
        house.adopt()
        house.write()
        return ingest(load_product(house.file, house.workspace()))

    return bring


@pytest.fixture(scope="session")
def validated(received: Bring) -> Bring:
    """The same, and validate them."""

    def bring(house: House) -> AnyRelease:
        release = received(house)
        validate(release)
        return release

    return bring
