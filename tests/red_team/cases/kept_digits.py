"""The large part of every number comes from somebody else, and the last digits stay: no distance sees anything.

Two digits of each of ten numbers single nearly everybody out, for whoever thinks of looking at them.
"""

import numpy as np
import pandas as pd

from policies.original_and_masked import OriginalAndMasked
from tests.red_team.attacks import found
from tests.red_team.case import Case
from tests.red_team.files import CENSUS, census


def torn_above(digits: int, columns: int) -> OriginalAndMasked:
    """Permuted, but for the last digits; what was 0 stays 0, as nobody would think it odd."""
    frame, variables = census()
    rng, masked = np.random.default_rng(4), frame.copy()
    for name in CENSUS:
        values, unit = frame[name].to_numpy(np.int64), 10**digits
        moved = rng.permutation(values)
        if name in CENSUS[:columns]:
            moved = moved // unit * unit + values % unit
        masked[name] = pd.array(moved, dtype=frame[name].dtype)
    return OriginalAndMasked(frame, frame, masked, None, variables, variables, np.random.default_rng(1))


def same_endings(files: OriginalAndMasked) -> float:
    """Whose own record has the most endings in common with them, of two digits."""
    before, after = (frame[list(CENSUS)].to_numpy(np.int64) % 100 for frame in (files.original, files.masked))
    scores = (before[:, None, :] == after[None, :, :]) & (before[:, None, :] > 0)
    return found(scores.sum(axis=2).astype(float), np.arange(len(before)))


CASES = tuple(
    Case(
        name=f"permuted but for the last {digits} digits of {columns} numbers",
        make=lambda digits=digits, columns=columns: torn_above(digits, columns),
        attack=same_endings,
        reaches=reaches,
        chance=0.01,
        rules=("learned_claims",),
        policy="perturbed-file",
    )
    for digits, columns, reaches in ((2, 12, 0.8), (3, 5, 0.3))
)
