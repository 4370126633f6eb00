"""The run of Prefect that this process works at. Outside of one there is nothing to name, tag, suspend or resume.

Prefect takes a second to load, and a release without a server has no use for it. So it is loaded where a run has begun,
by the flow itself, or where a server is named.
"""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sluice.custody.workspace import Workspace
from tasks.release.run_notes import WaitingRun, runs_waiting

if TYPE_CHECKING:
    from tasks.release.documented_release import DocumentedRelease


def in_a_run() -> bool:
    """Whether Prefect runs this: it has loaded itself then."""
    context: Any = sys.modules.get("prefect.context")
    return context is not None and (context.FlowRunContext.get() or context.TaskRunContext.get()) is not None


def prefect_signals() -> tuple[type[BaseException], ...]:
    """What Prefect raises to suspend or end a run, which is no failure."""
    exceptions: Any = sys.modules.get("prefect.exceptions")
    return () if exceptions is None else (exceptions.PrefectSignal,)


def has_server() -> bool:
    """Whether Prefect's server is named, in the environment alone: files in the folder could name another."""
    return bool(os.environ.get("PREFECT_API_URL"))


def name_run(release: "DocumentedRelease") -> None:
    """See `suspension.name_run`."""
    if in_a_run():
        from tasks.runs_on_server import name_run

        name_run(release)


def begin_run(workspace: Workspace) -> None:
    """See `suspension.begin_run`."""
    if in_a_run():
        from tasks.runs_on_server import begin_run

        begin_run(workspace)


def suspended_for(workspace: Workspace) -> str | None:
    """See `suspension.suspended_for`."""
    if not in_a_run():
        return None
    from tasks.runs_on_server import suspended_for

    return suspended_for(workspace)


def waits_already(release: "DocumentedRelease") -> WaitingRun | None:
    """See `suspension.waits_already`."""
    if not in_a_run():
        return None
    from tasks.runs_on_server import waits_already

    return waits_already(release)


def suspend(release: "DocumentedRelease", waits_for: str) -> bool:
    """See `suspension.suspend`."""
    if not in_a_run():
        return False
    from tasks.runs_on_server import suspend

    return suspend(release, waits_for)


def stop_waiting(release: "DocumentedRelease") -> None:
    """See `suspension.stop_waiting`."""
    if in_a_run():
        from tasks.runs_on_server import stop_waiting

        stop_waiting(release)


def resume_runs(workspace: Workspace, release_id: str) -> int:
    """See `suspension.resume_runs`."""
    if not has_server() or not runs_waiting(workspace, release_id):
        return 0
    from tasks.runs_on_server import resume_runs

    return resume_runs(workspace, release_id)


def tag_runs(workspace: Workspace, releases: Iterable[str]) -> None:
    """See `runs_on_server.tag_runs`."""
    if has_server():
        from tasks.runs_on_server import tag_runs

        tag_runs(workspace, releases)
