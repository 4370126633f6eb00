"""Time of exact MDAV beside a plain compiled one, and the memory of a million records.

The peer scans all the records that are left at every step, as MDAV is published; it is compiled by Numba and does
nothing else that is slow: the remaining rows stay contiguous, and one pass over them serves both the nearest to a
record and the farthest from it. Both make the same groups, ties by the first record. One thread each. Data: ten
independent normal columns, and ten columns with three factors behind them.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numba
import numpy as np

from benchmarks.factor_data import factor_data
from sluice.masking.microaggregation.microaggregation import mdav_groups
from sluice.masking.microaggregation.representatives import standardised


@numba.njit(cache=True)
def plain_mdav(records: np.ndarray, k: int) -> np.ndarray:
    """Group of each record, numbered from 0 in order of formation. Distances and sums in float64, column by column."""
    n, d = records.shape
    labels = np.empty(n, dtype=np.int64)
    rows, numbers = records.copy(), np.arange(n)
    distances, nearest = np.empty(n), np.empty(k, dtype=np.int64)
    total, carry = np.zeros(d), np.zeros(d)
    for row in records:
        _add(total, carry, row, 1.0)
    left, group = n, 0
    while left >= 2 * k:
        _measure(rows, left, total / left, distances)
        for _ in range(2 if left >= 3 * k else 1):
            seed = 0
            for i in range(1, left):
                if distances[i] > distances[seed] or (distances[i] == distances[seed] and numbers[i] < numbers[seed]):
                    seed = i
            _measure(rows, left, rows[seed].copy(), distances)
            distances[seed] = -1.0  # before its copies
            found = 0
            for i in range(left):
                if found == k and _before(nearest[k - 1], i, distances, numbers):
                    continue
                place = min(found, k - 1)
                while place > 0 and _before(i, nearest[place - 1], distances, numbers):
                    nearest[place] = nearest[place - 1]
                    place -= 1
                nearest[place] = i
                found = min(found + 1, k)
            for i in np.sort(nearest)[::-1]:
                labels[numbers[i]] = group
                _add(total, carry, rows[i], -1.0)
                left -= 1
                rows[i], numbers[i], distances[i] = rows[left], numbers[left], distances[left]
            group += 1
    labels[numbers[:left]] = group
    return labels


@numba.njit(cache=True)
def _measure(rows: np.ndarray, left: int, point: np.ndarray, distances: np.ndarray) -> None:
    for i in range(left):
        distance = 0.0
        for j in range(len(point)):
            difference = rows[i, j] - point[j]
            distance += difference * difference
        distances[i] = distance


@numba.njit(cache=True)
def _before(a: int, b: int, distances: np.ndarray, numbers: np.ndarray) -> bool:
    return distances[a] < distances[b] or (distances[a] == distances[b] and numbers[a] < numbers[b])


@numba.njit(cache=True)
def _add(total: np.ndarray, carry: np.ndarray, row: np.ndarray, sign: float) -> None:
    """total += sign * row, the rounding error kept in `carry`: sums of what is left stay right to the last digit."""
    for j in range(len(row)):
        value = sign * row[j]
        rough = total[j] + value
        part = rough - total[j]
        carry[j] += (total[j] - (rough - part)) + (value - part)
        total[j] = rough + carry[j]
        carry[j] -= total[j] - rough


def normal_data(records: int) -> np.ndarray:
    return np.random.default_rng(records).normal(size=(records, 10))


def factors(records: int) -> np.ndarray:
    return standardised(factor_data(records).to_numpy())


def best(run: Callable[..., np.ndarray], *arguments: object, times: int = 3) -> tuple[float, np.ndarray]:
    """Fewest seconds of several runs, and what came of it."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        groups = run(*arguments)
        taken.append(time.perf_counter() - start)
    return min(taken), groups


def million() -> None:
    """Group a million records; the peak is that of the whole process, its data included."""
    records = factors(1_000_000)
    taken, _ = best(mdav_groups, records, 3, times=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    print(f"{'factors':<10} {1_000_000:>9,} {3:>3} {taken:>8.3f} s; peak memory {peak:.2f} GB", flush=True)


def main(quick: bool = False) -> None:
    for compile_or_load in (mdav_groups, plain_mdav):
        start = time.perf_counter()
        compile_or_load(normal_data(100), 3)
        print(f"first call of {compile_or_load.__name__}: {time.perf_counter() - start:.2f} s")
    print(f"{'data':<10} {'records':>9} {'k':>3} {'Sluice':>10} {'plain':>10} {'ratio':>8}")
    cases = [(10_000, 3), (100_000, 3), (100_000, 5), (100_000, 10)]
    for name, data in (("normal", normal_data), ("factors", factors)):
        for n, k in cases[:1] if quick else cases:
            ours, groups = best(mdav_groups, data(n), k)
            plain, expected = best(plain_mdav, data(n), k, times=3 if n == 10_000 else 1)
            if not np.array_equal(groups, expected):
                raise AssertionError("the two made different groups")
            print(f"{name:<10} {n:>9,} {k:>3} {ours:>8.3f} s {plain:>8.3f} s {plain / ours:>7.1f}x", flush=True)
    if not quick:
        subprocess.run([sys.executable, "-c", "from benchmarks.mdav import million; million()"], check=True)


if __name__ == "__main__":
    main()
