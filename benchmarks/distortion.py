"""Time of the methods that draw, average or round values anew, beside a plain way of writing each.

    OMP_NUM_THREADS=1 python -m benchmarks distortion

Ten columns of amounts with a long upper tail. The peers are what one would write with NumPy, scipy and scikit-learn:
resampling by sorting every sample, rounding by `numpy.round`, the fit of nine families by scipy's own `fit` (on 10,000
records; it takes minutes on more), and scikit-learn's `IterativeImputer` with draws from the posterior (which fills
missing values, here a tenth of each column). Camouflage has no peer: it is made, and asked ten sums of a tenth of the
records each. Seconds are those of the processor, which other work on the machine does not lengthen.
"""

import warnings
from collections.abc import Callable
from time import process_time

import numpy as np
import pandas as pd
from scipy import stats

from sluice.ground.variables import Kind, Variable
from sluice.masking.masking_step import MaskingStep
from sluice.masking.recoding.camouflage import Camouflage
from sluice.masking.recoding.random_rounding import RandomRounding
from sluice.masking.recoding.rounding import Rounding
from sluice.masking.synthesis.data_distortion import DataDistortion
from sluice.masking.synthesis.multiple_imputation import MultipleImputation
from sluice.masking.synthesis.resampling import Resampling

COLUMNS = 10
SAMPLES = 10
Peer = Callable[[pd.DataFrame, np.random.Generator], object]


def amounts(records: int) -> pd.DataFrame:
    """Ten correlated log-normal columns and two categorical ones."""
    rng = np.random.default_rng(records)
    factors = rng.normal(size=(records, 3)) @ rng.normal(size=(3, COLUMNS))
    values = np.exp(8 + 0.3 * factors + 0.3 * rng.normal(size=(records, COLUMNS)))
    frame = pd.DataFrame(values, columns=[f"x{number}" for number in range(COLUMNS)])
    for name, categories in (("area", 12), ("trade", 5)):
        labels = [str(label) for label in range(categories)]
        frame[name] = pd.Categorical.from_codes(rng.integers(0, categories, records), categories=labels)
    return frame


def variables_of(frame: pd.DataFrame) -> dict[str, Variable]:
    return {
        name: Variable(name=name, kind=Kind.CONTINUOUS if name.startswith("x") else Kind.NOMINAL, nullable=True)
        for name in frame
    }


def fit_with_scipy(frame: pd.DataFrame, rng: np.random.Generator) -> object:
    """Every family fitted by scipy's optimiser, compared by its `kstest`, drawn and mapped by rank."""
    families = [stats.expon, stats.norm, stats.gamma, stats.weibull_min, stats.lognorm, stats.uniform, stats.triang]
    masked = {}
    for name in _numbers(frame):
        values = frame[name].to_numpy()
        fits = [(family, family.fit(values)) for family in families]
        best, found = min(fits, key=lambda fit: stats.kstest(values, fit[0](*fit[1]).cdf).statistic)
        draws = np.sort(best.rvs(*found, size=len(values), random_state=rng))
        masked[name] = draws[np.argsort(np.argsort(values))]
    return masked


def resample_by_sorting(frame: pd.DataFrame, rng: np.random.Generator) -> object:
    masked = {}
    for name in _numbers(frame):
        values = frame[name].to_numpy()
        sorted_samples = [np.sort(rng.choice(values, len(values))) for _ in range(SAMPLES)]
        masked[name] = np.mean(sorted_samples, axis=0)[np.argsort(np.argsort(values))]
    return masked


def round_with_numpy(frame: pd.DataFrame, rng: np.random.Generator) -> object:
    return np.round(frame[list(_numbers(frame))] / 500) * 500


def impute_with_sklearn(frame: pd.DataFrame, rng: np.random.Generator) -> object:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    coded = pd.get_dummies(frame, drop_first=True, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five rounds are what is asked, not convergence
        return IterativeImputer(sample_posterior=True, max_iter=5, random_state=0).fit_transform(coded)


def cases(columns: tuple[str, ...]) -> list[tuple[str, MaskingStep, Peer | None, int]]:
    """Name, step, peer, and the most records that the peer is run on."""
    low, high = 1000.0, 9000.0
    grid = [[a] * COLUMNS for a in np.linspace(low, high, 20)]
    return [
        ("data distortion", DataDistortion(columns=columns), fit_with_scipy, 10_000),
        ("resampling, 10 samples", Resampling(columns=columns, samples=SAMPLES), resample_by_sorting, 1_000_000),
        ("rounding, base 500", Rounding(columns=columns, base=500), round_with_numpy, 1_000_000),
        ("rounding, 20 rows", Rounding(columns=columns, points=grid), None, 0),
        ("random rounding", RandomRounding(columns=columns, base=500), None, 0),
        ("simulation", MultipleImputation(columns=columns), None, 0),
    ]


def main(quick: bool = False) -> None:
    """Print seconds for 10,000, 100,000 and 1,000,000 records; with `quick` for the first two."""
    print(f"{'method':<24} {'records':>10} {'Sluice':>10} {'plain':>10} {'ratio':>8}")
    for records in (100, 10_000, 100_000) if quick else (100, 10_000, 100_000, 1_000_000):
        frame = amounts(records)
        variables = variables_of(frame)
        for name, step, peer, most in cases(_numbers(frame)):
            _compare(name, step, frame, variables, peer if records <= most else None)
        gaps = frame.copy()
        for name in _numbers(gaps):
            gaps.loc[np.random.default_rng(1).random(records) < 0.1, name] = np.nan
        filling = MultipleImputation(columns=_numbers(frame), what="missing")
        _compare("imputation of a tenth", filling, gaps, variables, impute_with_sklearn if records <= 100_000 else None)
        if records == 100:  # compiles, or loads what was compiled before
            continue
        values, rng = frame["x0"].to_numpy(), np.random.default_rng(0)
        begun = process_time()
        camouflage = Camouflage(values, 1000.0, rng)
        _show("camouflage, one column", records, process_time() - begun, None)
        queries = [np.sort(rng.choice(records, records // 10, replace=False)) for _ in range(10)]
        begun = process_time()
        for query in queries:
            camouflage.sum(query)
        _show("camouflage, ten sums", records, process_time() - begun, None)


def _numbers(frame: pd.DataFrame) -> tuple[str, ...]:
    return tuple(name for name in frame if name.startswith("x"))


def _compare(
    name: str, step: MaskingStep, frame: pd.DataFrame, variables: dict[str, Variable], peer: Peer | None
) -> None:
    ours = _best(lambda: step.mask(frame, variables, np.random.default_rng(0)))
    if len(frame) > 100:
        _show(name, len(frame), ours, peer and _best(lambda: peer(frame, np.random.default_rng(0)), 1))


def _show(name: str, records: int, ours: float, plain: float | None) -> None:
    beside = "" if plain is None else f"{plain:>8.3f} s {plain / ours:>7.1f}x"
    print(f"{name:<24} {records:>10,} {ours:>8.3f} s {beside}", flush=True)


def _best(run: Callable[[], object], times: int = 2) -> float:
    seconds = []
    for _ in range(times):
        begun = process_time()
        run()
        seconds.append(process_time() - begun)
    return min(seconds)


if __name__ == "__main__":
    main()
