"""Tables of 300,000 cells, protected and audited with contributors and their own parts: seconds and peak memory.

    python -m benchmarks large_tables

Two shapes, rules: fewer than 3 contributors, p% = 10. `turnover`: firms with heavy tails by industry (four levels),
region (three) and size; large firms have establishments in many regions, some in another industry of their division.
`trade`: imports and exports by product (four levels) and partner country (two); traders with several products and
countries, so most of the fine cells have one or two. Memory is the proportional share (Pss) of all processes together.
"""

import gc
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Codes, Floats, Integers, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from tasks.release.tables.protection import ProtectionRequest, audit_cells, protect_cells

_RULES = (MinimumFrequency(n=3), PPercent(p=10))
_WORKERS = 2


def main(quick: bool = False) -> None:
    print(f"{'seconds of the clock, and of the processor:':>96}")
    print(f"{'table':<10}{'records':>10}{'cells':>9}{'sensitive':>10}{'suppressed':>11}{'value':>8}", end="")
    print(f"{'tabulate':>14}{'protect':>14}{'audit':>14}{'attacks':>9} {'safe':<6}{'peak':>8}")
    for name, size in (("turnover", 1 / 13), ("trade", 1 / 12)) if quick else (("turnover", 1.0), ("trade", 1.0)):
        gc.collect()
        with peak_memory() as peak:
            _play(name, size)
        print(f"{peak[0] / 1e9:5.2f} GB", flush=True)


def _play(name: str, size: float) -> None:
    dimensions, leaves, contributor, value = (turnover if name == "turnover" else trade)(size)
    records, times = len(leaves), [_clocks()]
    cells = aggregate(dimensions, leaves, contributor, value)
    del leaves, contributor, value
    times.append(_clocks())
    request = ProtectionRequest.of(cells, _RULES, Assumptions())
    made = protect_cells(cells, request, workers=_WORKERS)
    times.append(_clocks())
    found = audit_cells(cells, made.status, request, made.certificates, _WORKERS)
    times.append(_clocks())
    suppressed = made.status != Status.PUBLISHED
    spent = np.diff(times, axis=0)
    print(
        f"{name:<10}{records:10,}{len(cells):9,}{request.requirements.sensitive.sum():10,}{suppressed.sum():11,}"
        f"{cells.total[suppressed].sum() / cells.total.sum():8.2%}"
        + "".join(f"{clock:8.1f}{processor:6.0f}" for clock, processor in spent.tolist())
        + f"{found.attempted:9,} {found.safe!s:<6}",
        end="",
        flush=True,
    )


def _clocks() -> tuple[float, float]:
    """Seconds of the clock, and of the processor, of finished processes that this one started, too."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return perf_counter(), sum(each.ru_utime + each.ru_stime for each in used)


Records = tuple[list[Dimension], Codes, NDArray[np.integer], Integers]
"""Dimensions, leaf codes of shape (n, d), contributors and values, both of shape (n,)"""


def turnover(size: float) -> Records:
    """Establishments of firms; `size` is how many of the sections of industry there are."""
    rng = np.random.default_rng(301)
    nace = _tree("nace", [round(13 * size), 4, 3, 2])
    region = _tree("region", [12, 3, 2])
    classes = Dimension.flat("size", ["micro", "small", "medium", "large"])
    firms = int(1_300_000 * size)
    staff = 1 + 2.0 * rng.pareto(1.1, firms).clip(0, 50_000)
    number = 1 + rng.poisson(np.minimum(0.08 * staff**0.6, 40))
    firm = np.repeat(np.arange(firms), number)
    home = rng.choice(len(nace.leaves), firms, p=_weights(rng, len(nace.leaves), 0.6))
    industry = home[firm]
    elsewhere = rng.random(len(firm)) < 0.15
    industry = np.where(elsewhere, industry // 6 * 6 + rng.integers(0, 6, len(firm)), industry)
    place = rng.choice(len(region.leaves), len(firm), p=_weights(rng, len(region.leaves), 0.4))
    kind = np.searchsorted([10, 50, 250], staff)[firm]
    leaves = np.column_stack([nace.leaves[industry], region.leaves[place], classes.leaves[kind]]).astype(np.int32)
    value = np.ceil((60 * staff * rng.lognormal(0, 0.9, firms) / number)[firm] * rng.lognormal(0, 0.5, len(firm)))
    return [nace, region, classes], leaves, firm, value.astype(np.int64)


def trade(size: float) -> Records:
    """Consignments of traders; `size` is how many of the sections of products there are."""
    rng = np.random.default_rng(302)
    product = _tree("product", [round(12 * size), 4, 4, 5])
    partner = _tree("partner", [6, 16])
    flow = Dimension.flat("flow", ["imports", "exports"])
    traders = int(30_000 * size)
    weight = rng.pareto(1.1, traders).clip(0, 2000) + 0.2
    number = 1 + rng.poisson(np.minimum(8 * weight, 3000))
    trader = np.repeat(np.arange(traders), number)
    home = rng.choice(len(product.leaves), traders, p=_weights(rng, len(product.leaves), 1.0))
    near = home[trader] // 20 * 20 + rng.integers(0, 20, len(trader))
    at = np.where(rng.random(len(trader)) < 0.4, home[trader], near)
    country = rng.choice(len(partner.leaves), len(trader), p=_weights(rng, len(partner.leaves), 1.5))
    way = (rng.random(len(trader)) < 0.4).astype(np.int64)
    leaves = np.column_stack([product.leaves[at], partner.leaves[country], flow.leaves[way]]).astype(np.int32)
    value = np.ceil(np.exp(rng.normal(4, 1.8, len(trader))) * weight[trader] ** 0.5)
    return [product, partner, flow], leaves, trader, value.astype(np.int64)


def _tree(name: str, fans: list[int]) -> Dimension:
    rows, level = [("Total", "")], [""]
    for fan in fans:
        below = [f"{code}{name[0].upper() if not code else '.'}{part}" for code in level for part in range(fan)]
        rows += [(code, level[at // fan] or "Total") for at, code in enumerate(below)]
        level = below
    return Dimension.of(name, rows)


def _weights(rng: Generator, number: int, spread: float) -> Floats:
    weight = rng.lognormal(0, spread, number)
    return np.asarray(weight / weight.sum())


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """The most bytes that this process and those it started hold together, looked at each half second; Linux only."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.is_set():
            peak[0] = max(peak[0], sum(map(_held, _family(os.getpid()))))
            sleep(0.5)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def _family(parent: int) -> list[int]:
    try:
        children = [int(child) for task in Path(f"/proc/{parent}/task").iterdir()
                    for child in (task / "children").read_text().split()]  # fmt: skip
    except OSError:
        return [parent]
    return [parent, *(each for child in children for each in _family(child))]


def _held(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
