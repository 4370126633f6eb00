"""Time and loss of k-member clustering, Mondrian and recursive histogram sanitization, plain and spectral.

The data are ten columns with three factors behind them, k = 5. The loss is the share of the variance that lies within
the groups, and for small files beside that of MDAV, which a user would take otherwise. Plain recursive histogram
sanitization with `small_cells: whole` does not cut cells of ten columns at all, and is measured on the first two.
"""

from time import perf_counter

import numpy as np
import pandas as pd

from benchmarks.factor_data import factor_data
from sluice.ground.variables import Kind, Variable
from sluice.masking.masking_step import MaskingStep
from sluice.masking.microaggregation.clustering import BottomUpLocalRecoding, KMemberClustering
from sluice.masking.microaggregation.histogram_sanitization import (
    RecursiveHistogramSanitization,
    SpectralHistogramSanitization,
)
from sluice.masking.microaggregation.microaggregation import Microaggregation
from sluice.masking.microaggregation.mondrian import Mondrian

COLUMNS = tuple(f"x{number}" for number in range(10))
K = 5


def cases(records: int) -> list[tuple[str, MaskingStep]]:
    """The steps that finish in a minute on so many records."""
    two = COLUMNS[:2]
    found: list[tuple[str, MaskingStep]] = [
        ("histogram, spectral", SpectralHistogramSanitization(columns=COLUMNS, k=K)),
        ("histogram, spectral, 2 columns", SpectralHistogramSanitization(columns=two, k=K)),
        ("histogram, plain, 2 columns", RecursiveHistogramSanitization(columns=two, k=K, small_cells="whole")),
    ]
    found.append(("Mondrian", Mondrian(columns=COLUMNS, k=K)))
    if records <= 10_000:
        found.append(("k-member", KMemberClustering(columns=COLUMNS, k=K)))
        found.append(("bottom-up", BottomUpLocalRecoding(columns=COLUMNS, k=K)))
    if records <= 100_000:
        found.append(("k-member, blocks of 2,000", KMemberClustering(columns=COLUMNS, k=K, block_size=2_000)))
        found.append(("k-member, blocks of 5,000", KMemberClustering(columns=COLUMNS, k=K, block_size=5_000)))
        found.append(("MDAV", Microaggregation(columns=COLUMNS, k=K)))
        found.append(("MDAV, improved", Microaggregation(columns=COLUMNS, k=K, improve=True)))
    return found


def loss(original: pd.DataFrame, masked: pd.DataFrame) -> float:
    """Share of the variance within the groups: 0 for no change, 1 if all records are one; each column counts alike."""
    within = ((original - masked) ** 2).sum() / ((original - original.mean()) ** 2).sum()
    return float(within.mean())


def main(quick: bool = False) -> None:
    print(f"{'method':<32} {'records':>9} {'seconds':>8} {'loss':>8}")
    for records in (100, 10_000) if quick else (100, 10_000, 100_000, 1_000_000):
        frame = factor_data(records)
        variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in COLUMNS}
        for name, step in cases(records):
            start = perf_counter()
            masked = step.mask(frame, variables, np.random.default_rng(0))
            taken = perf_counter() - start
            if records > 100:  # the first compiles, or loads what was compiled before
                used = list(step.columns)
                print(f"{name:<32} {records:>9,} {taken:>8.2f} {loss(frame[used], masked[used]):>8.3%}", flush=True)


if __name__ == "__main__":
    main()
