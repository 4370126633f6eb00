"""SUDA and attribute combinations, beside pandas' count of duplicates over the same sets of keys.

    OMP_NUM_THREADS=1 python -m benchmarks suda

sdcMicro's suda2 takes 0.2 s for 100,000 records with 7 keys, and ARX 57 s for the combinations of 1,000,000 x 9, all
read off runs on two cores; they need R and Java and are not run here. Keys as surveys have them: skewed and related.
"""

import tracemalloc
from collections.abc import Callable
from itertools import combinations
from time import perf_counter

import numpy as np
import pandas as pd

from sluice.risk.classes.attribute_combinations import attribute_combinations
from sluice.risk.classes.suda import suda

_VALUES = (2, 72, 5, 7, 16, 41, 7, 14, 2)  # as many as the nine columns of Adult


def main(quick: bool = False) -> None:
    suda(_keys(100_000, 3))  # compile, or load the compiled loops
    print(
        f"{'task':>22} {'records':>10} {'keys':>5} {'size':>5} {'Sluice':>9} {'memory':>9} {'pandas':>9} {'ratio':>7}"
    )
    cases = [("SUDA", 100_000, 7, 7), ("combinations", 100_000, 9, 3)]
    if not quick:
        cases += [("SUDA", 1_000_000, 9, 3), ("SUDA", 1_000_000, 9, 9), ("SUDA", 100_000, 12, 12)]
        cases += [("combinations", 1_000_000, 9, size) for size in (3, 6, 9)]
    for task, records, count, size in cases:
        keys = _keys(records, count)
        seconds, memory = _measured(
            lambda task=task, keys=keys, size=size: (
                suda(keys, size) if task == "SUDA" else attribute_combinations(keys, size, 5)
            )
        )
        peer = _by_pandas(keys, size, 20)
        print(
            f"{task:>22} {records:10,} {count:5} {size:5} {seconds:7.2f} s {memory:6.0f} MB {peer:7.1f} s "
            f"{peer / seconds:7.1f}"
        )


def _keys(records: int, count: int) -> list[np.ndarray]:
    """Small codes, low ones more frequent; a common factor makes them go together."""
    rng = np.random.default_rng(20260101)
    factor = rng.beta(1, 3, records)
    values = [_VALUES[at % len(_VALUES)] for at in range(count)]
    mixed = [0.5 * factor + 0.5 * rng.beta(1, 3, records) for _ in values]
    return [np.minimum(mix * value, value - 1).astype(np.int8) for mix, value in zip(mixed, values, strict=True)]


def _by_pandas(keys: list[np.ndarray], size: int, at_most: int) -> float:
    """Seconds to count the unique records of every set, from an evenly spread sample of `at_most` sets."""
    frame = pd.DataFrame(dict(enumerate(keys)))
    sets = [subset for length in range(1, size + 1) for subset in combinations(range(len(keys)), length)]
    sample = sets[:: max(1, len(sets) // at_most)]
    start = perf_counter()
    for subset in sample:
        (~frame.duplicated(list(subset), keep=False)).sum()
    return (perf_counter() - start) * len(sets) / len(sample)


def _measured(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and the most memory in megabytes, of two separate runs: to trace memory costs time."""
    start = perf_counter()
    run()
    seconds = perf_counter() - start
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak / 1e6


if __name__ == "__main__":
    main()
