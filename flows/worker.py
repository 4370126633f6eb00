"""The worker: it starts the runs that Prefect's server has for it, and starts nothing else.

Prefect's own process worker does what a deployment tells it: a command, variables of the environment, steps that fetch
code, the function to call. Whoever may write on the server writes those, and so would run programs beside the vault.
This one takes from the server which run is due and the name of its flow, and no more: the program is that flow of this
installation, the release flow or the one of reminders.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from shlex import join
from typing import Any

import anyio
import anyio.abc
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import WorkerFlowRunResponse
from prefect.flows import Flow
from prefect.runner._flow_run_executor import FlowRunExecutorContext
from prefect.runner._process_manager import ProcessHandle
from prefect.runner._starter_engine import EngineCommandStarter
from prefect.utilities.processutils import setup_signal_handlers_worker
from prefect.workers.base import BaseJobConfiguration, BaseVariables, BaseWorker, BaseWorkerResult

from flows.deployments import ENTRYPOINT

# -P: no module is imported from the folder in which the process begins, or beside a script.
COMMAND = join([sys.executable, "-P", "-m", f"{__package__}.engine"])

# What there is beside releases, by the name under which the server knows it: deployments/notices.yaml.
_OTHERS = {"remind": f"{__package__}.remind.remind_flow"}


class ReleaseWorker(BaseWorker[BaseJobConfiguration, BaseVariables, BaseWorkerResult]):
    """Starts each run as a process of its own on this machine."""

    type = "sluice"
    job_configuration = BaseJobConfiguration
    _display_name = "Sluice"
    _description = "Runs the flows of Sluice beside the vault, and nothing else."

    async def run(
        self,
        flow_run: FlowRun,
        configuration: BaseJobConfiguration,
        task_status: anyio.abc.TaskStatus[int] | None = None,
    ) -> BaseWorkerResult:
        """Run a flow of this installation for `flow_run`; returns when its process has ended.

        configuration : what the server says of the process; nothing of it is used
        """
        flow = await self.client.read_flow(flow_run.flow_id)
        entrypoint = _OTHERS.get(flow.name, ENTRYPOINT)

        async def resolve_flow(_: FlowRun) -> Flow[Any, Any]:
            """Its hooks are called when a run is cancelled or crashes: never those that the server names."""
            return installed_flow(entrypoint)

        async with FlowRunExecutorContext() as context:
            starter = EngineCommandStarter(
                command=COMMAND,
                entrypoint=entrypoint,
                cwd=Path("/"),  # Prefect reads settings from files in the current folder: here only root can write any
                control_channel=context.control_channel,
            )
            executor = context.create_executor(
                flow_run, starter, resolve_flow=resolve_flow, propose_submitting=False
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

    async def _submit_scheduled_flow_runs(self, flow_run_response: list[WorkerFlowRunResponse]) -> list[FlowRun]:
        """Leave for the next look what is due again while its process is still ending.

        It holds its place then, and Prefect's worker would end when it asks for another one.
        """
        held = set(self._limiter.statistics().borrowers) if self._limiter else set()
        return await super()._submit_scheduled_flow_runs([e for e in flow_run_response if e.flow_run.id not in held])


def installed_flow(entrypoint: str) -> Flow[Any, Any]:
    """The flow of a module that is installed here, such as `flows.release.release_flow`."""
    module, _, name = entrypoint.rpartition(".")
    found: Flow[Any, Any] = getattr(import_module(module), name)
    return found


def work(pool: str, limit: int | None = None) -> None:
    """Start the runs of a work pool until the process is told to stop; makes the pool where there is none."""
    setup_signal_handlers_worker(os.getpid(), "the worker", print)
    worker = ReleaseWorker(pool, limit=limit)
    anyio.run(worker.start)
