"""Some amounts are released on another scale, nearly exactly: reversed, or as logarithms. All others stand for nobody.

Differences of values, on whatever grid, do not see it. An intruder compares the order of both files.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import own_is_nearest
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, census, files_of, masked_by

Change = Callable[[np.ndarray], np.ndarray]


def reversed_order(values: np.ndarray) -> np.ndarray:
    return values.max() - values


def reciprocal(values: np.ndarray) -> np.ndarray:
    return 1e9 / (1e4 + values)


def rescaled(columns: tuple[str, ...], change: Change, noise: float) -> Comparison:
    """These amounts changed, with noise of so large a share of each; the others by spectral swapping."""
    frame, variables = census(600)
    masked = masked_by(census(600), [{"method": "spectral_swapping", "columns": list(CENSUS)}]).masked.astype(float)
    rng = np.random.default_rng(8)
    for name in columns:
        masked[name] = change(frame[name].to_numpy(float)) * (1 + noise * rng.standard_normal(len(frame)))
    return files_of(frame, masked, variables)


def nearest_by_rank(columns: tuple[str, ...]) -> Attack:
    """The record whose ranks from above are nearest to the person's from below."""

    def attack(files: Comparison) -> float:
        before = files.original[list(columns)].rank().to_numpy(float)
        return own_is_nearest(before, files.masked[list(columns)].rank(ascending=False).to_numpy(float))

    return attack


_LEARNED = ("learned_linkage", "learned_claims")

CASES = tuple(
    Case(
        f"{len(columns)} variables of Census in {change.__name__.replace('_', ' ')}, noise of {noise:g} of each",
        partial(rescaled, columns, change, noise), nearest_by_rank(columns), reaches, rules=rules,
        policy="perturbed-file", more=change is reciprocal,
    )
    for columns, change, noise, reaches, rules in (
        (CENSUS[:5], reversed_order, 0.01, 0.9, _LEARNED),
        (CENSUS[:3], reciprocal, 0.01, 0.3, _LEARNED),
        (CENSUS[:1], reversed_order, 0.0, 0.95, ("unique_values",)),
    )
)  # fmt: skip
