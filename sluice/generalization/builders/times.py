"""Times: dates in weeks or months, quarters, years and decades; times of day in intervals that nest.

Weeks are those of ISO 8601: they begin on Monday and belong to the year of their Thursday, so that they nest in years
of whole weeks, but neither in months nor in calendar years.
"""

import re
from itertools import pairwise
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels
from sluice.ground.arrays import IntArray
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Variable

_DAY = 24 * 60  # minutes
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(:[0-5]\d)?")

Period = Literal["week", "week_year", "month", "quarter", "year", "decade"]
_WEEKS, _MONTHS = ("week", "week_year"), ("month", "quarter", "year", "decade")


class Periods(HierarchyBuilder):
    """Dates in ever longer periods: '2024-05', '2024-Q2', '2024', '2020 to 2029'; or '2024-W05', 'weeks of 2024'."""

    periods: tuple[Period, ...] = Field(
        min_length=1, description="from the shortest: of month, quarter, year, decade; or of week, week_year"
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.DATE,)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        order = _WEEKS if self.periods[0] in _WEEKS else _MONTHS
        for short, long in pairwise(self.periods):
            if long not in order or order.index(long) <= order.index(short):
                raise ValueError(
                    f"'{long}' does not hold whole periods of '{short}'; write some of {', '.join(_MONTHS)}, or of "
                    f"{', '.join(_WEEKS)}, in this order"
                )
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        days = np.array(leaves, dtype="datetime64[D]")
        return [_labels(days, period) for period in self.periods]


def _labels(days: "np.ndarray[tuple[int], np.dtype[np.datetime64]]", period: Period) -> list[str]:
    if period in _WEEKS:
        number = days.astype(np.int64)
        thursday = number - (number + 3) % 7 + 3  # 1 January 1970 was a Thursday
        years = _years(thursday.astype("datetime64[D]"))
        if period == "week_year":
            return [f"weeks of {year:04d}" for year in years]
        begin = (years - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
        return [f"{year:04d}-W{week:02d}" for year, week in zip(years, (thursday - begin) // 7 + 1, strict=True)]
    years = _years(days)
    if period == "decade":
        return [f"{year:04d} to {year + 9:04d}" for year in years // 10 * 10]
    if period == "year":
        return [f"{year:04d}" for year in years]
    months = days.astype("datetime64[M]").astype(np.int64) % 12
    if period == "quarter":
        return [f"{year:04d}-Q{month // 3 + 1}" for year, month in zip(years, months, strict=True)]
    return [f"{year:04d}-{month + 1:02d}" for year, month in zip(years, months, strict=True)]


def _years(days: "np.ndarray[tuple[int], np.dtype[np.datetime64]]") -> IntArray:
    years: IntArray = days.astype("datetime64[Y]").astype(np.int64) + 1970
    return years


class TimesOfDay(HierarchyBuilder):
    """Times such as 13:45 in intervals, '13:00 to 13:59'; all minutes of a day where no categories are declared."""

    times: tuple[int, ...] = Field(
        min_length=1,
        description="minutes of the intervals of each level, from the shortest; each holds whole ones of the last, and "
        "the day holds whole ones of each",
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NOMINAL, Kind.ORDINAL)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        wrong = self.times[0] < 1 or any(_DAY % width for width in self.times)
        if wrong or any(long <= short or long % short for short, long in pairwise(self.times)):
            got = ", ".join(map(str, self.times))
            raise ValueError(f"times must rise, each a multiple of the one before and a divisor of {_DAY}; got {got}")
        return self

    def leaves(self, variable: Variable) -> tuple[str, ...]:
        return variable.categories or tuple(map(_clock, range(_DAY)))

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        found = [_TIME.fullmatch(leaf) for leaf in leaves]
        others = found.count(None)
        if others:
            raise DocumentError(
                f"hierarchy of '{variable.name}': {others} of {len(leaves)} categories are not times of day "
                "such as 09:30"
            )
        minutes = [60 * int(time[1]) + int(time[2]) for time in found if time]
        return [[_interval(minute // width * width, width) for minute in minutes] for width in self.times]


def _interval(begin: int, width: int) -> str:
    return _clock(begin) if width == 1 else f"{_clock(begin)} to {_clock(begin + width - 1)}"


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
