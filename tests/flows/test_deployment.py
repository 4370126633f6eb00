"""Releases that run by themselves: a real server and a real worker, people, accidents and mischief."""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from sluice.custody.ledger_entry import Entry
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING
from tests.flows.installation import DEPLOYMENTS, ROOT, SECRET, WAREHOUSE, Installation, definitions, processes, until
from tests.flows.prefect_server import using
from tests.golden import golden

# The ledger of every release, however it was started: up to the decision of people, and after it.
JUDGED = ["received", "validated", "masked", "evaluated", "pending_review"]
DECIDED = ["decision", "decision", "approved", "publishing", "published"]


def shape(entries: list[Entry]) -> list[tuple[str, str, str]]:
    """Ledger entries without what differs from one release to the next of the same data: names, hashes, figures."""
    text = [(entry.event, entry.actor, json.dumps(entry.body, sort_keys=True)) for entry in entries]
    names = f"({'|'.join(DEPLOYMENTS)})(-[0-9a-f]{{12}})?"
    for different in (r"[0-9a-f]{64}", names, r"\d+\.\d+", r"\d{4}-\d\d-\d\dT[\d:+]+"):
        text = [(event, actor, re.sub(different, "*", body)) for event, actor, body in text]
    return text


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """All that the tests look at, set in motion: the runs take turns on the processor while the first is looked at."""
    made = Installation(tmp_path_factory.mktemp("installation"))
    with closing(sqlite3.connect(made.folder / f"{SECRET}.db")) as warehouse:
        made.house.data.to_sql("people", warehouse, index=False)
    connection = {"url": f"${{{WAREHOUSE}}}", "secrets": [WAREHOUSE], "tables": ["people"]}
    connections = Path(made.environment["SLUICE_CONNECTIONS"])
    connections.write_text(json.dumps({"connections": {"warehouse": connection}}))
    connections.chmod(0o600)
    made.house.definition["source"] = {"connection": "warehouse", "table": "people"}
    try:
        made.house.adopt()
        made.start_server()
        made.plant()
        made.start_worker()  # which makes the work pool
        later = datetime.now(UTC) + timedelta(hours=12)
        folder = definitions(
            made.house,
            made.folder / "releases",
            {name: {} for name in DEPLOYMENTS}
            | {"event": {"trigger": {"resource": "warehouse.people"}}}
            | {"scheduled": {"schedule": {"cron": f"{later.minute} {later.hour} * * *", "timezone": "UTC"}}},
        )
        told = made.write_deployments(folder)
        assert told.code == DONE, told.words
        made.prefect("deploy", "--prefect-file", str(made.prefect_yaml), "--all")
        for name in DEPLOYMENTS:
            made.meddle(name)
        made.kill_at_work("killed")
        made.start_worker()
        made.run("killed")
        made.loaded("people")
        made.bring_forward("scheduled")
        with (
            using(made.server),
            patch.dict(os.environ, {name: made.environment[name] for name in (WAREHOUSE, "SLUICE_CONNECTIONS")}),
        ):
            yield made
    finally:
        made.stop()


def test_what_a_killed_run_left_is_published_once_and_by_people_alone(installation: Installation) -> None:
    [run] = installation.waits("killed")
    assert installation.states("killed") == ["Crashed", "Suspended"]
    installation.set_state(run["id"], "COMPLETED")  # as anybody can who reaches the server
    assert installation.states("killed") == ["Crashed", "Completed"]
    assert installation.events("killed") == ["received", *JUDGED]
    assert not installation.published("killed")

    # No run waits any more, and the approval still leads to publication: in the approver's own command.
    assert installation.approve("killed", "amara").code == WAITING
    told = installation.approve("killed", "jonas")
    assert told.code == DONE, told.words
    assert installation.events("killed") == ["received", *JUDGED, *DECIDED]
    assert installation.published("killed")
    assert not installation.note(run["id"]).exists()


def test_a_triggered_run_waits_without_a_process_and_publishes_once(installation: Installation) -> None:
    [first] = installation.waits("event")
    until(lambda: not processes(first["id"]), "the suspended run's process to end")
    assert first["parameters"] == {"definition": "releases/event.yaml"}
    assert installation.events("event") == JUDGED
    golden(first["state"]["message"])
    assert "state:pending_review" in first["tags"]
    until(lambda: installation.told_to_wait(first["id"]) == [installation.release("event")], "the event that says so")

    installation.loaded("people")  # the same event again: another run, the same release
    installation.resume(first["id"])  # by somebody with access to Prefect and no approval
    until(lambda: "AlreadyWaiting" in installation.states("event"), "the end of the second run")
    until(lambda: json.loads(installation.note(first["id"]).read_text())["rounds"] == 2, "the second round")
    assert [run["id"] for run in installation.waits("event")] == [first["id"]]
    [second] = [run for run in installation.runs("event") if run["id"] != first["id"]]
    assert second["name"] == installation.release("event")
    golden(second["state"]["message"])
    assert str(first["id"]) in second["state"]["message"]
    assert installation.events("event") == JUDGED, "neither run may have judged again, or gone on"
    assert not installation.published("event")

    assert installation.approve("event", "amara").code == WAITING
    with using(replace(installation.server, url="http://127.0.0.1:9/api")):  # nobody listens at the port of 'discard'
        told = installation.approve("event", "jonas")
    assert told.code == ERROR
    golden.words(told.words)
    assert first["id"] in told.words
    assert installation.events("event") == [*JUDGED, "decision", "decision"]
    assert not installation.published("event")

    assert installation.approve("event", "jonas").code == DONE  # once more; the server answers again
    until(lambda: installation.states("event") == ["Published", "AlreadyWaiting"], "the run that waited to end")
    assert installation.events("event") == [*JUDGED, *DECIDED], "what was approved already is not recorded twice"
    assert installation.published("event")
    assert not any(installation.note(run["id"]).exists() for run in (first, second))


def test_scheduled_triggered_and_by_hand_leave_the_same(installation: Installation) -> None:
    told = installation.house.sluice("release", str(installation.folder / "releases" / "byhand.yaml"))
    assert told.code == WAITING, told.words
    byhand = shape(installation.entries("byhand"))
    assert [event for event, _, _ in byhand] == JUDGED
    until(lambda: "pending_review" in installation.events("event"), "the triggered run to be judged")
    assert shape(installation.entries("event"))[: len(JUDGED)] == byhand
    installation.waits("scheduled")
    assert shape(installation.entries("scheduled"))[: len(JUDGED)] == byhand


def test_the_schedule_starts_a_run(installation: Installation) -> None:
    assert [run["auto_scheduled"] for run in installation.waits("scheduled")] == [True]


def test_a_rejected_run_ends_and_publishes_nothing(installation: Installation) -> None:
    [run] = installation.waits("scheduled")
    for person, code in (("amara", WAITING), ("jonas", BLOCKED)):
        refusal = ("reject", installation.release("scheduled"), "--as", person, "--comment", "too few women")
        told = installation.house.sluice(*refusal)
        assert told.code == code, told.words
    until(lambda: installation.states("scheduled") == ["Blocked"], "the rejected run to end")
    assert installation.events("scheduled") == [*JUDGED, "decision", "decision", "rejected"]
    assert not installation.published("scheduled")
    assert not installation.note(run["id"]).exists()


def test_prefect_learns_no_secret_and_no_record(installation: Installation) -> None:
    kept = [path for path in installation.server.home.rglob("*") if path.is_file()]
    assert kept
    for path in [*kept, installation.server.log, installation.prefect_yaml]:
        content = path.read_bytes()
        assert SECRET.encode() not in content, path
        assert b"Person 0" not in content, path


def test_the_worker_runs_the_installed_flow_and_nothing_that_server_or_project_name(installation: Installation) -> None:
    until(lambda: installation.events("event"), "a run of it")
    pool = installation.call("GET", "/work_pools/sluice")
    assert pool["type"] == "sluice"
    assert "touch" in pool["base_job_template"]["job_configuration"]["command"], "nobody meddled"
    deployment = installation.call("GET", "/deployments/name/release/event")
    assert deployment["entrypoint"].endswith("evil.py:flow")
    assert deployment["pull_steps"]
    assert not installation.mischief.exists()


def test_the_worker_runs_the_deployment_that_reminds_people(installation: Installation) -> None:
    installation.prefect("deploy", "--prefect-file", str(ROOT / "deployments" / "notices.yaml"), "--all")
    deployment = installation.call("GET", "/deployments/name/remind/notices")["id"]
    installation.call("PATCH", f"/deployments/{deployment}", {"entrypoint": str(installation.folder / "evil.py:flow")})
    run = installation.call("POST", f"/deployments/{deployment}/create_flow_run", {"state": {"type": "SCHEDULED"}})
    until(
        lambda: installation.call("GET", f"/flow_runs/{run['id']}")["state_type"] in ("COMPLETED", "FAILED", "CRASHED"),
        "the end of the reminders",
    )
    assert installation.call("GET", f"/flow_runs/{run['id']}")["state_name"] == "Completed"
    assert not installation.mischief.exists()
