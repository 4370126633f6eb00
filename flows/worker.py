"""The worker: it starts the runs that Prefect's server has for it, and starts nothing else.

Prefect's own process worker does what a deployment tells it: a command, variables of the environment, steps that fetch
code, the function to call. Whoever may write on the server writes those, and so would run programs beside the vault.
This one takes from the server which run is due and the name of its flow, and no more: the program is that flow of this
installation, the release flow or the one of reminders.
"""

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from shlex import join, split
from typing import Any
from uuid import UUID

import anyio
import anyio.abc
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import WorkerFlowRunResponse
from prefect.flows import Flow
from prefect.runner._flow_run_executor import FlowRunExecutorContext
from prefect.runner._process_manager import ProcessHandle
from prefect.runner._starter_engine import EngineCommandStarter
from prefect.workers.base import BaseJobConfiguration, BaseVariables, BaseWorker, BaseWorkerResult

from flows.deployments import ENTRYPOINT
from sluice.ground.log import log
from sluice.settings import settings

ALIVE = "worker.alive"
"""A file of the workspace, whose time is that at which the worker last looked for runs."""
_RUN = 3 << 30  # bytes; of a release of 100,000 records by 20, with its reader
_LEAST = 1 << 28  # bytes, with which DuckDB works still
_WAITING = 64  # runs that may ask to be forked while everything is being imported
_GLANCE = 0.2  # seconds between two looks for the end of the last run
# -P: no module is imported from the folder in which the process begins, or beside a script.
COMMAND = join([sys.executable, "-P", "-m", f"{__package__}.engine"])
OTHERS = {"remind": f"{__package__}.remind.remind_flow"}
"""What there is beside releases, by the name under which the server knows it: deployments/notices.yaml."""
ENTRYPOINTS = (ENTRYPOINT, *OTHERS.values())


@dataclass
class Places:
    """The places for runs on this machine, which all workers of one workspace share: a file each, locked by the worker
    whose run has it, and free again when that worker ends.

    number : of places, at least 1
    """

    folder: Path
    number: int
    _taken: dict[UUID, int] = field(default_factory=dict)

    @classmethod
    def of_this_machine(cls, number: int) -> "Places":
        """Workers in several containers of one machine share them, too, and those of other machines do not."""
        machine = Path("/proc/sys/kernel/random/boot_id")
        named = machine.read_text().strip() if machine.exists() else socket.gethostname()
        return cls(settings().home / "places" / named, number)

    def take(self, run: UUID) -> bool:
        """Whether there was a place. Where the disk takes no file, the worker's own limit has to do."""
        if run in self._taken:
            return True
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for place in range(self.number):
                handle = os.open(self.folder / str(place), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(handle)
                    continue
                self._taken[run] = handle
                return True
        except OSError:
            return True
        return False

    def free(self, run: UUID) -> None:
        if (handle := self._taken.pop(run, None)) is not None:
            os.close(handle)


class ReleaseWorker(BaseWorker[BaseJobConfiguration, BaseVariables, BaseWorkerResult]):
    """Starts each run as a process of its own on this machine."""

    type = "sluice"
    job_configuration = BaseJobConfiguration
    _display_name = "Sluice"
    _description = "Runs the flows of Sluice beside the vault, and nothing else."

    def __init__(self, pool: str, limit: int, command: str = COMMAND, places: Places | None = None) -> None:
        """
        limit   : runs at a time, at least 1
        command : what starts the process of a run
        places  : which it shares with other workers; None: it counts its own runs alone
        """
        super().__init__(pool, limit=limit)
        self._command, self._places = command, places
        self.stopping = False  # it begins no other run then: what is due stays scheduled, for the next worker
        self._at_work: set[UUID] = set()

    @property
    def places_taken(self) -> int:
        """The runs that are at work, or about to be."""
        return self._limiter.borrowed_tokens if self._limiter else 0

    async def run(
        self,
        flow_run: FlowRun,
        configuration: BaseJobConfiguration,
        task_status: anyio.abc.TaskStatus[int] | None = None,
    ) -> BaseWorkerResult:
        """Run a flow of this installation for `flow_run`; returns when its process has ended.

        configuration : what the server says of the process; nothing of it is used
        """
        self._at_work.add(flow_run.id)
        try:
            return await self._run(flow_run, task_status)
        finally:
            self._at_work.discard(flow_run.id)
            self._free_place(flow_run.id)

    async def _run(self, flow_run: FlowRun, task_status: anyio.abc.TaskStatus[int] | None) -> BaseWorkerResult:
        flow = await self.client.read_flow(flow_run.flow_id)
        entrypoint = OTHERS.get(flow.name, ENTRYPOINT)

        async def resolve_flow(_: FlowRun) -> Flow[Any, Any]:
            """Its hooks are called when a run is cancelled or crashes: never those that the server names."""
            return installed_flow(entrypoint)

        async with FlowRunExecutorContext() as context:
            starter = EngineCommandStarter(
                command=self._command,
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

    async def get_and_submit_flow_runs(self) -> list[FlowRun]:
        """Note that it looks, for whoever asks whether it still does (`ALIVE`); also while the server is away."""
        with suppress(OSError):  # a full disk is told of by the runs
            (settings().home / ALIVE).touch(0o600)
        return await super().get_and_submit_flow_runs()

    async def _submit_scheduled_flow_runs(self, flow_run_response: list[WorkerFlowRunResponse]) -> list[FlowRun]:
        """Leave for the next look what is due again while its process is still ending.

        It holds its place then, and Prefect's worker would end when it asks for another one.
        """
        if self.stopping:
            return []
        held = set(self.limiter.statistics().borrowers)
        return await super()._submit_scheduled_flow_runs([e for e in flow_run_response if e.flow_run.id not in held])

    async def _submit_run(self, flow_run: FlowRun) -> None:
        """Free the place of a run that did not begin, too: Prefect's worker keeps it for one whose deployment is gone,
        so that whoever deletes deployments on the server would leave no place to any release."""
        await super()._submit_run(flow_run)
        if flow_run.id not in self._at_work:
            self._release_limit_slot(flow_run.id)
            self._free_place(flow_run.id)

    async def _propose_pending_state(self, flow_run: FlowRun) -> bool:
        """A worker that was told to stop meanwhile leaves the run scheduled; so does one where others of this machine
        have all places."""
        if self.stopping or not (self._places is None or self._places.take(flow_run.id)):
            return False
        return await super()._propose_pending_state(flow_run)

    def _free_place(self, run: UUID) -> None:
        if self._places is not None:
            self._places.free(run)


def installed_flow(entrypoint: str) -> Flow[Any, Any]:
    """The flow of a module that is installed here, such as `flows.release.release_flow`."""
    module, _, name = entrypoint.rpartition(".")
    found: Flow[Any, Any] = getattr(import_module(module), name)
    return found


def runs_at_a_time(processors: int, memory: int) -> int:
    """How many runs a machine carries: each keeps a processor busy, and a process that reads sources beside it.

    What is due beyond that stays scheduled. Without a limit 120 runs that were due became 88 processes, and failed.

    memory : bytes that are free
    """
    return max(1, min(processors, memory // _RUN))


def share_of_memory(free: int, runs: int) -> int:
    """The bytes that DuckDB in each of so many runs may fill before it uses the disk, see `settings().memory`; a
    process that reads sources may have as many, and a GiB for its libraries.

    free : bytes that are free as the worker begins
    """
    return max(_LEAST, min(settings().memory, free // runs))


def work(pool: str, limit: int, shared: bool = False) -> None:
    """Start the runs of a work pool until the process is told to stop; makes the pool where there is none.

    shared : the limit is that of the machine, which other workers of this workspace share
    """
    with forked_runs() as command:
        asyncio.run(_work(ReleaseWorker(pool, limit, command, Places.of_this_machine(limit) if shared else None)))


@contextmanager
def forked_runs() -> Iterator[str]:
    """The command by which each run is forked from a process that has imported everything; see `run_forks`.

    Without Linux, or once that process is gone, each run imports for itself.
    """
    if sys.platform != "linux":
        yield COMMAND
        return
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:  # of this account alone
        path = f"{folder}/runs"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
            server.bind(path)
            server.listen(_WAITING)
            program = [sys.executable, "-P", "-m", f"{__package__}.run_forks", str(server.fileno())]
            forks = subprocess.Popen(program, stdin=subprocess.PIPE, pass_fds=[server.fileno()])
        client = str(Path(__file__).with_name("run_client.py"))
        try:
            yield join([sys.executable, "-I", "-S", client, path, *split(COMMAND)])
        finally:
            forks.communicate()  # it ends with its last run, which is waited for, or was ended


async def _work(worker: ReleaseWorker) -> None:
    """At the first signal no other run begins, and those at work are waited for; at the second they are ended."""
    working, ending = asyncio.create_task(worker.start()), []

    async def end_when_idle() -> None:
        while worker.places_taken:
            await asyncio.sleep(_GLANCE)
        working.cancel()

    def told() -> None:
        if worker.stopping:
            working.cancel()
            return
        worker.stopping = True
        log("worker stops", detail=f"{worker.places_taken} runs at work are waited for; what is due stays scheduled")
        ending.append(asyncio.create_task(end_when_idle()))  # a task that nobody holds may be collected

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told)
    with suppress(asyncio.CancelledError):
        await working
