"""Time of every measure of utility, on twenty variables, beside sdmetrics' quality report and disclosure measures.

    OMP_NUM_THREADS=1 python -m benchmarks utility

Ten numbers with three factors behind them and ten categorical variables of 2 to 40 categories. The masked file has
noise on all numbers, PRAM on four categorical variables, two grouped ones, two cells of a hundred suppressed in two
variables, and lacks one variable of each kind. Families of measures are timed as a release runs them, what they share
apart; below them stand single measures of numbers and categories. The peer, sdmetrics, where `make peers` was,
compares the same two files without the removed variables: its column shapes and column pair trends, and how
well four categories tell a fifth. Seconds are those of the processor.
"""

from collections.abc import Callable
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.sdmetrics_peer import MEASURES, MOST_RECORDS, has_sdmetrics, sdmetrics_run
from policies.utility_limits import FAMILIES
from sluice.ground.variables import Kind, Variable
from sluice.utility.categorical.category_losses import contingency_table_loss, joint_counts
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.matrix_comparisons import matrix_comparisons
from sluice.utility.continuous.mean_variations import il1s, mean_variations
from sluice.utility.continuous.moments import moment_differences, pairwise_moments
from sluice.utility.continuous.probabilistic_information_loss import probabilistic_information_loss

_CATEGORIES = (2, 2, 3, 4, 5, 8, 12, 20, 30, 40)


def two_files(records: int) -> Comparison:
    """The original, and what masking made of it."""
    rng = np.random.default_rng(records)
    factors = rng.normal(size=(records, 3))
    numbers = np.exp(1 + 0.4 * factors @ rng.normal(size=(3, 10)) + 0.3 * rng.normal(size=(records, 10))).round(3)
    original = pd.DataFrame(numbers, columns=[f"x{at}" for at in range(10)])
    places = {}
    for at, size in enumerate(_CATEGORIES):
        score = factors[:, at % 3] + rng.normal(size=records)
        places[f"c{at}"] = np.searchsorted(np.quantile(score, np.arange(1, size) / size), score)
        original[f"c{at}"] = _categories(places[f"c{at}"], [f"v{code:02}" for code in range(size)])
    recoded = original.drop(columns=["x9", "c0"])
    for name in ("c8", "c9"):
        groups = [f"g{code}" for code in range(10)]
        recoded[name] = _categories(places[name] // (len(original[name].cat.categories) // 10), groups)
    masked = recoded.copy()
    for at in range(9):
        masked[f"x{at}"] += 0.2 * numbers[:, at].std() * rng.normal(size=records)
    for name in ("c1", "c2", "c5", "c7"):
        moved = rng.random(records) < 0.15
        size = len(original[name].cat.categories)
        codes = np.where(moved, rng.integers(0, size, records), places[name])
        masked[name] = _categories(codes, list(original[name].cat.categories))
    for name in ("x1", "c3"):
        masked.loc[rng.random(records) < 0.02, name] = np.nan
    rng_of_judgement = np.random.default_rng(0)
    return Comparison(original, recoded, masked, None, _variables(original), _variables(masked), rng_of_judgement)


def _categories(codes: "np.ndarray", labels: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=labels)


def _variables(frame: pd.DataFrame) -> dict[str, Variable]:
    """Numbers and categories; these are declared, so that each of them is a subgroup."""
    numbers = {name: Variable(name=name, kind=Kind.CONTINUOUS, nullable=True) for name in frame if name[0] == "x"}
    return {
        name: numbers.get(name)
        or Variable(name=name, kind=Kind.NOMINAL, nullable=True, categories=tuple(frame[name].cat.categories))
        for name in frame
    }


def measures(files: Comparison) -> dict[str, Callable[[], object]]:
    """The shared parts first, then the families of a policy, then single measures of numbers and categories."""
    numbers = files.released_numbers
    before, after = numbers.original, numbers.masked
    both = pairwise_moments(before), pairwise_moments(after)
    return {
        **{family.find.__name__: lambda family=family: family(files) for family in FAMILIES},
        "- pairwise moments, a file": lambda: pairwise_moments(before),
        "- moments of 000": lambda: moment_differences(before, after),
        "- IL1s": lambda: il1s(before, after),
        "- six comparisons of 004": lambda: matrix_comparisons(before, after, moments=both),
        "- IL1 to IL5 of 003": lambda: mean_variations(before, after, moments=both),
        "- aPIL": lambda: probabilistic_information_loss(before, after, moments=both),
        "- joint counts, all": lambda: [joint_counts(each) for each in files.common_bins],
        "- CTBIL, order 2": lambda: contingency_table_loss(files.common_bins, 2),
    }


def main(quick: bool = False) -> None:
    """Print seconds for 10,000, 100,000 and 1,000,000 records; with `quick` for the first two."""
    peer = has_sdmetrics()
    print(f"{'measure':<40} {'records':>10} {'seconds':>10}")
    for records in (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000):
        files = two_files(records)
        shared = {
            "common bins, shared": lambda files=files: files.common_bins,
            "released numbers, shared": lambda files=files: files.released_numbers,
        }
        for name, run in shared.items():
            _show(name, records, run)
        for name, run in measures(files).items():
            _show(name, records, run)
        for measure, called in MEASURES.items() if records > 1_000 and peer else ():
            if records <= MOST_RECORDS.get(measure, records):
                _, seconds = sdmetrics_run(measure, files.original, files.masked)
                print(f"{called:<40} {records:>10,} {seconds:>8.2f} s", flush=True)


def _show(name: str, records: int, run: Callable[[], object]) -> None:
    begun = process_time()
    run()
    seconds = process_time() - begun
    if records > 1_000:  # the first compiles, or loads what was compiled before
        print(f"{name:<40} {records:>10,} {seconds:>8.2f} s", flush=True)


if __name__ == "__main__":
    main()
