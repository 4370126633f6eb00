"""A house to release data from, and the session's Prefect server for those who ask for it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `tests.flows.house`, however pytest was started

from tests.flows.forks import Forks, Run
from tests.flows.house import House
from tests.flows.prefect_server import PrefectServer, planned_server, running_server, using
from tests.flows.stages import stages


@pytest.fixture(scope="session")
def prefect_server() -> PrefectServer:
    """A server that nobody uses yet."""
    return running_server()


@pytest.fixture
def on_prefect(prefect_server: PrefectServer) -> Iterator[PrefectServer]:
    """Releases of this process are runs on the server."""
    with using(prefect_server):
        yield prefect_server


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house whose data pass their policy; without a server, as on a methodologist's own machine."""
    return House(tmp_path / "house")


@pytest.fixture
def pending() -> House:
    """A house whose first release waits for its two approvals."""
    return stages(House).at("pending")


@pytest.fixture
def published() -> House:
    """A house whose first release is published."""
    return stages(House).at("published")


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Runs commands in processes that can be killed."""
    with closing(Forks(planned_server().environment)) as running:
        yield running


@pytest.fixture(scope="session")
def forks_on_prefect(forks: Forks, prefect_server: PrefectServer) -> Callable[..., Run]:
    """Such commands, whose releases are runs on the server."""
    return partial(forks.run, on_prefect=True)
