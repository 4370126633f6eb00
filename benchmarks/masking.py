"""Time of the perturbative masking methods, beside the plain way of writing each.

The peers are the algorithms as they are published, written as one would with NumPy and pandas; both sides run in the
same process, one after the other, so that the ratio holds on any machine. Run `python -m benchmarks.masking`; with
`--peers-at-100k` the slow peers run on 100,000 records too (minutes).
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from sluice.masking.additive_noise import AdditiveNoise
from sluice.masking.mdav import Microaggregation
from sluice.masking.microaggregation import standardised
from sluice.masking.rank_swapping import RankSwapping
from sluice.masking.spectral_swapping import SpectralSwapping
from sluice.masking.step import MaskingStep
from sluice.variables import Kind, Variable

COLUMNS = 10
Peer = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]


def factor_data(records: int) -> pd.DataFrame:
    """Ten columns with three factors behind them."""
    rng = np.random.default_rng(records)
    values = rng.normal(size=(records, 3)) @ rng.normal(size=(3, COLUMNS)) + 0.3 * rng.normal(size=(records, COLUMNS))
    return pd.DataFrame(values, columns=[f"x{number}" for number in range(COLUMNS)])


def mdav_by_scanning(frame: pd.DataFrame, rng: np.random.Generator, k: int = 3) -> pd.DataFrame:
    """MDAV as published: every distance at every step."""
    records = standardised(frame.to_numpy())
    groups, left, number = np.zeros(len(records), dtype=int), np.arange(len(records)), 0
    while len(left) >= 2 * k:
        seed = ((records[left] - records[left].mean(axis=0)) ** 2).sum(axis=1).argmax()
        for _ in range(2 if len(left) >= 3 * k else 1):
            distances = ((records[left] - records[left[seed]]) ** 2).sum(axis=1)
            nearest = np.argpartition(distances, k - 1)[:k]
            groups[left[nearest]] = number
            number += 1
            left, distances = np.delete(left, nearest), np.delete(distances, nearest)
            seed = distances.argmax() if len(left) else 0
    groups[left] = number
    return frame.groupby(groups).transform("mean")


def rank_swap_in_python(frame: pd.DataFrame, rng: np.random.Generator, window: float = 0.05) -> pd.DataFrame:
    """Rank swapping as published: a loop over the ranks that lists the free ones within reach."""
    masked = frame.copy()
    reach = int(window * len(frame))
    for name in frame:
        ranked = frame[name].sort_values()
        values, free = ranked.to_numpy().copy(), np.ones(len(ranked), dtype=bool)
        for rank in range(len(values)):
            if free[rank]:
                free[rank] = False
                choices = np.flatnonzero(free[rank + 1 : rank + 1 + reach])
                if len(choices):
                    partner = rank + 1 + rng.choice(choices)
                    values[[rank, partner]] = values[[partner, rank]]
                    free[partner] = False
        masked.loc[ranked.index, name] = values
    return masked


def noise_by_multivariate_normal(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame + rng.multivariate_normal(np.zeros(COLUMNS), 0.1 * np.cov(frame.to_numpy().T), size=len(frame))


def spectral_swap_by_svd(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Spectral swapping as published: U, D and V, and a permutation of each column of U."""
    means, deviations = frame.mean(), frame.std()
    u, d, v = np.linalg.svd(((frame - means) / deviations).to_numpy(), full_matrices=False)
    permuted = np.column_stack([rng.permutation(column) for column in u.T])
    return pd.DataFrame((permuted * d) @ v, columns=frame.columns) * deviations + means


def cases(columns: tuple[str, ...]) -> list[tuple[str, MaskingStep, Peer, bool]]:
    """Name, step, peer, and whether the peer takes minutes on 100,000 records."""
    return [
        ("MDAV, k = 3", Microaggregation(columns=columns, k=3), mdav_by_scanning, True),
        ("rank swapping, 5 %", RankSwapping(columns=columns, window=0.05), rank_swap_in_python, True),
        (
            "correlated noise, 10 %",
            AdditiveNoise(columns=columns, kind="correlated", amount=0.1),
            noise_by_multivariate_normal,
            False,
        ),
        ("spectral swapping", SpectralSwapping(columns=columns), spectral_swap_by_svd, False),
    ]


def seconds(run: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - start


def main(quick: bool = False, slow_peers: bool = False) -> None:
    print(f"{'method':<24} {'records':>9} {'Sluice':>10} {'plain':>10} {'ratio':>8}")
    for records in (100, 10_000) if quick else (100, 10_000, 100_000):
        frame = factor_data(records)
        variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in frame}
        for name, step, peer, slow in cases(tuple(frame.columns)):
            rng = np.random.default_rng(0)
            ours = seconds(step.mask, frame, variables, rng)
            if records == 100:  # compiles, or loads what was compiled before
                continue
            if slow and records > 10_000 and not slow_peers:
                print(f"{name:<24} {records:>9,} {ours:>8.3f} s {'not run':>10}")
                continue
            plain = seconds(peer, frame, rng)
            print(f"{name:<24} {records:>9,} {ours:>8.3f} s {plain:>8.3f} s {plain / ours:>7.1f}x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Times of the perturbative masking methods.")
    parser.add_argument("--peers-at-100k", action="store_true", help="run the slow peers on 100,000 records too")
    main(slow_peers=parser.parse_args().peers_at_100k)
