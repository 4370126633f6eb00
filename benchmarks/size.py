"""A large file of people through the whole chain, step by step: seconds and peak memory.

    python -m benchmarks size               # 100,000 and 400,000 records
    python -m benchmarks.size 5000000       # as many as are named; each step is told as it ends

Census-Income's 299,285 records are drawn again and again, one cell of thirty from another record and its larger sums
changed, into a table of a DuckDB file: 20 variables. The plan generalises, suppresses, codes tops and swaps; the policy
is that for scientific use, with all its intruders. Each size runs `sluice check` in a process of its own, in a folder
that is thrown away. The memory is the proportional share (Pss) of all processes together, looked at twice a second.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from benchmarks.large_tables import peak_memory
from deployments.data import FILES, FOLDER, REFERENCE_DATA, FetchError, provide
from deployments.warehouse import write_connections

ROOT = Path(__file__).resolve().parents[1]
_CHUNK = 1_000_000
_FOR_DUCKDB = "1GB"  # what it takes by default where a machine or container has 4 GB
_LEFT_OUT = ("removal", "sequential_trees")  # of variables that are not there, or are drawn anew
_NAMES = (
    "age class_of_worker education wage_per_hour marital_stat major_occupation_code race hispanic_origin sex "
    "full_or_part_time_employment_stat capital_gains capital_losses dividends_from_stocks tax_filer_stat "
    "detailed_household_summary_in_household instance_weight num_persons_worked_for_employer citizenship "
    "weeks_worked_in_year income_gt_50k"
)
_KEPT = [*_NAMES.split(" ")]


def main(quick: bool = False, sizes: Sequence[int] = (100_000, 400_000)) -> None:
    """Print a table for each size."""
    for size in (20_000,) if quick else sizes:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            try:
                build(home / "people.duckdb", size)
            except FetchError as error:
                print(f"left out. {error}")
                return
            show(size, run(home, size))


def run(home: Path, size: int, threads: int | None = None) -> dict[str, Any]:
    """Judge the people in `home` in a process of its own; by so many threads and processes, or by all processors."""
    definition = write_documents(home, size)
    environment = os.environ | {"SLUICE_HOME": str(home / "workspace"), "SLUICE_MEMORY": _FOR_DUCKDB}
    for setting in ("PREFECT_API_URL", "SLUICE_CONNECTIONS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        environment.pop(setting, None)
    if threads is not None:
        environment |= {"SLUICE_THREADS": str(threads), "SLUICE_WORKERS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.size", str(definition)]
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{size:,} records ended with {done.returncode}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def show(size: int, found: dict[str, Any]) -> None:
    print(f"\n{size:,} records of {len(_KEPT)} variables: {found['verdict']}")
    print(f"{'':<16} {'seconds':>8} {'processor':>10} {'peak, GB':>9}")
    for row, seconds, processor, memory in found["rows"]:
        print(f"{row:<16} {seconds:>8.1f} {processor:>10.1f} {memory / 1e9:>9.2f}")
    rows = found["rows"]
    print(
        f"{'in all':<16} {sum(row[1] for row in rows):>8.1f} {sum(row[2] for row in rows):>10.1f} "
        f"{max(row[3] for row in rows) / 1e9:>9.2f}",
        flush=True,
    )


def build(path: Path, size: int) -> None:
    """A DuckDB file with the table survey.people."""
    for file in FILES:
        if file.name.startswith("census-income"):
            provide(file)
    contract = yaml.safe_load((ROOT / "schemas" / "census_income.yaml").read_text())
    names = [variable["name"] for variable in contract["variables"]]
    files = [FOLDER / file.name for file in FILES if file.name.startswith("census-income")]
    people = pd.concat(
        [pd.read_csv(file, header=None, names=names, skipinitialspace=True, keep_default_na=False) for file in files]
    )[_KEPT]
    rng = np.random.default_rng(5)
    with duckdb.connect(str(path)) as warehouse:
        warehouse.execute("CREATE SCHEMA survey")
        for start in range(0, size, _CHUNK):
            rows = rng.integers(0, len(people), min(_CHUNK, size - start))
            chunk = pa.table({name: _again(people[name], rows, rng) for name in _KEPT})
            warehouse.register("chunk", chunk)
            made = "CREATE TABLE survey.people AS" if not start else "INSERT INTO survey.people"
            warehouse.execute(f"{made} SELECT * FROM chunk")


def _again(column: "pd.Series[Any]", rows: np.ndarray[Any, Any], rng: np.random.Generator) -> pa.Array:
    """The values of these rows, one of thirty drawn from any row, and large sums moved by up to a tenth."""
    elsewhere = rng.random(len(rows)) < 1 / 30
    taken = np.where(elsewhere, rng.integers(0, len(column), len(rows)), rows)
    values = column.to_numpy()[taken]
    if column.name in ("capital_gains", "capital_losses", "dividends_from_stocks", "instance_weight"):
        moved = values * rng.uniform(0.9, 1.1, len(values))
        values = moved if values.dtype.kind == "f" else np.minimum(moved, 99_999).astype(np.int64)
    if values.dtype == object:
        return pa.array(values).dictionary_encode()
    return pa.array(values)


def write_documents(home: Path, size: int) -> Path:
    """Contract, connections and definition in `home`; returns the definition."""
    contract = yaml.safe_load((ROOT / "schemas" / "census_income.yaml").read_text())
    contract |= {"dataset": "people", "rows": {"minimum": 1000, "maximum": 10 * size}}
    contract.pop("rules")
    contract["variables"] = [each for each in contract["variables"] if each["name"] in _KEPT]
    definition = yaml.safe_load((ROOT / "deployments" / "releases" / "census-income.yaml").read_text())
    definition |= {
        "name": "people",
        "title": "People, drawn from the Current Population Surveys",
        "source": {"connection": "warehouse", "table": "survey.people"},
        "contract": "contract.yaml",
        "policy": str(ROOT / "policies" / "scientific-use-file.yaml"),
        "plan": [step for step in definition["plan"] if step["method"] not in _LEFT_OUT],
        "target": "published",
    }
    (home / "contract.yaml").write_text(yaml.safe_dump(contract, sort_keys=False))
    (home / "definition.yaml").write_text(yaml.safe_dump(definition, sort_keys=False))
    (home / "workspace").mkdir(mode=0o700, exist_ok=True)
    write_connections(home / "workspace" / "connections.yaml", home / "people.duckdb", [ROOT, REFERENCE_DATA, home])
    return home / "definition.yaml"


def _processor() -> float:
    """Seconds of the processor, with those of finished processes that this one started."""
    return sum(os.times()[:4])


def measure(definition: Path) -> dict[str, Any]:
    """Run one definition in this process; SLUICE_HOME names its workspace."""
    from flows.chain import release
    from tasks.release.running_step import listening

    rows: list[tuple[str, float, float, float]] = []
    running: list[tuple[str, float]] = []

    with peak_memory() as peak:

        def tell(step: str, seconds: float | None) -> None:
            if seconds is None:
                running.append((step, _processor()))
                peak[0] = 0
                return
            _, processor = running.pop()
            rows.append((step, seconds, _processor() - processor, peak[0]))
            print(*rows[-1], file=sys.stderr, flush=True)

        with listening(tell):
            outcome = release(definition=str(definition), rehearse=True)
    verdict = outcome.verdict.name if outcome.verdict is not None else "no verdict"
    return {"verdict": verdict, "rows": rows}


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        main(sizes=[int(size) for size in sys.argv[1:]])
    else:
        print(json.dumps(measure(Path(sys.argv[1]))))
