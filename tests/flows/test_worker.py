"""The worker's command, and one run that it starts; all else that it does on a server is in test_deployment.py."""

import os
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from flows.cli.operator_commands import begin_nowhere
from sluice.settings import settings
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


def test_a_run_that_is_due_again_before_its_process_ended_waits_and_ends_no_worker() -> None:
    """Suspended, and called back by an approval in the same second: with --limit it holds its place still."""
    import anyio
    from prefect.client.schemas.objects import FlowRun
    from prefect.client.schemas.responses import WorkerFlowRunResponse

    from flows.worker import ReleaseWorker

    run = FlowRun(id=uuid4(), flow_id=uuid4())

    async def look() -> list[FlowRun]:
        worker = ReleaseWorker("pool", limit=2)
        worker._limiter = anyio.CapacityLimiter(2)
        worker._limiter.acquire_on_behalf_of_nowait(run.id)
        due = WorkerFlowRunResponse(work_pool_id=uuid4(), work_queue_id=uuid4(), flow_run=run)
        return await worker._submit_scheduled_flow_runs([due])

    assert anyio.run(look) == []


@pytest.mark.smoke
def test_it_starts_a_run_that_is_due_which_waits_for_people_without_a_process(
    prefect_server: PrefectServer, house: House, tmp_path: Path
) -> None:
    house.adopt()
    pool, flow = f"pool-{uuid4()}", call(prefect_server, "/flows/", {"name": "release"})["id"]
    worker = subprocess.Popen([BIN / "sluice", "worker", "--pool", pool], cwd="/", env=of_run(prefect_server, house))
    try:
        until(lambda: call(prefect_server, "/work_pools/filter", {"work_pools": {"name": {"any_": [pool]}}}), "a pool")
        made = {"name": pool, "flow_id": flow, "work_pool_name": pool, "parameters": {"definition": "release.yaml"}}
        deployment = call(prefect_server, "/deployments/", made)["id"]
        due = {"state": {"type": "SCHEDULED"}}
        run = call(prefect_server, f"/deployments/{deployment}/create_flow_run", due)["id"]
        ended = ("PAUSED", "COMPLETED", "FAILED", "CRASHED")
        until(lambda: call(prefect_server, f"/flow_runs/{run}")["state_type"] in ended, "the end of the run")
        assert call(prefect_server, f"/flow_runs/{run}")["state_name"] == "Suspended"
        until(lambda: not processes(run), "the end of its process")
        assert house.events()[-1] == "pending_review"
    finally:
        kill(worker.pid)
        worker.wait()
