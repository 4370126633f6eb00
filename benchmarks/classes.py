"""Equivalence classes: sizes of the classes of 5 keys, beside pandas' group-by in the same minute.

    OMP_NUM_THREADS=1 python benchmarks/classes.py

The keys are small-coded categories (5 to 90 values), as quasi-identifiers are. Both sides give each record the size
of its class, missing keys counted. Ratios above 1 say how many times faster Sluice is.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd

from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import category_codes, classes_of, equivalence_classes

VALUES = (10, 7, 12, 5, 90)


def main(quick: bool = False) -> None:
    classes_of(_frame(100_000), ["key0"])  # compile, or load the compiled loops
    print(f"{'records':>12} {'codes, s':>9} {'frame, s':>9} {'any, s':>9} {'pandas, s':>10} {'pandas / frame':>15}")
    for records in (100_000,) if quick else (1_000_000, 10_000_000):
        frame = _frame(records)
        names = list(frame)
        codes = [category_codes(frame[name]) for name in names]
        from_codes = _best(lambda codes=codes: equivalence_classes(codes).frequencies)
        from_frame = _best(lambda frame=frame, names=names: classes_of(frame, names).frequencies)
        any_value = _best(lambda frame=frame, names=names: matching_records(frame, names), 1)
        pandas = _best(
            lambda frame=frame, names=names: frame.groupby(names, dropna=False, observed=True)[names[0]].transform(
                "size"
            )
        )
        print(
            f"{records:>12,} {from_codes:>9.2f} {from_frame:>9.2f} {any_value:>9.2f} {pandas:>10.2f} "
            f"{pandas / from_frame:>15.1f}"
        )


def _frame(records: int) -> pd.DataFrame:
    """Five independent keys, uniform, each with 1 % missing."""
    rng = np.random.default_rng(20260101)
    return pd.DataFrame(
        {
            f"key{i}": pd.Categorical.from_codes(
                np.where(rng.random(records) < 0.01, -1, rng.integers(0, values, records)).astype(np.int8),
                categories=[str(value) for value in range(values)],
            )
            for i, values in enumerate(VALUES)
        }
    )


def _best(run: Callable[[], object], times: int = 4) -> float:
    seconds = []
    for _ in range(times):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
