"""Time of noise, rotation, shuffling and spectral swapping, beside the linear algebra and the draws that they rest on.

A method that decomposes a matrix and draws a normal deviate for every value cannot take less than that. The yardsticks
are a singular value decomposition, or covariances and their Cholesky factor, of the same matrix, plus as many normal
deviates; for random orthogonal matrices the deviates alone. The ratio tells how many times that a whole step takes,
from frame to frame: processor time, one BLAS thread, the best of five runs taken in turn. Shuffling sorts every column
twice, which no decomposition does. Run `python -m benchmarks noise`.
"""

from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from sluice.ground.variables import Kind, Variable
from sluice.masking.masking_step import MaskingStep
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.noise.lossy_compression import LossyCompression
from sluice.masking.noise.matrix_decomposition import MatrixDecomposition
from sluice.masking.noise.random_orthogonal_matrix import RandomOrthogonalMatrix
from sluice.masking.swapping.spectral_swapping import SpectralSwapping
from sluice.masking.synthesis.data_shuffling import DataShuffling


def factor_data(records: int, columns: int) -> pd.DataFrame:
    """Columns with three factors behind them."""
    rng = np.random.default_rng(records)
    values = rng.normal(size=(records, 3)) @ rng.normal(size=(3, columns)) + 0.3 * rng.normal(size=(records, columns))
    return pd.DataFrame(values, columns=[f"x{number}" for number in range(columns)])


def steps(names: tuple[str, ...]) -> list[tuple[str, MaskingStep]]:
    return [
        ("uncorrelated noise", AdditiveNoise(columns=names, amount=0.1)),
        ("correlated, corrected", AdditiveNoise(columns=names, amount=0.1, kind="correlated", corrected=True)),
        ("spectral, corrected", AdditiveNoise(columns=names, amount=0.1, kind="spectral", corrected="exact")),
        ("spectral swapping", SpectralSwapping(columns=names)),
        ("data shuffling", DataShuffling(columns=names)),
        ("shuffling, half given", DataShuffling(columns=names[::2], given=names[1::2])),
        ("ROMM, fully random", RandomOrthogonalMatrix(columns=names)),
        ("ROMM, strength 0.1", RandomOrthogonalMatrix(columns=names, strength=0.1)),
        ("matrix decomposition", MatrixDecomposition(columns=names, rank=3)),
        ("lossy compression", LossyCompression(columns=names, quality=80)),
    ]


def best_of(runs: int, sides: list[Callable[[], object]]) -> list[float]:
    """Seconds of the processor in the fastest run of each side, all of them once before any of them again."""
    taken = np.full((runs, len(sides)), np.inf)
    for run in range(runs):
        for number, side in enumerate(sides):
            begun = process_time()
            side()
            taken[run, number] = process_time() - begun
    return [float(seconds) for seconds in taken.min(axis=0)]


def main(quick: bool = False) -> None:
    sizes = [(5_000, 6), (100_000, 10)] if quick else [(5_000, 6), (100_000, 10), (1_000_000, 10)]
    print(f"{'method':<24} {'records':>9} {'Sluice':>9} {'SVD + draws':>18} {'Cholesky + draws':>18} {'draws':>18}")
    for records, columns in sizes:
        frame = factor_data(records, columns)
        variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in frame}
        values, rng = frame.to_numpy(), np.random.default_rng(0)
        methods = steps(tuple(frame))
        sides: list[Callable[[], object]] = [
            partial(rng.standard_normal, values.shape),
            partial(np.linalg.svd, values - values.mean(axis=0), full_matrices=False),
            partial(covariances_and_factor, values),
            *(partial(step.mask, frame, variables, rng) for _, step in methods),
        ]
        with threadpool_limits(limits=1):
            draws, svd, cholesky, *taken = best_of(5, sides)
        for (name, _), seconds in zip(methods, taken, strict=True):
            peers = [svd + draws, cholesky + draws, draws]
            columns_of_peers = " ".join(f"{peer:>9.3f} s {seconds / peer:>5.1f}x" for peer in peers)
            print(f"{name:<24} {records:>9,} {seconds:>7.3f} s {columns_of_peers}")


def covariances_and_factor(values: np.ndarray) -> np.ndarray:
    return np.linalg.cholesky(np.cov(values.T))


if __name__ == "__main__":
    main()
