"""Reminders: what is still unsent goes out, and those who are waited for are told again.

Prefect is imported where the installation has a server, and nowhere else: cron may call this often.
"""

import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime

from sluice.custody.workspace import Workspace, open_workspace
from sluice.ground.log import log
from sluice.notices.notice import Notice
from tasks.release.decisions.notices import Delivery, deliver


def remind() -> Delivery:
    """Send what is unsent, remind people, and tell heads of runs that are late, stuck, lost or crashed."""
    workspace = open_workspace()
    return deliver(workspace, _of_runs(workspace), reminding=True)


def _of_runs(workspace: Workspace) -> Iterator[Notice]:
    """What the ledger does not know: a run that does not begin, or whose process was killed."""
    if "PREFECT_API_URL" not in os.environ:
        return
    from tasks.runs import runs_of_interest

    try:
        runs = runs_of_interest(workspace)
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        log("runs not looked at", logging.WARNING, detail=f"Prefect's server: {type(error).__name__}")
        return
    told = set()  # of a deployment one run, the first: whoever may start runs could send thousands of mails by them
    for run in runs:
        if run.condition in ("late", "stuck", "lost", "crashed") and (run.deployment, run.condition) not in told:
            told.add((run.deployment, run.condition))
            yield Notice(
                id=f"run-{run.id}-{run.condition}",
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                about=run.deployment,
                event="run",
                says=f"A run of {run.deployment} is {run.condition} since {run.since:%Y-%m-%d %H:%M} UTC.",
                do=run.do,
                link=run.page,
            )
