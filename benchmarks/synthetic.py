"""Time of the synthetic and the non-perturbative methods, beside the plain fit or the plain pandas call of each.

The peer of IPSO is the least squares fit alone, that of sequential trees the growing of the same number of trees by
scikit-learn; neither draws anything. Both sides run in the same process, one after the other, the best of some runs.
Run `python -m benchmarks synthetic`.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from benchmarks.factor_data import factor_data
from sluice.ground.variables import Kind, Variable
from sluice.masking.masking_step import MaskingStep
from sluice.masking.recoding.global_recoding import GlobalRecoding
from sluice.masking.recoding.sampling import Sampling
from sluice.masking.recoding.top_bottom_coding import TopBottomCoding
from sluice.masking.synthesis.ipso import Ipso
from sluice.masking.synthesis.sequential_trees import SequentialTrees

COLUMNS = tuple(f"x{number}" for number in range(10))
BINS = (-2.0, -1.0, 0.0, 1.0, 2.0)
MOST_FOR_TREES = 100_000
Peer = Callable[[pd.DataFrame], object]


def least_squares(frame: pd.DataFrame) -> object:
    y, x = frame.iloc[:, :5].to_numpy(), frame.iloc[:, 5:].to_numpy()
    return np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)


def trees_alone(frame: pd.DataFrame) -> object:
    values = frame.to_numpy(dtype=np.float32)
    return [
        DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(values[:, :place], values[:, place])
        for place in range(1, values.shape[1])
    ]


def cases() -> list[tuple[str, MaskingStep, Peer, int | None]]:
    """Name, step, peer, and the most records that it is run on."""
    half, rest = COLUMNS[:5], COLUMNS[5:]
    fitted: list[tuple[str, MaskingStep, Peer, int | None]] = [
        (f"IPSO-{variant}, 5 given 5", Ipso(columns=half, given=rest, variant=variant), least_squares, None)
        for variant in ("A", "B", "C")
    ]
    return [
        *fitted,
        ("sampling, half", Sampling(fraction=0.5), lambda f: f.sample(frac=0.5), None),
        (
            "recoding, 6 intervals",
            GlobalRecoding(columns=COLUMNS, bins=BINS),
            lambda f: f.apply(lambda column: pd.cut(column, [-np.inf, *BINS, np.inf], right=False)),
            None,
        ),
        (
            "recoding, 5 quantiles",
            GlobalRecoding(columns=COLUMNS, quantiles=5),
            lambda f: f.apply(lambda column: pd.qcut(column, 5)),
            None,
        ),
        (
            "top coding, 1 %",
            TopBottomCoding.model_validate({"columns": COLUMNS, "top": {"quantile": 0.99}}),
            lambda f: f.clip(upper=f.quantile(0.99), axis=1),
            None,
        ),
        ("sequential trees", SequentialTrees(columns=COLUMNS), trees_alone, MOST_FOR_TREES),
        ("the same, smoothed", SequentialTrees(columns=COLUMNS, smoothing="density"), trees_alone, MOST_FOR_TREES),
    ]


def best(run: Callable[[], object]) -> float:
    """Seconds of the fastest of up to three runs; of one that takes long, of that."""
    taken = []
    while len(taken) < 3 and (not taken or taken[-1] < 2):
        begun = perf_counter()
        run()
        taken.append(perf_counter() - begun)
    return min(taken)


def main(quick: bool = False) -> None:
    print(f"{'method':<24} {'records':>9} {'Sluice':>10} {'plain':>10} {'ratio':>8}")
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in COLUMNS}
    with threadpool_limits(1):
        for records in (10_000,) if quick else (10_000, 100_000, 1_000_000):
            frame = factor_data(records)
            for name, step, peer, most in cases():
                if most is not None and records > most:
                    continue
                ours = best(lambda step=step, frame=frame: step.mask(frame, variables, np.random.default_rng(0)))
                plain = best(lambda peer=peer, frame=frame: peer(frame))
                print(f"{name:<24} {records:>9,} {ours:>8.3f} s {plain:>8.3f} s {plain / ours:>7.2f}x", flush=True)


if __name__ == "__main__":
    main()
