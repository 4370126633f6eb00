"""Swapping and random change: rank swapping beside a sort, PRAM beside uniform numbers, the others in seconds.

    OMP_NUM_THREADS=1 python -m benchmarks swapping

A ratio says how many times as long Sluice takes as the plain NumPy work that the method cannot do without: an argsort
of the same columns, or one uniform number a value. Both sides take turns, and the best turn of each counts.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.noise.pram import Pram
from sluice.masking.swapping.anatomization import Anatomization
from sluice.masking.swapping.data_swapping import DataSwapping
from sluice.masking.swapping.permutation import Permutation
from sluice.masking.swapping.rank_swapping import RankSwapping

COLUMNS = 10


def main(quick: bool = False) -> None:
    sizes = (100_000,) if quick else (100_000, 1_000_000)
    print(f"{'method':<50} {'records':>10} {'Sluice':>10} {'plain':>10} {'ratio':>7}")
    for records in sizes:
        rank_swapping(records)
        pram(records)
    print(f"\n{'method':<50} {'records':>10} {'seconds':>10}")
    for records in sizes:
        others(records)


def rank_swapping(records: int) -> None:
    """Ten normal columns, beside the argsort of each."""
    rng = np.random.default_rng(records)
    frame = pd.DataFrame({f"x{number}": rng.normal(size=records) for number in range(COLUMNS)})
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in frame}
    names = tuple(frame)
    for step in (
        RankSwapping(columns=names, window=0.05),
        RankSwapping(columns=names, variant="p_distribution", window=0.05),
        RankSwapping(columns=names, variant="p_buckets", buckets=20),
    ):
        name = f"rank swapping, {step.variant}, {COLUMNS} columns, argsort"
        compare(name, step, frame, variables, lambda: [np.argsort(frame[name].to_numpy()) for name in frame], times=3)


def pram(records: int) -> None:
    """One column of 2, 10 and 90 categories, beside a uniform number a value."""
    rng = np.random.default_rng(records)
    for categories in (2, 10, 90):
        frame = pd.DataFrame({"x": labels(rng.integers(0, categories, records))})
        variables = {"x": Variable(name="x", kind=Kind.NOMINAL)}
        for invariant in (False, True):
            step = Pram(columns=("x",), retention=0.8, invariant=invariant)
            name = f"PRAM{', invariant' if invariant else ''}, {categories} categories, uniforms"
            compare(name, step, frame, variables, lambda: rng.random(records), times=31)


def others(records: int) -> None:
    """Households of two on average in 300 counties of 10 regions."""
    rng = np.random.default_rng(records)
    households = records // 2
    house = rng.integers(0, households, records)
    county = rng.integers(0, 300, households)
    frame = pd.DataFrame(
        {
            "house": pd.array(house, dtype="Int64"),
            "county": labels(county[house]),
            "region": labels(county[house] % 10),
            "tenure": labels(rng.integers(0, 8, households)[house]),
            "age": labels(rng.integers(0, 18, records)),
            "job": labels(rng.integers(0, 12, records)),
            "illness": labels(rng.integers(0, 50, records)),
            "wage": rng.lognormal(8, 1, records),
        }
    )
    variables = {name: Variable(name=name, kind=Kind.NOMINAL) for name in frame}
    variables["house"] = Variable(name="house", kind=Kind.INTEGER, role=Role.HOUSEHOLD)
    variables["wage"] = Variable(name="wage", kind=Kind.CONTINUOUS)
    swap = DataSwapping(
        columns=("county",),
        within=("region",),
        similar=("tenure",),
        risk_keys=("age", "job"),
        swap_rate=0.05,
        unmatched="keep",
    )
    cases: dict[str, MaskingStep] = {
        "data swapping, households": swap,
        "data swapping, records": swap.model_copy(update={"unit": "record"}),
        "permutation": Permutation(columns=("illness", "wage")),
        "permutation within 2,400 groups": Permutation(
            columns=("wage",), within=("county", "tenure"), small_groups="keep"
        ),
        "anatomization, l = 5, 50 values": Anatomization(columns=("illness",), l=5),
        "anatomization, l = 5, all values different": Anatomization(columns=("wage",), l=5),
    }
    for name, step in cases.items():
        masking = warm(step, frame, variables)
        print(f"{name:<50} {records:>10,} {min(seconds(masking) for _ in range(3)):>8.2f} s")


def labels(codes: np.ndarray) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=[str(value) for value in range(codes.max() + 1)])


def compare(
    name: str, step: MaskingStep, frame: pd.DataFrame, variables: Variables, plain: Callable[[], object], times: int
) -> None:
    masking = warm(step, frame, variables)
    turns = [(seconds(masking), seconds(plain)) for _ in range(times)]
    ours, theirs = np.min(turns, axis=0)
    print(f"{name:<50} {len(frame):>10,} {1000 * ours:>7.1f} ms {1000 * theirs:>7.1f} ms {ours / theirs:>7.1f}")


def warm(step: MaskingStep, frame: pd.DataFrame, variables: Variables) -> Callable[[], object]:
    """The masking as a function to be timed, after a run on few records that compiles its kernels."""
    rng = np.random.default_rng(0)
    step.mask(frame.head(1000), variables, rng)
    return lambda: step.mask(frame, variables, rng)


def seconds(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


if __name__ == "__main__":
    main()
