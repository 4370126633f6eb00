"""One of several maps for each record, and nothing that is known or released says which: told by a digit of a rank, a
ratio, the parity of three signs, a secret draw, an angle that turns with the row; or a map of each column, or of two,
in pieces.

One map finds nobody, nor does a map of each part that anybody would try. But whoever knows the pairs of some people
needs not know why a record has its map: a person's record is near one of the few places where some map expects it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import Floats, found, from_pieces, of_several_maps
from tests.red_team.case import Case
from tests.red_team.cases.secrets_of_parts import census_survey, turned
from tests.red_team.files import Data, files_of, nhanes

_SECRET = 11
_MANY = partial(of_several_maps, maps=14)


def survey(people: int = 2_000) -> Data:
    frame, variables = nhanes(people)
    names = list(frame)[:12]
    return frame[names], {name: variables[name] for name in names}


def households() -> Data:
    """Three people each on average, of 1,000 households."""
    frame, variables = nhanes(3_000)
    names = list(frame)[:8]
    of = np.sort(np.random.default_rng(_SECRET).integers(0, 1_000, len(frame)))
    described = {name: variables[name] for name in names}
    described["household"] = Variable(name="household", kind=Kind.TEXT, role=Role.HOUSEHOLD)
    return frame[names].assign(household=pd.Series(of).astype(str)), described


def totals_of_households(parts: int) -> Comparison:
    """Totals of each household, by one of so many secret maps for each, shown by all its members."""
    frame, variables = households()
    names = [name for name in frame if name != "household"]
    totals = frame.groupby("household")[names].transform("sum").to_numpy(float)
    of = frame["household"].astype(int).to_numpy()
    made = turned(totals, np.random.default_rng(_SECRET).integers(0, parts, of.max() + 1)[of])
    return files_of(frame, pd.DataFrame(made, columns=names), variables, {name: variables[name] for name in names})


def by_totals(files: Comparison) -> float:
    """As `of_several_maps`, of whoever knows the whole household."""
    names = [name for name in files.original if name != "household"]
    totals = files.original.groupby("household")[names].transform("sum")
    return of_several_maps(replace(files, recoded=totals))


def sparse() -> Data:
    """Six numbers of Adult."""
    frame, variables = census_survey()
    names = [name for name in frame if pd.api.types.is_float_dtype(frame[name])]
    return frame[names].head(4_000), {name: variables[name] for name in names}


def by_digit(values: Floats) -> Floats:
    """The last digit of a rank."""
    return turned(values, _places(values[:, 3]) % 10)


def by_ratio(values: Floats) -> Floats:
    """The quarter in which a ratio of two variables is."""
    return turned(values, _places(values[:, 0] / (np.abs(values[:, 1]) + 1)) * 4 // len(values))


def by_parity(values: Floats) -> Floats:
    """Whether an odd number of three variables lies above its median."""
    return turned(values, (values[:, :3] > np.median(values[:, :3], axis=0)).sum(axis=1) % 2)


def by_secret(values: Floats, maps: int) -> Floats:
    """Drawn for each record."""
    return turned(values, np.random.default_rng(_SECRET).integers(0, maps, len(values)))


def by_angle(values: Floats, turns: float) -> Floats:
    """In whitened space all pairs of axes are turned by one angle, which goes round so many times a row."""
    spread, axes = np.linalg.eigh(np.cov(values, rowvar=False))
    root = axes * np.sqrt(np.maximum(spread, 1e-9 * spread.max()))
    white = (values - values.mean(axis=0)) @ np.linalg.pinv(root).T
    mixed = np.linalg.qr(np.random.default_rng(_SECRET).normal(size=(values.shape[1],) * 2))[0]
    at, made = white @ mixed, (white @ mixed).copy()
    angle = 2 * np.pi * turns * np.arange(len(values))
    for one in range(0, values.shape[1] - 1, 2):
        made[:, one] = np.cos(angle) * at[:, one] - np.sin(angle) * at[:, one + 1]
        made[:, one + 1] = np.sin(angle) * at[:, one] + np.cos(angle) * at[:, one + 1]
    return values.mean(axis=0) + made @ mixed.T @ root.T


def in_teeth(values: Floats, teeth: int) -> Floats:
    """What is left of each value beyond the last of so many steps, and a little noise; under the next one's name."""
    left = np.roll(values % (np.ptp(values, axis=0) / teeth), 1, axis=1)
    return left + 0.01 * left.std(axis=0) * np.random.default_rng(_SECRET).normal(size=values.shape)


def in_teeth_of_two(values: Floats, teeth: int) -> Floats:
    """The same of the sums of two variables that stand beside each other, in units of their spread."""
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    return in_teeth(values + np.roll(values, -1, axis=1), teeth)


def from_pieces_of_two(files: Comparison) -> float:
    """As `from_pieces`, by the sum of whichever two variables tells a number best."""
    before, after = (frame.to_numpy(float) for frame in (files.original, files.masked))
    before = (before - before.mean(axis=0)) / before.std(axis=0)
    sums = [before[:, one] + before[:, other] for one, other in combinations(range(before.shape[1]), 2)]
    learners, people = np.arange(len(before) // 2), np.arange(len(before) // 2, len(before))[:400]
    near = np.zeros((len(people), len(after)))
    for released in after.T:
        orders = [learners[np.argsort(each[learners])] for each in sums]
        far = [float(np.median(np.abs(np.diff(released[order])))) for order in orders]
        best, order = sums[int(np.argmin(far))], orders[int(np.argmin(far))]
        expected = np.interp(best[people], best[order], released[order])
        near += np.exp(-np.abs(expected[:, None] - released[None, :]) / (0.03 * released.std()))
    return found(near, people)


def _places(values: Floats) -> np.ndarray:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


def by(change: Callable[[Floats], Floats], data: Callable[[], Data], noise: float = 0.0) -> Comparison:
    frame, variables = data()
    numbers = [name for name in frame if pd.api.types.is_float_dtype(frame[name])]
    made = change(frame[numbers].to_numpy(float))
    made = made + noise * made.std(axis=0) * np.random.default_rng(_SECRET).normal(size=made.shape)
    masked = frame.copy()
    masked[numbers] = made
    return files_of(frame, masked, variables)


_OF_PEOPLE = tuple(
    Case(
        name, partial(by, change, data, noise), attack, reaches, chance=0.05,
        rules=("learned_linkage", "learned_claims"), policy="perturbed-file", more=more, maps=True,
    )
    for name, change, data, noise, attack, reaches, more in (
        ("turned by a digit of a rank", by_digit, survey, 0.0, _MANY, 0.9, True),
        ("turned by a ratio", by_ratio, survey, 0.0, of_several_maps, 0.9, True),
        ("turned by the parity of three signs", by_parity, partial(survey, 800), 0.1, of_several_maps, 0.5, False),
        ("one of three secret maps", partial(by_secret, maps=3), survey, 0.0, of_several_maps, 0.9, True),
        ("one of eight secret maps", partial(by_secret, maps=8), survey, 0.0, _MANY, 0.9, True),
        ("one of four maps of a census", partial(by_secret, maps=4), census_survey, 0.02, of_several_maps, 0.5, True),
        ("an angle that turns slowly", partial(by_angle, turns=0.015), survey, 0.0, _MANY, 0.8, True),
        ("an angle that turns fast", partial(by_angle, turns=0.13), survey, 0.0, _MANY, 0.8, True),
        ("values in teeth", partial(in_teeth, teeth=40), partial(survey, 1_200), 0.0, from_pieces, 0.5, False),
        ("sums of two in teeth", partial(in_teeth_of_two, teeth=12), sparse, 0.0, from_pieces_of_two, 0.5, True),
    )
)  # fmt: skip

_OF_HOUSEHOLDS = Case(
    "household totals by one of four secret maps", partial(totals_of_households, 4), by_totals, 0.2, chance=0.05,
    rules=("learned_linkage", "learned_claims"), policy="perturbed-file", more=True,
)  # fmt: skip

CASES = (*_OF_PEOPLE, _OF_HOUSEHOLDS)
