"""Time and memory of the whole chain, step by step, and what Prefect takes of it.

Each case runs `sluice check` (everything but approval and publication) in a process of its own, in a workspace that is
thrown away: the survey of the demo (6,366 records), Adult (32,561) and both files of Census-Income (299,285). What a
step takes is measured inside it, by the clock and in seconds of the processor, which other work on the machine does not
lengthen. What is left of the flow's time is Prefect's: before the first step it starts its server, between the steps it
creates task runs and stores their states.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from deployments.data import FILES, REFERENCE_DATA, FetchError, provide
from deployments.warehouse import build_warehouse, write_connections

ROOT = Path(__file__).resolve().parents[1]
CASES = {
    "fair": ROOT / "deployments" / "demo" / "fair-survey.yaml",
    "adult": ROOT / "deployments" / "releases" / "adult.yaml",
    "census-income": ROOT / "deployments" / "releases" / "census-income.yaml",
}


def main(quick: bool = False) -> None:
    """Print a table for each case; with `quick` for the survey only."""
    for name, definition in CASES.items():
        if name != "fair" and quick:
            continue
        try:
            for file in FILES:
                if file.name.startswith(name):
                    provide(file)
        except FetchError as error:
            print(f"{name}: left out. {error}")
            continue
        with tempfile.TemporaryDirectory() as home:
            write_connections(Path(home) / "connections.yaml", _warehouse(home), [ROOT, REFERENCE_DATA.resolve()])
            environment = os.environ | {"SLUICE_HOME": home}
            for setting in ("PREFECT_API_URL", "SLUICE_CONNECTIONS"):
                environment.pop(setting, None)
            command = [sys.executable, "-m", "benchmarks.chain", name, str(definition)]
            done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name} ended with {done.returncode}:\n{done.stderr}")
        _show(name, json.loads(done.stdout.splitlines()[-1]))


def _warehouse(home: str) -> Path:
    return Path(home) / "warehouse.duckdb"


def _processor() -> float:
    """Seconds of the processor, with those of the processes that read sources."""
    return sum(os.times()[:4])


def _show(name: str, found: dict[str, Any]) -> None:
    print(f"\n{name}, {found['records']:,} records: {found['verdict']}")
    print(f"{'':<16} {'seconds':>8} {'processor':>10} {'peak, GB':>9}")
    for row, seconds, processor, memory in found["rows"]:
        print(f"{row:<16} {seconds:>8.2f} {processor:>10.2f} {memory:>9.2f}")
    print(f"{'in all':<16} {found['wall']:>8.2f} {found['processor']:>10.2f} {found['memory']:>9.2f}")
    steps, between = found["steps"], found["between"]
    print(f"Prefect between the steps: {between:.2f} s, {between / (steps + between):.1%} of the run after its start")


def measure(name: str, definition: Path) -> dict[str, Any]:
    """Run one case in this process; SLUICE_HOME must name an empty folder."""
    if name == "fair":
        build_warehouse(_warehouse(os.environ["SLUICE_HOME"]))
    rows: list[tuple[str, float, float, float]] = []
    begun, begun_processor = perf_counter(), _processor()

    from flows.release import release_flow
    from tasks.release.running_step import listening

    imported, processor = perf_counter(), _processor()
    rows.append(("start: import", imported - begun, processor - begun_processor, _peak_memory()))
    running: list[str] = []
    first = imported

    def tell(step: str, seconds: float | None) -> None:
        """The flow itself is told of like a step; its steps run within it."""
        nonlocal first, processor
        if seconds is None:
            if not running:
                first = perf_counter()
                rows.append(("start: Prefect", first - imported, _processor() - processor, _peak_memory()))
            running.append(step)
            _reset_peak_memory()
            processor = _processor()
            return
        running.pop()
        if running:
            rows.append((step, seconds, _processor() - processor, _peak_memory()))

    with listening(tell):
        outcome = release_flow(definition=str(definition), rehearse=True)
    ended = perf_counter()
    steps = sum(seconds for row, seconds, _, _ in rows if not row.startswith("start"))
    return {
        "records": _records(outcome.release),
        "verdict": outcome.verdict.name if outcome.verdict is not None else "no verdict",
        "rows": [row for row in rows if row[1] >= 0.05],
        "steps": steps,
        "between": ended - first - steps,
        "wall": ended - begun,
        "processor": _processor() - begun_processor,
        "memory": max(memory for *_, memory in rows),
    }


def _records(release: str) -> int:
    from sluice.custody.workspace import open_workspace

    received = open_workspace().ledger.entries(release)[0]
    return int(received.body["data"]["rows"])


def _reset_peak_memory() -> None:
    """Let the kernel count the peak anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> float:
    """Gigabytes of resident memory at most since the last reset."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1e6


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
    else:
        main(quick="--quick" in sys.argv)
