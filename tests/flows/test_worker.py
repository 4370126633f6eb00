"""The worker's command, and one run that it starts; all else that it does on a server is in test_deployment.py."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import anyio
import httpx
import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import WorkerFlowRunResponse
from prefect.exceptions import ObjectNotFound
from prefect.workers.base import BaseWorker

from flows.cli.operator_commands import begin_nowhere
from flows.worker import ALIVE, Places, ReleaseWorker, runs_at_a_time, share_of_memory
from sluice.settings import settings
from tests.deployments.shipped_settings import DEPLOYMENTS
from tests.flows.house import House
from tests.flows.installation import BIN, kill, processes, until
from tests.flows.prefect_server import PrefectServer
from tests.flows.test_engine import call, of_run


def test_it_needs_a_server(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    house.sluice("worker").refused()


def test_it_leaves_the_folder_that_others_may_write_in_and_keeps_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLUICE_HOME", "house")
    for name in ("SLUICE_PROJECT", "SLUICE_CONNECTIONS", "SLUICE_TIMESTAMP_CERTIFICATES"):
        monkeypatch.setenv(name, "")  # as if it were not set; and put back afterwards
    before = settings()
    begin_nowhere()
    assert os.getcwd() == "/"
    assert settings() == before
    assert (settings().home, settings().project) == (tmp_path / "house", tmp_path)


GIB = 1 << 30


@pytest.mark.parametrize(("memory", "runs"), [(24 * GIB, 2), (4 * GIB, 1), (0, 1)])
def test_it_starts_no_more_runs_than_the_machine_carries(memory: int, runs: int) -> None:
    assert runs_at_a_time(2, memory) == runs
    assert runs_at_a_time(16, memory) == max(1, memory // (3 * GIB))


def test_runs_share_the_memory_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_MEMORY", "6GB")
    assert share_of_memory(20 * GIB, 20) == GIB
    assert share_of_memory(20 * GIB, 2) == settings().memory
    assert 0 < share_of_memory(0, 2) < GIB / 2


def due(run: FlowRun) -> list[WorkerFlowRunResponse]:
    return [WorkerFlowRunResponse(work_pool_id=uuid4(), work_queue_id=uuid4(), flow_run=run)]


def test_a_run_that_is_due_again_before_its_process_ended_waits_and_ends_no_worker() -> None:
    """Suspended, and called back by an approval in the same second: it holds its place still."""
    run = FlowRun(id=uuid4(), flow_id=uuid4())

    async def look() -> list[FlowRun]:
        worker = ReleaseWorker("pool", 2)
        worker._limiter = anyio.CapacityLimiter(2)
        worker._limiter.acquire_on_behalf_of_nowait(run.id)
        return await worker._submit_scheduled_flow_runs(due(run))

    assert anyio.run(look) == []


def test_a_worker_that_was_told_to_stop_begins_nothing() -> None:
    run = FlowRun(id=uuid4(), flow_id=uuid4())

    async def look() -> tuple[list[FlowRun], bool, int]:
        worker = ReleaseWorker("pool", 2)
        worker._limiter = anyio.CapacityLimiter(2)
        worker.stopping = True
        submitted = await worker._submit_scheduled_flow_runs(due(run))
        return submitted, await worker._propose_pending_state(run), worker.places_taken

    assert anyio.run(look) == ([], False, 0)


def test_two_workers_of_one_machine_share_its_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each counted its own runs: two of them started twice what the machine carries."""
    first, second, third = (FlowRun(id=uuid4(), flow_id=uuid4()) for _ in range(3))

    async def agreed(*_: object) -> bool:
        return True

    async def look() -> list[bool]:
        one, other = (ReleaseWorker("pool", 2, places=Places(tmp_path / "places", 2)) for _ in range(2))
        begun = [await one._propose_pending_state(first), await other._propose_pending_state(second)]
        begun.append(await other._propose_pending_state(third))
        with pytest.raises(RuntimeError):
            await one.run(first, one.job_configuration())  # there is no server, and its end frees the place
        begun.append(await other._propose_pending_state(third))
        return begun

    monkeypatch.setattr(BaseWorker, "_propose_pending_state", agreed)
    assert anyio.run(look) == [True, True, False, True]


def test_places_are_those_of_a_worker_that_lives_and_of_a_disk_that_takes_them(tmp_path: Path) -> None:
    gone, here = Places(tmp_path / "places", 1), Places(tmp_path / "places", 1)
    run = uuid4()
    assert (gone.take(run), here.take(uuid4())) == (True, False)
    assert gone.take(run), "it has it already"
    gone.free(run)
    gone.free(run)
    assert here.take(uuid4())
    (tmp_path / "full").touch()
    assert Places(tmp_path / "full" / "places", 1).take(uuid4()), "its own limit has to do"


def test_a_run_whose_deployment_was_deleted_keeps_no_place(tmp_path: Path) -> None:
    """Else whoever deletes two deployments on the server leaves no place to any release."""

    class Server:
        async def read_deployment(self, _: UUID) -> None:
            raise ObjectNotFound(KeyError())

        async def set_flow_run_state(self, *_: object, **__: object) -> None: ...

    async def submit() -> int:
        places = Places(tmp_path, 1)
        worker = ReleaseWorker("pool", 2, places=places)
        worker._limiter, worker._client = anyio.CapacityLimiter(2), Server()  # type: ignore[assignment]
        run = FlowRun(id=uuid4(), flow_id=uuid4(), deployment_id=uuid4())
        worker._limiter.acquire_on_behalf_of_nowait(run.id)
        worker._submitting_flow_run_ids.add(run.id)
        assert places.take(run.id)
        await worker._submit_run(run)
        assert places.take(run.id)
        return worker.places_taken

    assert anyio.run(submit) == 0


def test_probes_ask_for_the_file_that_it_touches_whenever_it_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path))

    async def away(_: BaseWorker[Any, Any, Any]) -> list[FlowRun]:
        raise httpx.ConnectError("the server is away")

    monkeypatch.setattr(BaseWorker, "get_and_submit_flow_runs", away)
    with pytest.raises(httpx.ConnectError):
        anyio.run(ReleaseWorker("pool", 1).get_and_submit_flow_runs)
    assert (tmp_path / ALIVE).exists()
    kubernetes, compose = (DEPLOYMENTS / name for name in ("kubernetes/worker.yaml", "compose/compose.yaml"))
    assert f'find "$SLUICE_HOME/{ALIVE}" -mmin' in kubernetes.read_text(encoding="utf-8")
    assert f"find /srv/sluice/home/{ALIVE} -mmin" in compose.read_text(encoding="utf-8")


def test_it_starts_a_run_that_is_due_and_told_to_stop_waits_for_its_end(
    prefect_server: PrefectServer, house: House, tmp_path: Path
) -> None:
    house.adopt()
    pool, flow = f"pool-{uuid4()}", call(prefect_server, "/flows/", {"name": "release"})["id"]
    worker = subprocess.Popen([BIN / "sluice", "worker", "--pool", pool], cwd="/", env=of_run(prefect_server, house))
    try:
        until(lambda: call(prefect_server, "/work_pools/filter", {"work_pools": {"name": {"any_": [pool]}}}), "a pool")
        made = {"name": pool, "flow_id": flow, "work_pool_name": pool, "parameters": {"definition": "release.yaml"}}
        deployment = call(prefect_server, "/deployments/", made)["id"]
        now = {"state": {"type": "SCHEDULED"}}
        run = call(prefect_server, f"/deployments/{deployment}/create_flow_run", now)["id"]
        until(lambda: "received" in house.events(), "the run to be at work")
        worker.send_signal(signal.SIGTERM)
        later = call(prefect_server, f"/deployments/{deployment}/create_flow_run", now)["id"]
        ended = ("PAUSED", "COMPLETED", "FAILED", "CRASHED")
        until(lambda: call(prefect_server, f"/flow_runs/{run}")["state_type"] in ended, "the end of the run")
        assert call(prefect_server, f"/flow_runs/{run}")["state_name"] == "Suspended"
        until(lambda: not processes(run), "the end of its process")
        assert house.events()[-1] == "pending_review"
        assert worker.wait(60) == 0
        assert call(prefect_server, f"/flow_runs/{later}")["state_type"] == "SCHEDULED"
    finally:
        kill(worker.pid)
        worker.wait()
