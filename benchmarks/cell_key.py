"""Cell-key perturbation: a million records and 77,000 cells, beside a group-by of pandas in the same minute.

The peer is what a user would write: for each combination of levels, the codes of every record, and the sum of the keys
of each group (whole numbers that wrap, so that both have the same keys). Ratios above 1 say how many times faster
Sluice is.
"""

from itertools import product
from time import perf_counter

import numpy as np
import pandas as pd

from sluice.tabular.alternatives.cell_key import cell_keys, perturb_counts, record_keys
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension


def main(quick: bool = False) -> None:
    table = PerturbationTable.of_largest_entropy(5, 3, 2)
    print(
        f"{'records':>10} {'cells':>8} {'hash, s':>8} {'keys, s':>8} {'in all, s':>10} {'pandas, s':>10} {'ratio':>6}"
    )
    for records, groups in ((100_000, 6),) if quick else ((100_000, 6), (1_000_000, 16)):
        cells, leaves = data(records, groups)
        start = perf_counter()
        keys = record_keys(map(str, range(records)), b"benchmark's secret")
        hashed = perf_counter() - start
        start = perf_counter()
        _, ours = cell_keys(cells, leaves, keys)
        keyed = perf_counter() - start
        start = perf_counter()
        perturb_counts(cells, leaves, keys, table)
        whole = perf_counter() - start
        start = perf_counter()
        theirs = pandas_keys(cells, leaves, keys)
        pandas = perf_counter() - start
        if not np.array_equal(ours, theirs):
            raise AssertionError("the two made different keys")
        print(
            f"{records:>10,} {len(cells):>8,} {hashed:>8.2f} {keyed:>8.3f} {whole:>10.3f} {pandas:>10.2f} "
            f"{pandas / keyed:>5.1f}x",
            flush=True,
        )


def data(records: int, groups: int) -> tuple[Cells, np.ndarray]:
    """Three dimensions of three, three and two levels; leaves are drawn with falling shares."""
    rng = np.random.default_rng(records)
    dimensions = [
        Dimension.of("industry", tree(groups, 10)),
        Dimension.of("region", tree(max(groups // 2, 2), 8)),
        Dimension.flat("size", [str(size) for size in range(5)]),
    ]
    leaves = np.column_stack(
        [
            d.leaves[np.minimum((len(d.leaves) * rng.random(records) ** 1.5).astype(int), len(d.leaves) - 1)]
            for d in dimensions
        ]
    ).astype(np.int32)
    return aggregate(dimensions, leaves, np.arange(records), np.ones(records, dtype=np.int64)), leaves


def tree(groups: int, parts: int) -> list[tuple[str, str]]:
    """A total, groups, and parts of each."""
    return [
        ("Total", ""),
        *((f"{group}", "Total") for group in range(groups)),
        *((f"{group}.{part}", f"{group}") for group in range(groups) for part in range(parts)),
    ]


def pandas_keys(cells: Cells, leaves: np.ndarray, keys: np.ndarray) -> np.ndarray:
    names = [dimension.name for dimension in cells.dimensions]
    parts = []
    for columns in product(*(dimension.columns for dimension in cells.dimensions)):
        frame = pd.DataFrame({name: columns[axis][leaves[:, axis]] for axis, name in enumerate(names)})
        frame["key"] = keys
        frame = frame[(frame[names] >= 0).all(axis=1)]
        parts.append(frame.groupby(names)["key"].sum())
    found = pd.concat(parts)
    return found.loc[pd.MultiIndex.from_arrays(list(cells.codes.T), names=names)].to_numpy()


if __name__ == "__main__":
    main()
