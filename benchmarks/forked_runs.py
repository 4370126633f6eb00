"""Releases that are due at once on one worker, forked or each for itself: how many an hour, and seconds of CPU.

Each is a check of its own 3,000 people. Whatever ended otherwise than *Checked* or *Blocked* is counted as lost.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

import yaml

from tests.flows.house import House, survey
from tests.flows.prefect_server import PrefectServer, running_server
from tests.flows.test_engine import call, of_run

_LIMIT = 2  # runs at a time
_RECORDS = 3_000
_FORKED = "from flows.worker import work; work({pool!r}, {limit})"
_EACH_FOR_ITSELF = (
    "from contextlib import nullcontext; from flows import worker; "
    "worker.forked_runs = lambda: nullcontext(worker.COMMAND); worker.work({pool!r}, {limit})"
)


def main(quick: bool = False) -> None:
    """Print a line for each way; with `quick` of 4 releases instead of 40."""
    releases = 4 if quick else int(os.environ.get("RELEASES", "40"))
    server = running_server()
    print(f"{'':<16} {'an hour':>8} {'CPU s each':>11} {'lost':>5}")
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder) / "house")
        house.adopt()
        definition = yaml.safe_load(house.file.read_text(encoding="utf-8"))
        for number in range(releases):
            survey(_RECORDS, seed=number).to_csv(house.documents / f"people-{number}.csv", index=False)
            own = definition | {"name": f"people-{number}", "source": {"type": "csv", "path": f"people-{number}.csv"}}
            (house.documents / f"release-{number}.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
        for called, program in (("each for itself", _EACH_FOR_ITSELF), ("forked", _FORKED)):
            _show(called, program, server, of_run(server, house), releases)


def _show(called: str, program: str, server: PrefectServer, environment: Mapping[str, str], releases: int) -> None:
    pool = f"pool-{uuid4()}"
    call(server, "/work_pools/", {"name": pool, "type": "sluice"})
    flow = call(server, "/flows/", {"name": "release"})["id"]
    made = call(server, "/deployments/", {"name": pool, "flow_id": flow, "work_pool_name": pool})["id"]
    runs = []
    for number in range(releases):
        parameters = {"definition": f"release-{number}.yaml", "rehearse": True}
        order = {"state": {"type": "SCHEDULED"}, "parameters": parameters}
        runs.append(call(server, f"/deployments/{made}/create_flow_run", order)["id"])
    before, begun = os.times(), monotonic()
    worker = subprocess.Popen([sys.executable, "-c", program.format(pool=pool, limit=_LIMIT)], cwd="/", env=environment)
    ended = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
    while any(call(server, f"/flow_runs/{run}")["state_type"] not in ended for run in runs):
        sleep(0.5)
    taken = monotonic() - begun
    worker.terminate()
    worker.wait()
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    lost = [run for run in runs if call(server, f"/flow_runs/{run}")["state_name"] not in ("Checked", "Blocked")]
    print(f"{called:<16} {3600 * releases / taken:>8.0f} {seconds / releases:>11.1f} {len(lost):>5}", flush=True)
