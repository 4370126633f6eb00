"""Secondary suppression of business tables, beside gconfid on the same cells and the same requirements.

    make peers && .venv/bin/python -m benchmarks suppression

Rules: fewer than 3 contributors, p% = 10; cost: value. gconfid protects intervals only, so it is compared with that
condition, too; its SIZE run takes 74 to 100 s at 10,000 cells. The larger tables are generated into a temporary folder.
"""

import resource
import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.gconfid_peer import gconfid_as_its_users_run_it, gconfid_pattern, has_gconfid
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.suppression import suppress
from tests.reference_data import REFERENCE_DATA

_DATA = REFERENCE_DATA / "business_generated"
_RULES = [MinimumFrequency(n=3), PPercent(p=10)]
_CONDITIONS = {
    "intervals": Assumptions(coalition=0, unions=False),
    "and unions": Assumptions(coalition=0),
    "and contributors": Assumptions(),
}


def main(quick: bool = False) -> None:
    if not _DATA.is_dir():
        print(f"skipped: {_DATA} is not there")
        return
    peer = has_gconfid()
    print(
        f"{'table':>6} {'cells':>8} {'protected against':>19} {'seconds':>8} {'CPU':>7} {'secondary':>9} {'value':>12}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in ("s1k",) if quick else ("s1k", "s10k"):
            cells = _cells(_DATA / name)
            _ours(name, cells, _CONDITIONS, 1)
            if peer:
                _theirs(name, cells)
        if not quick:
            make = _generator(Path(folder))
            make("s100k", 103, [7, (3, 5), (2, 3), (2, 3)], [4, (3, 4), (3, 4)], 4, 22, 1.1, 0.10, 2.0)
            make("s200k", 104, [7, (4, 5), (3, 4), (2, 3)], [5, (4, 5), (3, 4)], 4, 22, 1.1, 0.10, 2.0)
            for name in ("s100k", "s200k"):
                strictest = {"and contributors": Assumptions()}
                _ours(name, _cells(Path(folder) / name), strictest, 2)
    own, others = (resource.getrusage(who).ru_maxrss / 1e6 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"most memory of the process {own:.2f} GB, of one that it started {others:.2f} GB")


def _ours(name: str, cells: Cells, conditions: dict[str, Assumptions], workers: int) -> None:
    requirements = requirements_of(_RULES, cells.contributions)
    for says, assumptions in conditions.items():
        if len(cells) < 2000:  # once before: compile, or load the compiled loops
            suppress(cells, requirements, _RULES, assumptions)
        begun, used = perf_counter(), process_time()
        status = suppress(cells, requirements, _RULES, assumptions, workers=workers).status
        seconds, used = perf_counter() - begun, process_time() - used
        _line(name, cells, says, seconds, used, status != Status.PUBLISHED, requirements.sensitive)


def _theirs(name: str, cells: Cells) -> None:
    if len(cells) < 2000:  # with our levels; the run below takes its own, which are larger
        requirements = requirements_of(_RULES, cells.contributions)
        suppressed, seconds = gconfid_pattern(cells, requirements.upper)
        _line(name, cells, "gconfid, our levels", seconds, np.nan, suppressed, requirements.sensitive)
    secondaries, lost, seconds = gconfid_as_its_users_run_it(_DATA / name)
    print(
        f"{name:>6} {len(cells):8,} {'gconfid SIZE':>19} {seconds:8.2f} {'':>7} {secondaries:9,} {lost:12,.0f}",
        flush=True,
    )


def _line(
    name: str, cells: Cells, says: str, seconds: float, used: float, hidden: np.ndarray, sensitive: np.ndarray
) -> None:
    print(
        f"{name:>6} {len(cells):8,} {says:>19} {seconds:8.2f} {used:7.2f} {(hidden & ~sensitive).sum():9,} "
        f"{cells.total[hidden].sum():12,}",
        flush=True,
    )


def _generator(folder: Path) -> Callable[..., Any]:
    """The generator's own function, writing into another folder."""
    names = runpy.run_path(str(_DATA / "generate.py"))
    make = names["make"]
    make.__globals__["HERE"] = str(folder)
    return make  # type: ignore[no-any-return]


def _cells(folder: Path) -> Cells:
    file = next(folder.glob("micro.csv*"))
    records = pd.read_csv(file, dtype=dict.fromkeys(("nace", "region", "size"), str), keep_default_na=False)
    dimensions = []
    for axis in ("nace", "region", "size"):
        rows = pd.read_csv(folder / f"hier_{axis}.csv", dtype=str, keep_default_na=False)
        dimensions.append(Dimension.of(axis, list(zip(rows.code, rows.parent, strict=True))))
    leaves = np.column_stack([records[d.name].map(d.position).to_numpy(np.int32) for d in dimensions])
    return aggregate(dimensions, leaves, records["id"].to_numpy(np.int64), records["value"].to_numpy(np.int64))
