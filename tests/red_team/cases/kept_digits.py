"""The large part of every number comes from somebody else, and the last digits stay: no distance sees anything.

Two digits of each of ten numbers single nearly everybody out, for whoever thinks of looking at them. So does the time
of day of a date that was shifted by whole days.
"""

from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.variables import Kind, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import found
from tests.red_team.case import Case
from tests.red_team.files import CENSUS, census, files_of


def torn_above(digits: int, columns: int) -> Comparison:
    """Permuted, but for the last digits; what was 0 stays 0, as nobody would think it odd."""
    frame, variables = census(600)
    rng, masked = np.random.default_rng(4), frame.copy()
    for name in CENSUS:
        values, unit = frame[name].to_numpy(np.int64), 10**digits
        moved = rng.permutation(values)
        if name in CENSUS[:columns]:
            moved = moved // unit * unit + values % unit
        masked[name] = pd.array(moved, dtype=frame[name].dtype)
    return Comparison(frame, frame, masked, None, variables, variables, np.random.default_rng(1))


def same_endings(files: Comparison) -> float:
    """Whose own record has the most endings in common with them, of two digits."""
    before, after = (frame[list(CENSUS)].to_numpy(np.int64) % 100 for frame in (files.original, files.masked))
    scores = (before[:, None, :] == after[None, :, :]) & (before[:, None, :] > 0)
    return found(scores.sum(axis=2).astype(float), np.arange(len(before)))


def shifted_dates(people: int = 2_000) -> Comparison:
    """Admissions to the second, each moved by up to two years of days, beside an age that was permuted."""
    rng = np.random.default_rng(6)
    seconds = rng.integers(0, 4 * 365 * _DAY, people)
    original = pd.DataFrame({"admission": _times(seconds), "age": rng.integers(0, 95, people)})
    moved = _times(seconds + rng.integers(-730, 731, people) * _DAY)
    kinds = {"admission": Kind.DATE, "age": Kind.INTEGER}
    variables = {name: Variable(name=name, kind=kind) for name, kind in kinds.items()}
    masked = pd.DataFrame({"admission": moved, "age": rng.permutation(original["age"])})
    return files_of(original, masked, variables)


def dates_of_other_weeks(people: int = 1_500, dates: int = 9) -> Comparison:
    """Days of nine events, each moved by itself by 20 to 300 weeks."""
    rng = np.random.default_rng(9)
    days = rng.integers(0, 4_000, (people, dates))
    moved = days + 7 * rng.integers(20, 301, days.shape)
    names = [f"event_{number}" for number in range(dates)]
    variables = {name: Variable(name=name, kind=Kind.DATE) for name in names}
    files = (pd.DataFrame({name: _times(_DAY * column) for name, column in zip(names, each.T, strict=True)})
             for each in (days, moved))  # fmt: skip
    return files_of(*files, variables)


def same_weekdays(files: Comparison) -> float:
    """Whose own record has the most days of the week in common with them."""
    before, after = (
        file.apply(lambda column: column.dt.day_of_week).to_numpy() for file in (files.original, files.masked)
    )
    return found((before[:, None, :] == after[None, :, :]).sum(axis=2).astype(float), np.arange(len(before)))


def _times(seconds: NDArray[np.int64]) -> pd.Series:
    return pd.Series(np.datetime64("2020-01-01", "us") + seconds.astype("timedelta64[s]"))


def same_times_of_day(files: Comparison) -> float:
    """Who has a time of day, to the second, that no other record has."""
    before, after = ((frame["admission"].astype("int64") // 10**6 % _DAY) for frame in (files.original, files.masked))
    return float(((before == after) & ~after.duplicated(keep=False)).mean())


_DAY = 86_400

_CLAIMS = ("learned_claims",)

CASES = (
    *(
        Case(
            f"permuted but for the last {digits} digits of {columns} numbers",
            partial(torn_above, digits, columns), same_endings, reaches, rules=_CLAIMS, policy="perturbed-file",
            more=digits > 2,
        )
        for digits, columns, reaches in ((2, 12, 0.8), (3, 5, 0.3))
    ),
    Case(
        "dates shifted by whole days, to the second",
        shifted_dates, same_times_of_day, 0.9, rules=_CLAIMS, policy="perturbed-file",
    ),
    Case(
        "dates moved by whole weeks", dates_of_other_weeks, same_weekdays, 0.9, rules=("learned_linkage",),
    ),
)  # fmt: skip
