"""Times of day in intervals that nest: quarters of an hour, hours, parts of the day."""

import re
from itertools import pairwise
from typing import ClassVar, Self

from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Variable

_DAY = 24 * 60  # minutes
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(:[0-5]\d)?")


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
