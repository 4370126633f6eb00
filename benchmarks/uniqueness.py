"""Uniqueness and individual risk: seconds on one thread, peak memory, and a peer where Python has one.

    OMP_NUM_THREADS=1 python -m benchmarks uniqueness

Five keys like a survey's and weights that differ from record to record. Beside the individual risk stands the same
formula with scipy's hypergeometric function (which gives no number for some large classes), beside k-map a join in
pandas. ARX and sdcMicro, which a user would otherwise take for the rest, are in Java and R and are not run here.
"""

import tracemalloc
from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd
from scipy.special import hyp2f1

from sluice.risk.classes.equivalence_classes import category_codes, classes_of
from sluice.risk.population.household_risk import household_risk
from sluice.risk.population.individual_risk import estimated_population, individual_risk
from sluice.risk.population.loglinear_risk import loglinear_risk
from sluice.risk.population.population_rule import population_frequencies
from sluice.risk.population.population_uniques import population_uniques
from sluice.risk.population.reidentification_risk import prosecutor_risk

VALUES = (90, 40, 16, 12, 7)


def people(records: int, seed: int) -> pd.DataFrame:
    """Geometric shares: common combinations and a long tail of rare ones."""
    rng = np.random.default_rng(seed)
    drawn = {f"key{at}": np.minimum(rng.geometric(4 / count, records), count) for at, count in enumerate(VALUES)}
    return pd.DataFrame(drawn).astype(str).astype("category")


def seconds(run: Callable[[], object], times: int = 3) -> float:
    taken = []
    for _ in range(times):
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return min(taken)


def megabytes(run: Callable[[], object]) -> float:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main(quick: bool = False) -> None:
    """Print a line for each measure."""
    records = 100_000 if quick else 1_000_000
    frame, population = people(records, 1), people(2 * records, 2)
    names = list(frame)
    rng = np.random.default_rng(3)
    weights, households = rng.uniform(5, 200, records), pd.Series(rng.integers(0, records // 3, records))
    classes = classes_of(frame, names)
    expected = estimated_population(classes, weights)
    risks = individual_risk(classes.sizes, expected)[classes.labels]
    codes = [category_codes(frame[name]) for name in names]

    def by_scipy() -> object:
        p = classes.sizes / expected
        return p / classes.sizes * hyp2f1(1, 1, classes.sizes + 1, 1 - p)

    def by_join() -> object:
        counted = population.groupby(names, observed=True).size().rename("people").reset_index()
        texts = dict.fromkeys(names, str)
        return frame.astype(texts).merge(counted.astype(texts), on=names, how="left")["people"].fillna(0)

    cases: list[tuple[str, Callable[[], object], Callable[[], object] | None]] = [
        ("classes", lambda: classes_of(frame, names), None),
        ("prosecutor risk", lambda: prosecutor_risk(classes.frequencies).average, None),
        ("individual risk", lambda: individual_risk(classes.sizes, estimated_population(classes, weights)), by_scipy),
        ("household risk", lambda: household_risk(risks, households), None),
        ("uniques, Pitman", lambda: population_uniques(classes.sizes, 50 * records, "pitman"), None),
        ("uniques, Zayatz", lambda: population_uniques(classes.sizes, 50 * records, "zayatz"), None),
        ("uniques, SNB", lambda: population_uniques(classes.sizes, 5 * records, "snb"), None),
        ("k-map, 2 people a record", lambda: population_frequencies(frame, population, names), by_join),
        ("log-linear, main effects", lambda: loglinear_risk(codes, 0.02, "none"), None),
        ("log-linear, interactions", lambda: loglinear_risk(codes[1:], 0.02), None),
    ]
    print(f"{records:,} records, {len(classes.sizes):,} classes, {(classes.sizes == 1).sum():,} alone")
    print(f"{'':<26} {'seconds':>8} {'MB':>6} {'peer, s':>8} {'ratio':>6}")
    for name, run, peer in cases:
        ours = seconds(run)
        line = f"{name:<26} {ours:>8.3f} {megabytes(run):>6.0f}"
        if peer is not None:
            theirs = seconds(peer, 1)
            line += f" {theirs:>8.3f} {theirs / ours:>6.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
