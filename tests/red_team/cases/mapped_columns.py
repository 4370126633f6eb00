"""A map over several columns: every released column differs from the one of its name, and all together tell everything.

Whoever compares a variable with the column of its own name sees nothing. An intruder who knows the pairs of some people
predicts each released column from all that is known of a person.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.stats import norm

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import from_the_least_on, mapped, ranks
from tests.red_team.case import Case
from tests.red_team.files import CENSUS, Data, census, files_of, nhanes

Floats = np.ndarray


def turned(values: Floats) -> Floats:
    """Turned by 90 degrees in the space where all variables are uncorrelated: means and covariances stay."""
    spread, axes = np.linalg.eigh(np.cov(values, rowvar=False))
    root = axes * np.sqrt(np.maximum(spread, 1e-9 * spread.max()))
    white = (values - values.mean(axis=0)) @ np.linalg.pinv(root).T
    quarter = np.kron(np.eye(values.shape[1] // 2), np.array([[0.0, -1.0], [1.0, 0.0]]))
    mixed = np.linalg.qr(np.random.default_rng(3).normal(size=(values.shape[1], values.shape[1])))[0]
    return values.mean(axis=0) + white @ mixed @ quarter @ mixed.T @ root.T


def turned_ranks(values: Floats) -> Floats:
    """The normal scores turned at random, and each column given the original's values in the order of the turned."""
    scores = np.column_stack([norm.ppf(np.clip(ranks(each, each), 1e-6, 1 - 1e-6)) for each in values.T])
    random = np.linalg.qr(np.random.default_rng(4).normal(size=(values.shape[1], values.shape[1])))[0]
    order = np.argsort(np.argsort(scores @ random, axis=0, kind="stable"), axis=0)
    return np.take_along_axis(np.sort(values, axis=0), order, axis=0)


def one_factor(values: Floats, spread: float = 0.3) -> Floats:
    """Each record times a factor of its own."""
    return values * np.exp(spread * np.random.default_rng(5).normal(size=(len(values), 1)))


def one_shift(values: Floats) -> Floats:
    """To each record the same number of standard deviations is added in all variables."""
    return values + 2 * values.std(axis=0) * np.random.default_rng(6).normal(size=(len(values), 1))


def exchanged(values: Floats) -> Floats:
    """Each variable under the next one's name, with the next one's distribution and a little noise."""
    moved = np.roll(values, 1, axis=1)
    moved = moved + 0.05 * moved.std(axis=0) * np.random.default_rng(7).normal(size=values.shape)
    order = np.argsort(np.argsort(moved, axis=0, kind="stable"), axis=0)
    return np.take_along_axis(np.sort(values, axis=0), order, axis=0)


def ratios(values: Floats) -> Floats:
    """Each variable over the next one, but the last, which is the product of the first two; with noise of a tenth."""
    parts = values[:, :-1] / (np.abs(values[:, 1:]) + 0.01 * np.median(np.abs(values), axis=0)[1:])
    made = np.column_stack([parts, values[:, 0] * values[:, 1]])
    return made * np.exp(0.1 * np.random.default_rng(8).normal(size=made.shape))


def blocks(values: Floats) -> Floats:
    """Two halves of the variables, each turned by itself."""
    half = values.shape[1] // 4 * 2
    return np.column_stack([turned(values[:, :half]), turned(values[:, half:])])


def dealt_out(values: Floats) -> Floats:
    """Each record's own numbers under its variables' names, dealt out anew for each record."""
    return np.take_along_axis(values, np.random.default_rng(9).random(values.shape).argsort(axis=1), axis=1)


def dealt_out_ranks(values: Floats, mirrored: float = 0.0) -> Floats:
    """Ranks dealt out so, each given the value of that rank in its new column; some are counted from the other end."""
    random = np.random.default_rng(10)
    places = np.column_stack([ranks(each, each) for each in values.T])
    places = np.where(random.random(values.shape) < mirrored, 1 - places, places)
    places = np.take_along_axis(places, random.random(values.shape).argsort(axis=1), axis=1)
    order = np.argsort(np.argsort(places + 1e-9 * random.random(values.shape), axis=0), axis=0)
    return np.take_along_axis(np.sort(values, axis=0), order, axis=0)


def mirrored_and_dealt_out_ranks(values: Floats) -> Floats:
    return dealt_out_ranks(values, mirrored=0.5)


def by(change: Callable[[Floats], Floats], data: Callable[[], Data]) -> Comparison:
    frame, variables = data()
    masked = frame.astype(float)
    masked[list(masked)] = change(masked.to_numpy(float))
    return files_of(frame.astype(float), masked, variables)


def survey() -> Data:
    return nhanes(700)


def amounts() -> Data:
    frame, variables = census(600)
    return frame[list(CENSUS)], variables


_LEARNED = ("learned_linkage", "learned_claims")
_SCORES, _LOGS = partial(mapped, scale="normal scores"), partial(mapped, scale="logarithms")

CASES = tuple(
    Case(
        f"{change.__name__.replace('_', ' ')}: {data.__name__}",
        partial(by, change, data), attack, reaches, rules=_LEARNED, policy="perturbed-file", more=more,
        maps=change in (turned, turned_ranks),
    )
    for change, data, attack, reaches, more in (
        (turned, survey, partial(mapped, known=40), 0.9, False),
        (turned, amounts, mapped, 0.9, True),
        (turned_ranks, survey, _SCORES, 0.5, False),
        (one_factor, nhanes, _LOGS, 0.5, True),
        (one_shift, nhanes, mapped, 0.5, True),
        (exchanged, amounts, _SCORES, 0.5, False),
        (ratios, nhanes, _LOGS, 0.5, True),
        (blocks, nhanes, mapped, 0.9, True),
        (dealt_out, amounts, from_the_least_on, 0.9, False),
        (dealt_out_ranks, nhanes, partial(from_the_least_on, by="ranks"), 0.9, True),
        (mirrored_and_dealt_out_ranks, nhanes, partial(from_the_least_on, by="distances"), 0.5, True),
    )
)  # fmt: skip
