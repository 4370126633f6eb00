"""What look-alikes give away: l-diversity, t-closeness and their like, beside pycanon in the same minute.

    OMP_NUM_THREADS=1 python -m benchmarks diversity

Seven keys and one sensitive variable, in shape those of Adult. Sluice's time includes the coding of the frame's columns
and the classes; pycanon's is its own call. pycanon drops records with a missing key, so none is missing here.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd

from benchmarks.peers.peer import ask, version_of
from sluice.risk.classes import alpha_k, beta_likeness, delta_disclosure, l_diversity, t_closeness
from sluice.risk.classes.class_values import ClassValues, class_values
from sluice.risk.classes.equivalence_classes import category_codes, classes_of

_VALUES = {"sex": 2, "race": 5, "marital": 7, "education": 16, "country": 41, "workclass": 7, "age": 20}
_OCCUPATIONS = 14

MEASURES: dict[str, Callable[[ClassValues], object]] = {
    "l_diversity": lambda found: l_diversity.distinct_values(found).min(),
    "entropy_l_diversity": lambda found: l_diversity.effective_values(found).min(),
    "t_closeness": lambda found: t_closeness.equal_distance(found).max(),
    "basic_beta_likeness": lambda found: beta_likeness.largest_gain(found).max(),
    "delta_disclosure": lambda found: delta_disclosure.log_ratios(found, absent=False).max(),
    "alpha_k_anonymity": lambda found: alpha_k.largest_share(found).max(),
}


def main(quick: bool = False) -> None:
    records = 3_000 if quick else 30_162
    frame, large = _frame(records), None if quick else _frame(1_000_000)
    keys, theirs = list(_VALUES), {}
    if version_of("pycanon"):
        asked = {"keys": keys, "sensitive": "occupation", "measures": list(MEASURES)}
        theirs = ask("pycanon", "measures", {"released": frame}, **asked)["measures"]
    heads = f"{'pycanon':>9} {'ratio':>8} {'1M records':>11}"
    print(
        f"{records:,} records, {len(classes_of(frame, keys).sizes):,} classes\n{'measure':>20} {'Sluice':>11} {heads}"
    )
    for name, measure in MEASURES.items():
        ours = min(_seconds(lambda measure=measure: _judge(measure, frame, keys)) for _ in range(5))
        its = theirs[name]["seconds"] if name in theirs else np.nan
        million = np.nan if large is None else _seconds(lambda measure=measure: _judge(measure, large, keys))
        print(f"{name:>20} {1000 * ours:8.1f} ms {its:7.1f} s {its / ours:8,.0f} {million:9.2f} s", flush=True)


def _judge(measure: Callable[[ClassValues], object], frame: pd.DataFrame, keys: list[str]) -> object:
    return measure(class_values(classes_of(frame, keys), category_codes(frame["occupation"])))


def _frame(records: int) -> pd.DataFrame:
    rng = np.random.default_rng(20260101)
    counts = _VALUES | {"occupation": _OCCUPATIONS}
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(
                (values * rng.beta(1, 3, records)).astype(np.int8),
                categories=[f"v{value:02}" for value in range(values)],
            )
            for name, values in counts.items()
        }
    )


def _seconds(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


if __name__ == "__main__":
    main()
