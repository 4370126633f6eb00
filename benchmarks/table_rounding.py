"""The methods that change values in place of suppressing them: time, safety and utility beside suppression.

nace x region x size of the generated business data (1,053 and 10,467 cells), counts (sensitive: fewer than 3) and
magnitudes (fewer than 3, or p% = 10). Rounding of counts is to 5; of magnitudes to the base that the refusal of a
smaller one names. Utility is over the published cells: suppressed ones are counted as lost. Seconds are of the
processor, which other work on the machine does not lengthen. No peer in Python does any of these.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.tabular.advice.table_utility import table_utility
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.alternatives.controlled_adjustment import controlled_adjustment
from sluice.tabular.alternatives.controlled_rounding import controlled_rounding
from sluice.tabular.alternatives.small_count_rounding import small_count_rounding
from sluice.tabular.audit.published_intervals import published_intervals
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of
from tests.reference_data import REFERENCE_DATA

BASE = 5


def main(quick: bool = False) -> None:
    """Print a table for each file and measure; with `quick` for the smaller file only."""
    for name in ("s1k",) if quick else ("s1k", "s10k"):
        folder = REFERENCE_DATA / "business_generated" / name
        if not folder.is_dir():
            print(f"{name}: left out, the reference data are not at {folder}")
            continue
        magnitudes = _load(folder)
        ones = np.arange(magnitudes.largest.shape[1]) < magnitudes.contributors[:, None]
        counts = replace(magnitudes, total=magnitudes.contributors, largest=ones.astype(np.int64))
        small_count_rounding(counts, BASE, np.random.default_rng(0))  # compiles
        _table(f"{name}, counts", counts, [MinimumFrequency(n=3)], counts=True)
        _table(f"{name}, magnitudes", magnitudes, [MinimumFrequency(n=3), PPercent(p=10)], counts=False)


def _table(title: str, cells: Cells, rules: list[SensitivityRule], counts: bool) -> None:
    needs = requirements_of(rules, cells.contributions)
    print(f"\n{title}: {len(cells):,} cells, {int(needs.sensitive.sum())} sensitive")
    print(
        f"{'':<34} {'seconds':>8} {'fails':>6} {'lost':>6} {'value lost':>11} {'changed':>8} {'mean':>9} "
        f"{'relative':>9} {'margins':>9} {'Hellinger':>10} {'ranks':>7} {'V':>7}"
    )
    if counts:
        rng = np.random.default_rng(0)
        _line(f"small-count rounding, {BASE}", cells, lambda: small_count_rounding(cells, BASE, rng))
        nothing = replace(
            needs, sensitive=np.zeros(len(cells), dtype=bool), lower=0 * needs.lower, upper=0 * needs.upper
        )
        _line(f"controlled rounding, {BASE}, not asked", cells, lambda: controlled_rounding(cells, nothing, BASE))
        _line(f"controlled rounding, {BASE}", cells, lambda: controlled_rounding(cells, needs, BASE))
    else:
        base = _base(cells, needs)
        _line(f"controlled rounding, {base:,}", cells, lambda: controlled_rounding(cells, needs, base))
        rng, nobody = np.random.default_rng(1), Assumptions(coalition=0)
        _line("controlled adjustment", cells, lambda: controlled_adjustment(cells, needs, rng, nobody, rules))
    _suppression(cells, needs, rules)


def _base(cells: Cells, needs: Requirements) -> int:
    try:
        controlled_rounding(cells, needs, 2)
    except DataError as refused:
        return int(re.findall(r"Base (\d+)", str(refused))[0])
    return 2


def _line(name: str, cells: Cells, method: Callable[[], AlteredCells]) -> None:
    begun = process_time()
    try:
        altered = method()
    except DataError as refused:
        print(f"{name:<34} {process_time() - begun:>8.2f}  {refused}", flush=True)
        return
    _print(name, process_time() - begun, len(altered.failing), cells, altered.value.astype(np.float64))


def _print(name: str, seconds: float, fails: int, cells: Cells, value: np.ndarray) -> None:
    found = table_utility(cells, value)
    print(
        f"{name:<34} {seconds:>8.2f} {fails:>6} {found.suppressed:>6,} {found.value_lost_share:>11.2%} "
        f"{found.changed:>8,} {found.mean_absolute:>9.2f} {found.mean_relative:>9.2%} {found.marginals_mean:>9.2f} "
        f"{found.hellinger:>10.4f} {found.rank_correlation:>7.4f} {found.association_change:>7.4f}",
        flush=True,
    )


def _suppression(cells: Cells, needs: Requirements, rules: list[SensitivityRule]) -> None:
    """The same cells suppressed, and the middles of their intervals in place of blanks."""
    from sluice.tabular.suppression.suppression import suppress

    begun = process_time()
    try:
        status = suppress(cells, needs, rules).status
    except DataError as refused:
        print(f"{'suppression':<34} {process_time() - begun:>8.2f}  {refused}", flush=True)
        return
    seconds = process_time() - begun
    value = np.where(status == Status.PUBLISHED, cells.total, np.nan)
    _print("suppression", seconds, 0, cells, value)
    begun = process_time()
    intervals = published_intervals(cells, status, needs)
    seconds = process_time() - begun
    closed = np.isfinite(intervals.high)
    middle = np.where(closed, (intervals.low + intervals.high) / 2, value)
    _print("and intervals, their middles", seconds, len(intervals.failing), cells, middle)


def _load(folder: Path) -> Cells:
    records = pd.read_csv(folder / "micro.csv.gz", dtype=str, keep_default_na=False)
    dimensions = []
    for axis in ("nace", "region", "size"):
        rows = pd.read_csv(folder / f"hier_{axis}.csv", dtype=str, keep_default_na=False)
        dimensions.append(Dimension.of(axis, list(zip(rows.code, rows.parent, strict=True))))
    leaves = np.column_stack([records[d.name].map(d.position).to_numpy(np.int32) for d in dimensions])
    ids, values = (records[column].astype(np.int64).to_numpy() for column in ("id", "value"))
    return aggregate(dimensions, leaves, ids, values)
