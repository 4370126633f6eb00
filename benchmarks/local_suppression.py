"""Time of local suppression, k = 5, beside counting the combinations of the same seven keys once.

The records are generated and like a survey's. A user would otherwise take sdcMicro's `localSuppression`; being in R it
is not run here. Its figures on two cores, for the same number of records, keys and k: 2.5 s for 100,000 records and
5.4 s for 1,000,000.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.local_suppression import LocalSuppression
from sluice.risk.classes.equivalence_classes import classes_of

CATEGORIES = (2, 5, 4, 8, 3, 9, 2)


def survey(records: int) -> pd.DataFrame:
    """Independent keys with geometric shares: many common combinations and a long tail of rare ones."""
    rng = np.random.default_rng(7)
    drawn = {f"key{at}": np.minimum(rng.geometric(0.6, records), count) for at, count in enumerate(CATEGORIES)}
    return pd.DataFrame(drawn).astype(str).astype("category")


def seconds(run: Callable[[], object]) -> float:
    """The best of five: what else the machine does only adds."""
    taken = []
    for _ in range(5):
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return min(taken)


def main(quick: bool = False) -> None:
    """Print seconds, their ratio to one count and the cells lost, by records and `all_m`."""
    print(f"{'records':>9} {'all_m':>5} {'count, s':>9} {'suppress, s':>12} {'ratio':>6} {'lost':>7}")
    for records in (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000):
        frame = survey(records)
        variables = {name: Variable(name=name, kind=Kind.NOMINAL) for name in frame}
        for all_m in (None, 3):
            step = LocalSuppression(columns=tuple(frame), k=5, all_m=all_m)
            mask = partial(step.mask, frame, variables, np.random.default_rng(0))
            lost = int(mask().isna().to_numpy().sum())
            count = seconds(partial(classes_of, frame, list(frame)))
            suppress = seconds(mask)
            print(
                f"{records:>9,} {all_m or 'all':>5} {count:>9.3f} {suppress:>12.3f} {suppress / count:>6.1f} {lost:>7,}"
            )


if __name__ == "__main__":
    main()
