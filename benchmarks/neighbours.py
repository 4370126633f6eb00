"""Exact nearest neighbours for the reference standard, beside scikit-learn's brute force in the same minute.

Both on all cores. Data with eight factors, as surveys have them; and independent columns, where no axis holds more than
another and nearly every pair must be looked at.
"""

import time

import numpy as np
from sklearn.neighbors import NearestNeighbors

from sluice.risk.distances.neighbours import nearest_neighbours

# queries, points, dimensions, and the queries that scikit-learn is timed on (its time grows in proportion)
CASES = (
    ("factors", 100_000, 100_000, 28, 10_000),
    ("factors", 100_000, 100_000, 69, 10_000),
    ("factors", 20_000, 1_000_000, 28, 500),
    ("factors", 20_000, 300_000, 6, 2_000),
    ("independent", 100_000, 100_000, 28, 10_000),
)
QUICK = (("factors", 10_000, 10_000, 28, 5_000), ("factors", 10_000, 10_000, 6, 5_000))


def factor_data(n: int, d: int, seed: int) -> np.ndarray:
    loadings = np.random.default_rng(0).normal(size=(8, d))
    rng = np.random.default_rng(seed)
    data: np.ndarray = rng.normal(size=(n, 8)) @ loadings / 3 + 0.6 * rng.normal(size=(n, d))
    return data


def independent_data(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def main(quick: bool = False) -> None:
    nearest_neighbours(np.zeros((1, 11)), np.ones((9, 11)), 5)  # compile, or load the compiled kernel
    print(f"{'data':11} {'queries':>9} {'points':>9} {'d':>4} {'Sluice':>9} {'scikit-learn':>13} {'ratio':>6}")
    for data, n, m, d, sample in QUICK if quick else CASES:
        make = factor_data if data == "factors" else independent_data
        queries, points = make(n, d, 1), make(m, d, 2)
        start = time.perf_counter()
        found = nearest_neighbours(queries, points, 5)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        brute = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(points)
        distance, _ = brute.kneighbors(queries[:sample])
        peer = (time.perf_counter() - start) * n / sample
        assert np.allclose(found.distance[:sample], distance, rtol=1e-6)
        print(f"{data:11} {n:9,} {m:9,} {d:4} {ours:7.1f} s {peer:11.1f} s {peer / ours:6.1f}")


if __name__ == "__main__":
    main()
