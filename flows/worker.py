"""The worker: it starts the runs that Prefect's server has for it, and starts nothing else.

Prefect's own process worker does what a deployment tells it: a command, variables of the environment, steps that fetch
code, the function to call. Whoever may write on the server writes those, and so would run programs beside the vault.
This one takes from the server which run is due, and no more: the program is the release flow of this installation.
"""

import os
import sys
from pathlib import Path
from shlex import join
from typing import Any

import anyio
import anyio.abc
from prefect.client.schemas.objects import FlowRun
from prefect.flows import Flow
from prefect.runner._flow_run_executor import FlowRunExecutorContext
from prefect.runner._process_manager import ProcessHandle
from prefect.runner._starter_engine import EngineCommandStarter
from prefect.utilities.processutils import setup_signal_handlers_worker
from prefect.workers.base import BaseJobConfiguration, BaseVariables, BaseWorker, BaseWorkerResult

from flows.deployments import ENTRYPOINT

# -P: no module is imported from the folder in which the process begins, or beside a script.
COMMAND = join([sys.executable, "-P", "-m", "prefect.engine"])


class ReleaseWorker(BaseWorker[BaseJobConfiguration, BaseVariables, BaseWorkerResult]):
    """Starts each run as a process of its own on this machine."""

    type = "sluice"
    job_configuration = BaseJobConfiguration
    _display_name = "Sluice"
    _description = "Runs the release flow beside the vault, and nothing else."

    async def run(
        self,
        flow_run: FlowRun,
        configuration: BaseJobConfiguration,
        task_status: anyio.abc.TaskStatus[int] | None = None,
    ) -> BaseWorkerResult:
        """Run the release flow for `flow_run`; returns when its process has ended.

        configuration : what the server says of the process; nothing of it is used
        """
        async with FlowRunExecutorContext() as context:
            starter = EngineCommandStarter(
                command=COMMAND,
                entrypoint=ENTRYPOINT,
                cwd=Path("/"),  # Prefect reads settings from files in the current folder: here only root can write any
                control_channel=context.control_channel,
            )
            executor = context.create_executor(
                flow_run, starter, resolve_flow=_release_flow, propose_submitting=False
            )  # it was said to be submitting before

            async def execute(*, task_status: anyio.abc.TaskStatus[ProcessHandle] = anyio.TASK_STATUS_IGNORED) -> None:
                ended.append(await executor.submit(task_status=task_status))

            ended: list[Any] = []
            async with anyio.create_task_group() as group:
                handle = await group.start(execute)
                if task_status is not None:
                    task_status.started(handle.pid)
        [result] = ended
        if result is None or result.status_code is None:
            raise RuntimeError("the run's process never started")
        return BaseWorkerResult(status_code=result.status_code, identifier=str(handle.pid))


async def _release_flow(flow_run: FlowRun) -> Flow[Any, Any]:
    """The flow whose hooks are called when a run is cancelled or crashes: never the one that the server names."""
    from flows.release import release_flow

    return release_flow


def work(pool: str, limit: int | None = None) -> None:
    """Start the runs of a work pool until the process is told to stop; makes the pool where there is none."""
    setup_signal_handlers_worker(os.getpid(), "the worker", print)
    worker = ReleaseWorker(pool, limit=limit)
    anyio.run(worker.start)
