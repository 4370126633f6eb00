"""Who chooses the ruler: leaves out the variables that drown the others, or weighs ranks by examples.

Source: Fellegi and Sunter (1969) for the weights.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import own_is_nearest
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, census, files_of, masked_by

_ENDS = np.array([0, 0.0005, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0])


def noise(share: float, columns: tuple[str, ...], permuted: tuple[str, ...] = ()) -> Comparison:
    """Noise of so many standard deviations on some columns, others permuted."""
    frame, variables = census(600)
    rng = np.random.default_rng(11)
    moved = {name: frame[name] + share * frame[name].std() * rng.normal(size=len(frame)) for name in columns}
    mixed = {name: rng.permutation(frame[name].to_numpy()) for name in permuted}
    as_numbers = {name: variable.model_copy(update={"kind": Kind.CONTINUOUS}) for name, variable in variables.items()}
    return files_of(frame.astype(float), frame.assign(**moved, **mixed).astype(float), as_numbers)


def swapped(window: float) -> Comparison:
    return masked_by(census(600), [{"method": "rank_swapping", "columns": list(CENSUS), "window": window}])


def nearest_by(columns: tuple[str, ...]) -> Attack:
    """The nearest record by some columns, in units of the spread of the middle half."""

    def attack(files: Comparison) -> float:
        before, after = (file[list(columns)].to_numpy(float) for file in (files.original, files.masked))
        middle = np.subtract(*np.quantile(before, [0.75, 0.25], axis=0))
        spread = np.where(middle > 0, middle, before.std(axis=0))
        return own_is_nearest(before / spread, after / spread)

    return attack


def ranks_by_examples(files: Comparison) -> float:
    """Sums of logarithms of how often true pairs have such a difference of ranks, over how often any two records do.

    Learned on the people of even rows, tried on those of odd ones.
    """
    n = len(files.original)
    examples, people = np.arange(0, n, 2), np.arange(1, n, 2)
    total = np.zeros((len(people), n))
    for name in CENSUS:
        before = pd.Series(files.original[name].to_numpy(float)).rank(pct=True).to_numpy()
        after = pd.Series(files.masked[name].to_numpy(float)).rank(pct=True).to_numpy()
        bins = np.searchsorted(_ENDS, np.abs(before[:, None] - after) - 1e-12)
        true = np.bincount(bins[examples, examples], minlength=len(_ENDS)) + 0.5
        any_two = np.bincount(bins[examples].ravel(), minlength=len(_ENDS)) + 0.5
        total += np.log(true / true.sum() * any_two.sum() / any_two)[bins[people]]
    return float((total.argmax(axis=1) == people).mean())


_LAST = CENSUS[-3:]
_FIRST = CENSUS[:3]

_LINKAGE = ("learned_linkage",)


def left(permuted: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in CENSUS if name not in permuted)


CASES = (
    *(
        Case(
            f"noise of {share:g} SD on nine columns of Census, three permuted ({permuted[0]} ...)",
            partial(noise, share, left(permuted), permuted), nearest_by(left(permuted)), 0.5, 0.001, _LINKAGE,
            more=(share, permuted) != (0.02, _FIRST),
        )
        for share, permuted in ((0.0105, _LAST), (0.02, _LAST), (0.02, _FIRST))
    ),
    *(
        Case(
            f"noise of {share:g} SD on all columns of Census",
            partial(noise, share, CENSUS), nearest_by(CENSUS), reaches, 0.001, _LINKAGE, more=share > 0.2,
        )
        for share, reaches in ((0.2, 0.28), (0.5, 0.05))
    ),
    *(
        Case(
            f"ranks of Census swapped over {window:g}, weighed by examples",
            partial(swapped, window), ranks_by_examples, reaches, 0.001, _LINKAGE, more=window < 0.2,
        )
        for window, reaches in ((0.15, 0.6), (0.2, 0.35))
    ),
)  # fmt: skip
