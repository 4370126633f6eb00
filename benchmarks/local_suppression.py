"""Time of local suppression: seven keys, k = 5, on generated survey-like records.

A user would otherwise take sdcMicro's `localSuppression`; being in R it is not run here. Its figures on two cores, for
the same number of records, keys and k: 2.5 s for 100,000 records and 5.4 s for 1,000,000.
"""

from time import perf_counter

import numpy as np
import pandas as pd

from sluice.masking.local_suppression import LocalSuppression
from sluice.variables import Kind, Variable

CATEGORIES = (2, 5, 4, 8, 3, 9, 2)


def survey(records: int) -> pd.DataFrame:
    """Independent keys with geometric shares: many common combinations and a long tail of rare ones."""
    rng = np.random.default_rng(7)
    drawn = {f"key{at}": np.minimum(rng.geometric(0.6, records), count) for at, count in enumerate(CATEGORIES)}
    return pd.DataFrame(drawn).astype(str).astype("category")


def main(quick: bool = False) -> None:
    """Print the seconds for each number of records and each reading of missing values."""
    for records in (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000):
        frame = survey(records)
        variables = {name: Variable(name=name, kind=Kind.NOMINAL) for name in frame}
        for reading in ("category", "any"):
            step = LocalSuppression.model_validate({"columns": tuple(frame), "k": 5, "missing_matches": reading})
            start = perf_counter()
            masked = step.mask(frame, variables, np.random.default_rng(0))
            seconds = perf_counter() - start
            name = f"local suppression, {reading}, {records:,} x {len(CATEGORIES)}"
            suppressed = int(masked.isna().to_numpy().sum())
            print(f"{name}: {seconds:.2f} s, {suppressed:,} of {masked.size:,} cells")


if __name__ == "__main__":
    main()
