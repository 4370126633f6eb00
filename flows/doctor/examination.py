"""An examination: everything that the doctor looks at, from the outside in; what one room hides stops no other."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from flows.doctor.diagnosis import Condition, Diagnosis, fail, ok
from flows.doctor.host_machine import connections, modes, packages, room, settings_in_order
from flows.doctor.publications import history, ledger_schema, office, shelves, unfinished_releases
from sluice.custody.states import State
from sluice.custody.workspace import Workspace, open_workspace
from sluice.ground.errors import SluiceError
from sluice.settings import settings


def examine(after: timedelta) -> Iterator[Diagnosis]:
    """What is found, in turn: what is yielded may be repaired before the next is looked at.

    after : how long a run or a release must have given no sign of life before it is taken for lost
    """
    set_up = settings_in_order()
    yield set_up
    yield from packages()
    if set_up.condition is Condition.FAIL:
        return
    home = settings().home
    if not home.exists():
        yield from _before_the_first_command(home)
        return
    yield from modes(home)
    ledger = ledger_schema()
    yield ledger
    if ledger.condition is Condition.FAIL:
        yield from room(home, ())
        return
    try:
        workspace = open_workspace()
    except SluiceError as error:
        yield fail("workspace", str(error), "Mend what it says; see docs/deployment.md.")
        yield from room(home, ())
        return
    yield from history(workspace)
    yield office(workspace)
    begun = [entry for entry in workspace.ledger.entries() if entry.event == State.PUBLISHING]
    yield from room(home, {Path(entry.body["folder"]).parent for entry in begun if "folder" in entry.body})
    at_work: set[str] = set()
    yield from _server(workspace, after, at_work)
    try:
        yield from unfinished_releases(workspace, after, at_work)
        yield from shelves(workspace)
    except SluiceError as error:
        yield fail("releases", str(error), "sluice ledger verify")


def _before_the_first_command(home: Path) -> Iterator[Diagnosis]:
    """What can be looked at where there is no workspace; none is made."""
    yield ok("workspace", f"there is no {home} yet; the first command makes it")
    yield connections()
    yield ledger_schema()
    yield office(None)
    yield from room(home, ())
    yield from _server(None, timedelta(), set())


def _server(workspace: Workspace | None, after: timedelta, at_work: set[str]) -> Iterator[Diagnosis]:
    """What the server says of itself and of its runs; the releases that they work at come into `at_work`."""
    if "PREFECT_API_URL" not in os.environ:  # Prefect takes a second to load
        yield ok("Prefect", "PREFECT_API_URL is not set: releases run in the process of their command")
        return
    from flows.doctor.lost_runs import Runs, connected, server_diagnoses

    try:
        with connected() as client:
            yield from server_diagnoses(client)
            if workspace is not None:
                runs = Runs(client, workspace, after)
                yield from runs.diagnoses()
                at_work |= runs.at_work()
    except SluiceError:
        raise
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        says = f"{os.environ['PREFECT_API_URL']} does not answer as it should ({type(error).__name__})"
        yield fail("Prefect", says, "Start the server; look at PREFECT_API_URL and PREFECT_API_AUTH_STRING.")
