"""Record linkage beside scikit-learn's nearest neighbours, in the same minute.

Both on all cores. Data with eight factors and normal noise; little, middling and much of it, because how far the own
record lies decides how much has to be looked at. scikit-learn is timed on a part of the queries (its time grows in
proportion) and finds the nearest record alone, without ties. Run `python -m benchmarks linkage`.
"""

import resource
import time
from collections.abc import Callable

import numpy as np
from sklearn.neighbors import NearestNeighbors

from sluice.risk.linkage.candidate_sets import microaggregation_linkage, rank_swapping_linkage
from sluice.risk.linkage.interval_disclosure import interval_disclosure
from sluice.risk.linkage.probabilistic_linkage import probabilistic_linkage
from sluice.risk.linkage.record_linkage import comparison_space, record_linkage

# records, dimensions, and the queries that scikit-learn is timed on
CASES = ((5_000, 4, 5_000), (1_000_000, 4, 100_000), (100_000, 28, 2_000))
QUICK = ((5_000, 4, 5_000), (100_000, 4, 20_000), (10_000, 28, 1_000))
NOISE = (0.1, 0.5, 2.0)  # standard deviations of each variable


def factor_pairs(n: int, d: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    data: np.ndarray = rng.normal(size=(n, 8)) @ rng.normal(size=(8, d)) / 3 + 0.6 * rng.normal(size=(n, d))
    return data, data + noise * data.std(axis=0) * rng.normal(size=(n, d))


def seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def main(quick: bool = False) -> None:
    small = factor_pairs(100, 12, 0.5)  # compile, or load the compiled kernels
    record_linkage(*small)
    record_linkage(small[0][:, :4], small[1][:, :4])
    print(f"{'records':>9} {'d':>3} {'noise':>6} {'linked':>7} {'Sluice':>9} {'scikit-learn':>13} {'ratio':>7}")
    for n, d, sample in QUICK if quick else CASES:
        for noise in NOISE:
            original, masked = factor_pairs(n, d, noise)
            begun = time.perf_counter()
            linked = record_linkage(original, masked).correct("hit")
            ours = time.perf_counter() - begun
            a, b = comparison_space(original, masked, "each_standardised")
            begun = time.perf_counter()
            search = NearestNeighbors(n_neighbors=1, n_jobs=-1, algorithm="kd_tree" if d <= 10 else "brute").fit(b)
            built = time.perf_counter() - begun
            begun = time.perf_counter()
            found = search.kneighbors(a[:sample], return_distance=False)[:, 0]
            peer = built + (time.perf_counter() - begun) * n / sample
            assert np.array_equal(found == np.arange(sample), linked[:sample] == 1)
            print(
                f"{n:9,} {d:3} {noise:6} {linked.mean():7.2%} {ours:7.2f} s {peer:11.2f} s {peer / ours:7.1f}",
                flush=True,
            )
    n = 10_000 if quick else 100_000
    original, masked = factor_pairs(n, 5, 0.1)
    tolerance, rows = 0.2 * original.std(axis=0), np.arange(5_000)
    grouped = np.round(original, 2)  # stands for groups of neighbours
    for name, run in (
        ("probabilistic, 5,000 attacked", lambda: probabilistic_linkage(original, masked, tolerance, rows)),
        ("rank swapping, window 5 %, 5,000", lambda: rank_swapping_linkage(original, masked, 0.05, rows)),
        ("univariate microaggregation, all", lambda: microaggregation_linkage(original, grouped)),
        ("interval disclosure, all", lambda: interval_disclosure(original, masked)),
    ):
        print(f"{name:<34} {n:9,} x 5 {min(seconds(run), seconds(run)):8.2f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
