"""Reminders: what is still unsent goes out, and those who are waited for are told again.

Prefect is imported where the installation has a server, and nowhere else: cron may call this often.
"""

import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from flows.desk.accounts import ATTEMPTS, WINDOW
from flows.desk.desk import AccessLog
from sluice.custody.workspace import Workspace, open_workspace
from sluice.ground.log import log
from sluice.notices.notice import Notice
from tasks.release.decisions.notices import Delivery, deliver

_DAY = timedelta(days=1)


def remind() -> Delivery:
    """Send what is unsent, remind people, and tell heads of runs that are late, stuck, lost or crashed."""
    workspace = open_workspace()
    return deliver(workspace, [*_of_runs(workspace), *_of_desk(workspace, datetime.now(UTC))], reminding=True)


def _of_desk(workspace: Workspace, now: datetime) -> Iterator[Notice]:
    """Names that were held back within a day for wrong passwords: one notice a name and day."""
    for who, times in AccessLog.of(workspace.home).wrong_passwords(now - _DAY).items():
        within = (first - last for first, last in zip(times, times[ATTEMPTS - 1 :], strict=False))
        if any(apart <= timedelta(seconds=WINDOW) for apart in within):
            name = "names without an account" if who == "?" else who
            yield Notice(
                id=f"sign-in-{who}-{times[0]:%Y-%m-%d}",
                at=times[0].isoformat(timespec="seconds"),
                about="the desk",
                event="sign-in",
                says=f"{len(times)} wrong passwords were given for {name} at the desk since "
                f"{times[-1]:%Y-%m-%d %H:%M} UTC.",
                do="Ask whether it was they. If not, somebody tries to get in: they are held back for 15 minutes each "
                "time, and known browsers are not. Who tries stands in the log of the proxy in front of the desk.",
            )


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
