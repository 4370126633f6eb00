"""A release is the same chain of steps with Prefect and without; without a server none is started."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.sorting import FlowRunSort, TaskRunSort

from tasks.release.running_step import listening
from tests.flows.house import DONE, House
from tests.flows.prefect_server import PrefectServer, deliver_events

STEPS = "open_documents known_release ingest validate check mask check evaluate report decide"


@contextmanager
def steps() -> Iterator[list[str]]:
    begun: list[str] = []
    with listening(lambda step, seconds: begun.append(step) if seconds is None else None):
        yield begun


def test_without_a_server_none_is_started(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.server.api.server import SubprocessASGIServer  # seconds that every collection of the tests would take

    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(SubprocessASGIServer, "start", lambda *_: pytest.fail("a server was started"))
    with steps() as begun:
        told = house.sluice("check", str(house.file))
    assert told.code == DONE, told.words
    assert begun == ["release", *STEPS.split()]


@pytest.mark.smoke
def test_on_a_server_the_same_steps_are_the_tasks_of_one_run(tmp_path: Path, on_prefect: PrefectServer) -> None:
    house = House(tmp_path / "house")
    with steps() as begun:
        told = house.sluice("check", str(house.file))
    assert told.code == DONE, told.words
    assert begun == ["release", *STEPS.split()]
    deliver_events()
    assert _tasks_of_the_last_run(house.id) == STEPS.split()


def _tasks_of_the_last_run(release: str, patience: float = 60) -> list[str]:
    """The names of its tasks in order, as soon as the server has them all: it takes them in in the background."""
    deadline = time.monotonic() + patience
    with get_client(sync_client=True) as client:
        (run,) = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC, limit=1)
        assert (run.name, run.state_name) == (release, "Checked")
        while True:
            found = client.read_task_runs(
                flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run.id])),
                sort=TaskRunSort.EXPECTED_START_TIME_ASC,
            )
            names = [task.name.rsplit("-", 1)[0] for task in found]
            if len(names) == len(STEPS.split()) or time.monotonic() > deadline:
                return names
            time.sleep(0.2)
