"""A house to release data from, and the session's Prefect server."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `tests.flows.house`, however pytest was started

from tests.flows.forks import Forks
from tests.flows.house import House
from tests.flows.prefect_server import PrefectServer, running_server, using


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[PrefectServer]:
    server = running_server()
    with using(server):
        yield server


@pytest.fixture
def house(tmp_path: Path, prefect_server: PrefectServer) -> House:
    """A house whose data pass their policy."""
    return House(tmp_path / "house")


@pytest.fixture(scope="session")
def forks(prefect_server: PrefectServer) -> Iterator[Forks]:
    """Runs commands in processes that can be killed."""
    with closing(Forks(prefect_server.environment)) as running:
        yield running
