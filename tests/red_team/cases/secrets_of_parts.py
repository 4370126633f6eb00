"""A secret for each small part of a file: a map, a shift of codes or an addition of its own for each stratum, for each
run of rows, for each band of an amount. One map of the whole file finds nobody; a map for each part finds everybody.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, Data, adult, census, files_of, nhanes

Floats = np.ndarray
Parts = np.ndarray  # (n,) which part each record is in

_NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")
_LOOKED_FOR = 300


def survey(people: int = 3_000) -> Data:
    return nhanes(people)


def amounts() -> Data:
    frame, variables = census()
    return frame[list(CENSUS)].astype(float), variables


def census_survey(people: int = 6_000) -> Data:
    """Numbers of Adult, jittered so that no value is unique by its digits, and three categories."""
    frame, variables = adult(people)
    numbers = {name: frame[name].astype(float) for name in _NUMBERS}
    kept = pd.DataFrame(numbers) + np.random.default_rng(1).random((len(frame), len(_NUMBERS)))
    labels = ("sex", "race", "marital_status")
    kept = pd.concat([kept, frame[list(labels)]], axis=1)
    described = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in _NUMBERS}
    return kept, described | {name: variables[name] for name in labels}


def with_strata(data: Data, strata: int = 18) -> Data:
    """A nominal variable of so many regions, a key."""
    frame, variables = data
    labels = [f"region {at}" for at in range(strata)]
    region = pd.Series(np.random.default_rng(2).choice(labels, len(frame))).astype(pd.CategoricalDtype(labels))
    key = Variable(name="region", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=tuple(labels))
    return frame.assign(region=region), {**variables, "region": key}


def by_region(frame: pd.DataFrame) -> Parts:
    return frame["region"].cat.codes.to_numpy()


def by_labels(frame: pd.DataFrame) -> Parts:
    """Of Adult: two sexes by race and marital status, no one of which tells the part."""
    return frame.groupby(["sex", "race", "marital_status"], observed=True).ngroup().to_numpy()


def by_rows(size: int) -> Callable[[pd.DataFrame], Parts]:
    return lambda frame: np.arange(len(frame)) // size


def by_uneven_rows(frame: pd.DataFrame) -> Parts:
    """Batches of 90 to 180 rows, as they came in."""
    ends = np.cumsum(np.random.default_rng(6).integers(90, 181, len(frame) // 90))
    return np.searchsorted(ends, np.arange(len(frame)), "right")


def by_bands(name: str, bands: int) -> Callable[[pd.DataFrame], Parts]:
    def parts(frame: pd.DataFrame) -> Parts:
        return (frame[name].rank(method="min", pct=True).to_numpy() * bands * 0.9999).astype(int)

    return parts


def turned(values: Floats, parts: Parts) -> Floats:
    """Turned at random within each part, in the space where all variables are uncorrelated."""
    spread, axes = np.linalg.eigh(np.cov(values, rowvar=False))
    root = axes * np.sqrt(np.maximum(spread, 1e-9 * spread.max()))
    white, made = (values - values.mean(axis=0)) @ np.linalg.pinv(root).T, np.empty_like(values)
    for part in np.unique(parts):
        normal = np.random.default_rng([7, part]).normal(size=(values.shape[1],) * 2)
        made[parts == part] = white[parts == part] @ np.linalg.qr(normal)[0]
    return values.mean(axis=0) + made @ root.T


def added(values: Floats, parts: Parts) -> Floats:
    """Three standard deviations of noise, drawn once for each part; and a tenth for each record."""
    rng = np.random.default_rng(8)
    of_part = rng.normal(scale=3.0, size=(parts.max() + 1, values.shape[1]))[parts]
    return values + values.std(axis=0) * (of_part + rng.normal(scale=0.1, size=values.shape))


Change = Callable[[Floats, Parts], Floats]


def by(change: Change, of: Callable[[pd.DataFrame], Parts], data: Callable[[], Data], without: str = "") -> Comparison:
    """without : a variable that is not released"""
    frame, variables = data()
    numbers = [name for name in frame if pd.api.types.is_float_dtype(frame[name])]
    masked = frame.copy()
    masked[numbers] = change(frame[numbers].to_numpy(float), of(frame))
    released = {name: each for name, each in variables.items() if name != without}
    return files_of(frame, masked[list(released)], variables, released)


def map_of_part(of: Callable[[pd.DataFrame], Parts], known: int = 40) -> Attack:
    """Whose record is nearest to what least squares from so many others of the part expect, among all of the part."""

    def attack(files: Comparison) -> float:
        numbers = [name for name in files.original if pd.api.types.is_float_dtype(files.original[name])]
        before, after = (each[numbers].to_numpy(float) for each in (files.original, files.masked))
        before, parts = (before - before.mean(axis=0)) / before.std(axis=0), of(files.original)
        people, right = np.random.default_rng(9).choice(len(before), _LOOKED_FOR, replace=False), 0
        for person in people:
            inside = np.flatnonzero(parts == parts[person])
            learners = inside[inside != person][:known]
            if not len(learners):
                continue  # nobody to learn from
            design = np.column_stack([np.ones(len(before)), before])
            slopes = np.linalg.lstsq(design[learners], after[learners], rcond=None)[0]
            left = after[learners] - design[learners] @ slopes
            width = np.maximum(left.std(axis=0), 1e-6 * after.std(axis=0))
            apart = (((after[inside] - design[person] @ slopes) / width) ** 2).sum(axis=1)
            right += int(inside[apart.argmin()] == person)
        return right / len(people)

    return attack


def strata_of_survey(people: int = 3_000) -> Data:
    return with_strata(survey(people))


_LEARNED = ("learned_linkage", "learned_claims")

CASES = tuple(
    Case(
        name, partial(by, change, of, data, without), map_of_part(of, known), reaches, chance=0.05, rules=_LEARNED,
        policy="perturbed-file", more=more, maps=True,
    )
    for name, change, of, data, without, known, reaches, more in (
        ("turned in each of 18 regions", turned, by_region, partial(strata_of_survey, 1_200), "", 40, 0.9, False),
        ("turned in each of 18 regions that are removed", turned, by_region, strata_of_survey, "region", 40, 0.9, True),
        ("turned in each batch of 100 rows", turned, by_rows(100), survey, "", 40, 0.9, True),
        ("turned in each batch of 90 to 180 rows", turned, by_uneven_rows, partial(survey, 1_000), "", 40, 0.9, False),
        ("turned in each tenth of amounts", turned, by_bands("AGI", 10), amounts, "", 40, 0.9, True),
        ("turned in cells of three variables", turned, by_labels, partial(census_survey, 2_400), "", 30, 0.5, False),
        ("one addition for each batch of 50 rows", added, by_rows(50), survey, "", 20, 0.5, True),
    )
)  # fmt: skip
