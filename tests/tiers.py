"""Tiers: what a test may cost, and which command runs it.

`unit` takes less than half a second of CPU and starts nothing; `chain` takes whole releases through in this process,
talks to a server that is a thread of it, or computes longer; `servers` starts programs: Prefect, PostgreSQL, MariaDB,
nginx, a browser, R, any process; `exhaustive` is whole large files, and more cases of what another test shows on fewer.
A test's tier is that of its folder below, unless its module or the test itself is marked; fixtures that start a
server make it `servers`. What is marked `smoke` stands for its server in `make test`; what is marked `longest` is
`exhaustive`, and only `make exhaustive` runs it.

The CPU seconds of every test, those of the processes that it waited for among them, are written to `.costs.tsv`, the
costliest first. A `unit` test that starts a process or a connection fails, and so does one that takes many times as
long as it may; the last lines name those that take somewhat longer, as a busy machine can make them. What a run takes
beside its tests is told in its last line: what each process loads and collects, what first runs of `unit` tests loaded
and compiled, and what pytest does between tests and where reports arrive.
"""

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from pathlib import Path
from threading import enumerate as enumerate_threads
from threading import get_ident
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

TIERS = ("unit", "chain", "servers", "exhaustive")
FOLDERS = {
    "browser": "servers",
    "docs": "chain",
    "faults": "chain",
    "faults/server": "servers",
    "flows": "chain",
    "injection": "chain",
    "published": "chain",
    "reader": "chain",
    "red_team": "chain",
    "tasks": "chain",
}  # the longest that fits; all others are `unit`
SERVERS = {"prefect_server", "installation", "postgresql_server", "mariadb_server", "forks"}  # fixtures that start one

UNIT_SECONDS = 0.5  # on a machine that counts as fast as those that the figure was set on:
FAILS_AT = 5  # times that: memory and caches that others use cost more than a count tells, though not so much
_COUNT_SECONDS = 0.04
EXAMPLES = 25  # of a property, for which the limit is meant
COSTS = ".costs.tsv"
_COLLECTED, _LOADED, _TESTED, _ALL = "collected", "loaded", "tested", "all"

_TESTS = Path(__file__).parent
_EVENTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "socket.connect", "socket.bind"}

_spent: Counter[str] = Counter()  # CPU seconds of this process by where they went, all in all among them
_started: list[str] = []  # what the running test started
_watching = False
_others: set[int] = set()  # threads that earlier tests left behind, such as those of Prefect


def tier_of(item: pytest.Item) -> str:
    """The tier by the nearest mark, else by the servers that its fixtures start, else by its folder."""
    for node in reversed(item.listchain()):
        names = {mark.name for mark in node.own_markers}
        marked = [tier for tier in TIERS if tier in names or (tier == "exhaustive" and "longest" in names)]
        if "unit" in marked:
            raise pytest.UsageError(f"{item.nodeid}: unit is the tier of folders, in tests/tiers.py; marks name others")
        if marked:
            return marked[-1]  # of a parameter and its test, the one that asks for more
    if SERVERS & set(getattr(item, "fixturenames", ())):
        return "servers"
    return _of_folder(item.path.parent)


@cache
def _of_folder(path: Path) -> str:
    folder = path.relative_to(_TESTS)
    names = (name.as_posix() for name in (folder, *folder.parents))
    return next((FOLDERS[name] for name in names if name in FOLDERS), "unit")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Who asks for `unit` alone does not load the folders of other tiers: a mark in them is never `unit`."""
    if config.option.markexpr == "unit" and collection_path.is_dir() and collection_path.is_relative_to(_TESTS):
        return _of_folder(collection_path) != "unit" or None
    return None


def _tier(item: pytest.Item) -> str:
    return item.stash[_TIER]


_TIER = pytest.StashKey[str]()
_CPU = pytest.StashKey[dict[str, float]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test bears the mark of its tier, by which `-m` chooses."""
    for item in items:
        item.stash[_TIER] = tier_of(item)
        if item.get_closest_marker(_tier(item)) is None:
            item.add_marker(_tier(item))


def _seconds() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _limit(item: pytest.Item) -> float:
    """CPU seconds that a `unit` test may take; a property in proportion to the examples that are asked for."""
    is_property = hasattr(getattr(item, "obj", None), "hypothesis")
    return UNIT_SECONDS * (max(1, settings.default.max_examples / EXAMPLES) if is_property else 1)


def _slower() -> float:
    """How many times as long as here a fixed count takes on this machine, as it now is; at least 1."""
    before, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number * number % 7
    return max(1.0, (time.process_time() - before) / _COUNT_SECONDS)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in _EVENTS and get_ident() not in _others and not (event == "socket.bind" and _loading()):
        _started.append(event)


def _loading() -> bool:
    """Whether a module is being loaded: urllib3 then binds a socket, in whichever test comes first, and never again."""
    frame = sys._getframe()
    while (above := frame.f_back) is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = above
    return frame.f_back is not None


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(_watch)


def _phase(name: str) -> Any:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def hook(item: pytest.Item) -> Iterator[None]:
        before = _seconds()
        try:
            return (yield)
        finally:
            seconds = _seconds() - before
            item.stash.setdefault(_CPU, {})[name] = seconds
            _spent[_TESTED] += seconds

    return hook


pytest_runtest_setup = _phase("setup")
pytest_runtest_call = _phase("call")
pytest_runtest_teardown = _phase("teardown")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[pytest.TestReport]:
    report = yield
    report.cpu = item.stash.get(_CPU, {}).get(report.when, 0.0)
    report.tier = _tier(item)
    return report


def _enforced(config: pytest.Config) -> bool:
    """Lines that are counted, or a debugger, cost more than the test."""
    return not (config.getoption("usepdb", False) or sys.gettrace() or getattr(config.option, "cov_source", None))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """One report of a test that passed, as each is sent to another process, and read there. A `unit` test that takes
    too long is run once more, as the first may have loaded what all the others use."""
    sent = not hasattr(item.config, "workerinput")  # where the reports arrive nobody asks when a test began
    if sent:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = _watched(item, nextitem) if _tier(item) == "unit" and _enforced(item.config) else _run(item, nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    if sent:
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _run(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    called = [report for report in reports if report.when == "call"]
    if not called or not all(report.passed for report in reports):
        return reports
    called[0].cpu = sum(report.cpu for report in reports)
    return called


def _watched(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    """Of a `unit` test: it fails where it costs too much, or starts a process or a connection."""
    global _watching
    for again in (True, False):
        _started.clear()
        _others.clear()
        _others.update(thread.ident for thread in enumerate_threads() if thread.ident not in (None, get_ident()))
        _watching = True
        try:
            reports = _run(item, nextitem)
        finally:
            _watching = False
        seconds, limit = sum(report.cpu for report in reports), _limit(item)
        if seconds > limit:
            limit *= _slower()
        if seconds <= limit or any(report.failed for report in reports) or not again:
            break
        _spent[_LOADED] += seconds
        _spent[_TESTED] -= seconds
        item._initrequest()  # type: ignore[attr-defined]
    faults = []
    reports[0].over = seconds / limit
    if seconds > limit * FAILS_AT:
        faults.append(f"it took {seconds:.2f} s of CPU twice in a row; a unit test may take {limit:.1f}, here and now")
    if _started:
        faults.append(f"it did what no unit test may: {', '.join(sorted(set(_started)))}")
    if faults and all(report.passed for report in reports):
        (called,) = reports
        called.outcome, called.longrepr = "failed", f"{'; '.join(faults)}. See tests/tiers.py."
    return reports


class Costs:
    """What every test took, added up where the reports of all processes arrive."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.tiers: dict[str, str] = {}
        self.over: dict[str, float] = {}  # how many times what it may each `unit` test took that took more
        self.spent: Counter[str] = Counter()  # of all processes that ran tests

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.spent.update(getattr(node, "workeroutput", {}).get("spent", {}))  # none of a process that was lost

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "cpu"):  # none of a process that was lost
            self.seconds[report.nodeid] += report.cpu
            self.tiers[report.nodeid] = report.tier
            if getattr(report, "over", 0.0) > 1:
                self.over[report.nodeid] = report.over

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        lines = sorted(((seconds, self.tiers[test], test) for test, seconds in self.seconds.items()), reverse=True)
        if not lines:
            return
        (config.rootpath / COSTS).write_text("".join(f"{line[0]:.3f}\t{line[1]}\t{line[2]}\n" for line in lines))
        for tier in TIERS:
            mine = [seconds for seconds, of, _ in lines if of == tier]
            if mine:
                terminalreporter.write_line(
                    f"{tier}: {len(mine)} tests, {sum(mine):.0f} s of CPU, at most {mine[0]:.1f} s"
                )
        for test, times in sorted(self.over.items(), key=itemgetter(1), reverse=True):
            terminalreporter.write_line(f"{test} took {times:.1f} times what a unit test may, twice in a row")
        terminalreporter.write_line(self._outside())

    def _outside(self) -> str:
        """What the run takes beside its tests."""
        spent = self.spent or _spent
        own = os.times()
        controller = own.user + own.system if self.spent else 0.0
        between = spent[_ALL] - spent[_COLLECTED] - spent[_LOADED] - spent[_TESTED]
        return (
            f"outside: {spent[_COLLECTED]:.0f} s of CPU to collect, {spent[_LOADED]:.0f} s loaded or compiled by first "
            f"runs, {between:.0f} s between tests, {controller:.0f} s where reports arrive"
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    _spent[_COLLECTED] = _seconds()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of the session's own hands over what it spent."""
    _spent[_ALL] = _seconds()
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["spent"] = dict(_spent)


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # a process of the session's own reports to the one that began it
        session.config.pluginmanager.register(Costs(), "costs")
