"""Time, memory and information lost of the methods of microaggregation, k = 3, ten columns with three factors behind.

Seconds are of the clock and of the processor; pin BLAS to one thread, and other work on the machine does not lengthen
the latter. What is lost is the sum of squared errors over the total sum of squares of standardised numbers. Memory is
what `mask` takes at its peak beyond the frame, its result included. For the generic method four columns stay numbers,
three become ordinal and three nominal, with five categories each; its loss is that of the numbers. MDAV beside the
plain way of writing it is in `masking`.
"""

from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from benchmarks.factor_data import factor_data
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.microaggregation import Microaggregation
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep
from sluice.masking.microaggregation.ordered_microaggregation import (
    ProjectedMicroaggregation,
    UnivariateMicroaggregation,
)

K, BLOCK = 3, 5_000


def cases(columns: tuple[str, ...]) -> list[tuple[str, MicroaggregationStep]]:
    return [
        ("MDAV, exact", Microaggregation(columns=columns, k=K)),
        ("MDAV, blocks of 5,000", Microaggregation(columns=columns, k=K, block_size=BLOCK)),
        ("MDAV, exact, improved", Microaggregation(columns=columns, k=K, improve=True)),
        ("projected, first component", ProjectedMicroaggregation(columns=columns, k=K)),
        ("projected, sum of z-scores", ProjectedMicroaggregation(columns=columns, k=K, projection="sum_of_z_scores")),
        ("individual ranking", UnivariateMicroaggregation(columns=columns, k=K, algorithm="individual_ranking")),
        ("optimal, one at a time", UnivariateMicroaggregation(columns=columns, k=K)),
    ]


def mixed(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """Three columns cut at their quintiles into ordinal and three into nominal variables."""
    labels = list("abcde")
    cut = {name: pd.qcut(frame[name], 5, labels=labels) for name in frame.columns[4:]}
    nominal = {name: cut[name].cat.as_unordered() for name in frame.columns[7:]}
    kinds = dict(zip(frame, [Kind.CONTINUOUS] * 4 + [Kind.ORDINAL] * 3 + [Kind.NOMINAL] * 3, strict=True))
    variables = {
        name: Variable(name=name, kind=kind, categories=labels if kind.is_categorical else None)
        for name, kind in kinds.items()
    }
    return frame.assign(**cut).assign(**nominal), variables


def measure(name: str, step: MicroaggregationStep, frame: pd.DataFrame, variables: dict[str, Variable]) -> None:
    """Print one line."""
    numbers = [column for column in frame if variables[column].kind.is_numeric]
    before = _reset_peak_memory()
    start, processor = perf_counter(), process_time()
    masked = step.mask(frame, variables, np.random.default_rng(0))
    seconds, processor, memory = perf_counter() - start, process_time() - processor, _memory("VmHWM") - before
    errors = ((masked[numbers] - frame[numbers]) ** 2).sum() / ((frame[numbers] - frame[numbers].mean()) ** 2).sum()
    print(
        f"{name:<36} {len(frame):>9,} {seconds:>8.2f} {processor:>10.2f} {errors.mean():>8.3%} {memory:>9.2f}",
        flush=True,
    )


def main(quick: bool = False) -> None:
    """Print a line for each method and number of records."""
    compiled = factor_data(100)
    numbers = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in compiled}
    for _, step in cases(tuple(compiled)):
        step.mask(compiled, numbers, np.random.default_rng(0))
    exact, blocks = (step for _, step in cases(tuple(compiled))[:2])
    exact.mask(*mixed(compiled), np.random.default_rng(0))
    print(f"{'method':<36} {'records':>9} {'seconds':>8} {'processor':>10} {'lost':>8} {'peak, GB':>9}")
    for records in (10_000,) if quick else (10_000, 100_000, 1_000_000):
        frame = factor_data(records)
        for name, step in cases(tuple(frame)):
            if records < 1_000_000 or "improved" not in name:
                measure(name, step, frame, numbers)
        if records < 1_000_000:
            measure("MDAV-generic, mixed", exact, *mixed(frame))
        measure("MDAV-generic, mixed, blocks of 5,000", blocks, *mixed(frame))


def _reset_peak_memory() -> float:
    """Gigabytes of resident memory now; the kernel counts the peak anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(line: str) -> float:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(entry.split()[1]) for entry in status if entry.startswith(line)) / 1e6


if __name__ == "__main__":
    main()
