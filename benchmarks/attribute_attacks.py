"""Attacks on single variables: seconds and memory at the size of Adult as dummies, beside plain ways of writing them.

    OMP_NUM_THREADS=1 python -m benchmarks attribute_attacks

Thirty thousand records of eight categorical variables, 100 dummy columns in all. The peers: data invasion with
`pandas.DataFrame.rank` on the whole table of distances; the links of the maximum-knowledge attack by scikit-learn's
brute force; attribute inference with scikit-learn's forest as it comes, on dummy columns. The divergences have no peer:
they take a millisecond. anonymeter and SDMetrics play other attacks (nearest records, with no file that the person is
not in) and are not compared.
"""

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import NearestNeighbors

from sluice.risk.attacks.attribute_inference import LabelledFile, attribute_inference
from sluice.risk.attacks.data_invasion import guess_chances
from sluice.risk.attacks.maximum_knowledge import of_attribute, of_records

CATEGORIES = (41, 16, 14, 9, 7, 6, 5, 2)


def dummies(records: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes of eight variables that go together, and their dummy columns, 0 or 1."""
    rng = np.random.default_rng(records)
    factor = rng.normal(size=records)
    codes = np.column_stack(
        [
            np.clip((0.6 * factor + rng.normal(size=records)) * size / 6 + size / 2, 0, size - 1).astype(int)
            for size in CATEGORIES
        ]
    )
    columns = [codes[:, [at]] == np.arange(size) for at, size in enumerate(CATEGORIES)]
    return codes, np.hstack(columns).astype(float)


def measured(work: Callable[[], object], rounds: int = 2) -> tuple[float, float]:
    """The best of some runs in seconds, and the peak of memory in MB."""
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return min(seconds), peak


def main(quick: bool = False) -> None:
    records = 5_000 if quick else 30_000
    rng = np.random.default_rng(0)
    codes, original = dummies(records)
    masked = original + rng.normal(0, 0.4, original.shape)
    stops = np.cumsum(CATEGORIES)
    attributes = [slice(int(stop - size), int(stop)) for stop, size in zip(stops, CATEGORIES, strict=True)]

    def invade() -> None:
        for at, columns in enumerate(attributes):
            guess_chances(np.abs(1 - masked[:, columns]).T, codes[:, at])

    def invade_by_pandas() -> None:
        for columns in attributes:
            (1 / pd.DataFrame(np.abs(1 - masked[:, columns]))).rank(pct=True).to_numpy().argmax(axis=1)

    def link_brute() -> None:  # the linking alone, once for the file and once a copy
        attacked = original[rng.choice(records, min(records, 2_000), replace=False)]
        for _ in range(11):
            NearestNeighbors(n_neighbors=1, algorithm="brute").fit(masked).kneighbors(attacked)

    known, value = codes[:, 1:].astype(float), codes[:, 0].astype(float)
    people = LabelledFile(known, value)

    def infer_on_dummies() -> None:  # seven forests, as many as ours
        taught = rng.choice(records, min(records, 10_000), replace=False)
        for _ in range(7):
            forest = RandomForestClassifier(50, n_jobs=-1).fit(original[taught][:, stops[0] :], value[taught])
            forest.predict(original[taught][:, stops[0] :])

    cases: list[tuple[str, Callable[[], object], Callable[[], object] | None]] = [
        ("data invasion", invade, invade_by_pandas),
        ("maximum knowledge, records", lambda: of_records(original, masked, attributes, rng), link_brute),
        ("maximum knowledge, attribute", lambda: of_attribute(original, masked, attributes[0], rng), None),
        ("attribute inference", lambda: attribute_inference(people, people, rng), infer_on_dummies),
    ]
    print(f"{records:,} records, {original.shape[1]} dummy columns")
    print(f"{'':30} {'Sluice':>9} {'memory':>9} {'plain':>9} {'memory':>9} {'ratio':>6}")
    for name, ours, plain in cases:
        seconds, peak = measured(ours)
        line = f"{name:30} {seconds:7.2f} s {peak:6.0f} MB"
        if plain:
            plain_seconds, plain_peak = measured(plain)
            line += f" {plain_seconds:7.2f} s {plain_peak:6.0f} MB {plain_seconds / seconds:6.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
