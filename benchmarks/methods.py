"""Time, memory and growth of every masking method: 10,000 to 1,000,000 records x 10 columns.

Each case runs in a process of its own, after a first go with few records that compiles what is compiled. Seconds are
the processor's, which what else the machine does hardly touches. `grows` is the exponent of the growth of the time from
the last size but one to the last: 1 is proportional, 2 quadratic.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from benchmarks.factor_data import factor_data
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking import Step
from sluice.masking.masking_step import MaskingStep
from sluice.masking.plan import apply_plan

SIZES = (10_000, 100_000, 1_000_000)
NUMBERS = [f"x{at}" for at in range(10)]
KEYS = [f"c{at}" for at in range(10)]

Case = tuple[dict[str, Any], int]
"""The step as in a plan, and the largest number of records that it is run on."""


def _numbers(most: int = SIZES[-1], **step: Any) -> Case:
    return {"columns": NUMBERS, **step}, most


def _keys(most: int = SIZES[-1], **step: Any) -> Case:
    return {"columns": KEYS, **step}, most


CASES: dict[str, Case] = {
    "additive_noise": _numbers(amount=0.1),
    "additive_noise, correlated": _numbers(amount=0.1, kind="correlated"),
    "additive_noise, spectral": _numbers(amount=0.1, kind="spectral"),
    "anatomization": ({"columns": ["c4"], "l": 2}, SIZES[-1]),
    "bottom_up_local_recoding": _numbers(SIZES[0], k=3),
    "bottom_up_local_recoding, blocks": _numbers(SIZES[1], k=3, block_size=2000),
    "data_distortion": _numbers(),
    "data_shuffling": _numbers(),
    "data_swapping": (
        {"columns": ["area"], "risk_keys": ["c1", "c2"], "k": 3, "similar": ["c0"], "swap_rate": 0.02},
        SIZES[-1],
    ),
    "global_recoding": _numbers(bins=[-1, 0, 1]),
    "ipso, C": ({"columns": NUMBERS[:5], "given": NUMBERS[5:], "variant": "C"}, SIZES[-1]),
    "k_member_clustering": _numbers(SIZES[0], k=3),
    "k_member_clustering, blocks": _numbers(SIZES[1], k=3, block_size=2000),
    "k_nearest_clustering": _numbers(SIZES[0], k=3),
    "k_nearest_clustering, blocks": _numbers(SIZES[1], k=3, block_size=2000),
    "local_suppression": ({"columns": KEYS[:7], "k": 5}, SIZES[-1]),
    "lossy_compression": _numbers(quality=80),
    "matrix_decomposition": _numbers(rank=5),
    "microaggregation": _numbers(k=3),
    "microaggregation, improved": _numbers(SIZES[1], k=3, improve=True),
    "microaggregation, blocks": _numbers(k=3, block_size=5000),
    "microaggregation, categories": _keys(SIZES[0], k=3),
    "microaggregation, categories, blocks": _keys(SIZES[1], k=3, block_size=2000),
    "mondrian": _numbers(k=3),
    "mondrian, relaxed": _numbers(k=3, cuts="relaxed"),
    "mondrian, categories": _keys(k=3, representative="generalised"),
    "mondrian, regions": _numbers(k=3, representative="generalised", bounds="region"),
    "multiple_imputation": _numbers(given=["c0"]),
    "one_pass_k_means": _numbers(SIZES[0], k=3),
    "one_pass_k_means, blocks": _numbers(SIZES[1], k=3, block_size=2000),
    "permutation": ({"columns": NUMBERS, "within": ["c0"]}, SIZES[-1]),
    "pram": _keys(retention=0.8),
    "pram, invariant": _keys(retention=0.8, invariant=True),
    "projected_microaggregation": _numbers(k=3),
    "random_orthogonal_matrix": _numbers(),
    "random_rounding": _numbers(base=0.5),
    "rank_swapping": _numbers(window=0.05),
    "recursive_histogram_sanitization": ({"columns": NUMBERS[:2], "k": 5, "small_cells": "whole"}, SIZES[-1]),
    "removal": _numbers(),
    "resampling": _numbers(samples=5),
    "rounding": _numbers(base=0.5),
    "sampling": ({"fraction": 0.1, "weight": "weight"}, SIZES[-1]),
    "sequential_trees": _numbers(SIZES[1]),
    "spectral_histogram_sanitization": _numbers(k=5),
    "spectral_swapping": _numbers(),
    "top_bottom_coding": _numbers(top={"quantile": 0.95}, bottom={"quantile": 0.05}),
    "univariate_microaggregation": _numbers(k=3),
    "univariate_microaggregation, ranking": _numbers(k=3, algorithm="individual_ranking"),
}


def step_of(name: str) -> MaskingStep:
    """The masking step of a case."""
    written, _ = CASES[name]
    step: MaskingStep = TypeAdapter(Step).validate_python({"method": name.split(",")[0], **written})
    return step


def survey(records: int) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """Ten numbers with three factors behind them, ten categorical keys, an area and a weight."""
    rng = np.random.default_rng(records)
    frame = factor_data(records)
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in frame}
    for at, name in enumerate(KEYS):
        codes = np.minimum(rng.geometric(0.4, records), 3 + at) - 1
        categories = tuple(f"{name}_{number}" for number in range(3 + at))
        frame[name] = pd.Categorical.from_codes(codes, categories=list(categories))
        variables[name] = Variable(name=name, kind=Kind.NOMINAL, categories=categories)
    areas = tuple(f"a{number:02d}" for number in range(20))
    frame["area"] = pd.Categorical.from_codes(rng.integers(0, 20, records), categories=list(areas))
    frame["weight"] = rng.uniform(1, 50, records)
    variables["area"] = Variable(name="area", kind=Kind.NOMINAL, categories=areas)
    variables["weight"] = Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)
    return frame, variables


def measured(name: str, records: int) -> dict[str, float]:
    """Seconds of the processor for one masking, and the gigabytes that it takes at its peak beside the frame."""
    step = step_of(name)
    small, variables = survey(1000)
    apply_plan([step], small, variables, np.random.SeedSequence(0))
    frame, variables = survey(records)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    apply_plan([step], frame, variables, np.random.SeedSequence(0))
    seconds = time.process_time() - start
    return {"seconds": seconds, "gigabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20}


def _in_own_process(name: str, records: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.methods", "--case", name, "--records", str(records)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, float] = json.loads(outcome.splitlines()[-1])
    return found


def main(quick: bool = False) -> None:
    sizes = SIZES[:2] if quick else SIZES
    heads = [f"{size:,}" for size in sizes]
    print(f"{'method':<40}" + "".join(f"{head + ' s':>13} {'GB':>6}" for head in heads) + f"{'grows':>7}")
    for name, (_, most) in CASES.items():
        found = [(size, _in_own_process(name, size)) for size in sizes if size <= most]
        cells = "".join(f"{each['seconds']:>13.3f} {each['gigabytes']:>6.2f}" for _, each in found)
        grows = "-"
        if len(found) > 1:
            (size, last), (before, earlier) = found[-1], found[-2]
            grows = f"{math.log(last['seconds'] / earlier['seconds']) / math.log(size / before):.2f}"
        print(f"{name:<40}{cells}{' ' * 20 * (len(sizes) - len(found))}{grows:>7}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="One case, for the process that asks for it.")
    parser.add_argument("--case", choices=CASES, required=True)
    parser.add_argument("--records", type=int, required=True)
    given = parser.parse_args()
    print(json.dumps(measured(given.case, given.records)))
