"""Exact nearest neighbours for the reference standard, beside scikit-learn's brute force in the same minute.

Both on all cores. Data with eight factors, as surveys have them.
"""

import time

import numpy as np
from sklearn.neighbors import NearestNeighbors

from sluice.risk.neighbours import nearest_neighbours

# queries, points, dimensions, and the queries that scikit-learn is timed on (its time grows in proportion)
CASES = ((100_000, 100_000, 28, 10_000), (20_000, 300_000, 60, 2_000), (20_000, 300_000, 6, 2_000))
QUICK = ((10_000, 10_000, 28, 1_000), (10_000, 10_000, 6, 1_000))


def factor_data(n: int, d: int, seed: int) -> np.ndarray:
    loadings = np.random.default_rng(0).normal(size=(8, d))
    rng = np.random.default_rng(seed)
    data: np.ndarray = rng.normal(size=(n, 8)) @ loadings / 3 + 0.6 * rng.normal(size=(n, d))
    return data


def main(quick: bool = False) -> None:
    nearest_neighbours(np.zeros((1, 11)), np.ones((9, 11)), 5)  # compile, or load the compiled kernel
    print(f"{'queries':>9} {'points':>9} {'d':>4} {'Sluice':>9} {'scikit-learn':>13} {'ratio':>6}")
    for n, m, d, sample in QUICK if quick else CASES:
        queries, points = factor_data(n, d, 1), factor_data(m, d, 2)
        start = time.perf_counter()
        found = nearest_neighbours(queries, points, 5)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        brute = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(points)
        distance, _ = brute.kneighbors(queries[:sample])
        peer = (time.perf_counter() - start) * n / sample
        assert np.allclose(found.distance[:sample], distance, rtol=1e-6)
        print(f"{n:9,} {m:9,} {d:4} {ours:7.1f} s {peer:11.1f} s {peer / ours:6.1f}")


if __name__ == "__main__":
    main()
