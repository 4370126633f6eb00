"""Reference periods: the day, week, month, quarter, half-year or year that data are about.

Source: the time formats of SDMX, "SDMX Technical Notes" (version 2.1), section 4.2: 2025, 2025-S1, 2025-Q3, 2025-03 or
2025-M03, 2025-W05 and 2025-03-31. Weeks are those of ISO 8601. What length is meant is said beside, never guessed:
202503 is a month where months are asked for, and nothing else.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum


class Length(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    HALF_YEAR = "half_year"
    YEAR = "year"


@dataclass(frozen=True)
class Period:
    """`text` is its one spelling; `first` and `last` are days that belong to it."""

    text: str
    first: date
    last: date


EXAMPLES: Mapping[Length, str] = {
    Length.DAY: "2025-03-31",
    Length.WEEK: "2025-W05",
    Length.MONTH: "2025-03",
    Length.QUARTER: "2025-Q3",
    Length.HALF_YEAR: "2025-S1",
    Length.YEAR: "2025",
}

_YEAR = "([0-9]{4})"
_FORMS: Mapping[Length, str] = {
    Length.DAY: f"{_YEAR}-?([0-9]{{2}})-?([0-9]{{2}})",
    Length.WEEK: f"{_YEAR}-?W([0-9]{{2}})",
    Length.MONTH: f"{_YEAR}-?M?([0-9]{{2}})",
    Length.QUARTER: f"{_YEAR}-?Q([1-4])",
    Length.HALF_YEAR: f"{_YEAR}-?[SH]([12])",
    Length.YEAR: f"{_YEAR}(?:-A1)?",
}


def read_period(text: str, length: Length) -> Period:
    """The period of this length that a text names. Raises ValueError, which says what is allowed and not what came."""
    found = re.fullmatch(_FORMS[length], text)
    try:
        if found is None:
            raise ValueError
        return _MADE[length](*map(int, found.groups()))
    except (ValueError, OverflowError):
        raise ValueError(f"must be a {length.replace('_', '-')} such as {EXAMPLES[length]}") from None


def period_of_day(day: date, length: Length) -> Period:
    """The period of this length that a day belongs to."""
    match length:
        case Length.DAY:
            return _day(day.year, day.month, day.day)
        case Length.WEEK:
            return _week(*day.isocalendar()[:2])
        case Length.MONTH:
            return _month(day.year, day.month)
        case Length.QUARTER:
            return _quarter(day.year, (day.month + 2) // 3)
        case Length.HALF_YEAR:
            return _half_year(day.year, (day.month + 5) // 6)
    return _year(day.year)


def _day(year: int, month: int, day: int) -> Period:
    only = date(year, month, day)
    return Period(only.isoformat(), only, only)


def _week(year: int, week: int) -> Period:
    monday = date.fromisocalendar(year, week, 1)
    return Period(f"{year:04}-W{week:02}", monday, monday + timedelta(days=6))


def _month(year: int, month: int) -> Period:
    return _months(f"{year:04}-{month:02}", year, month, month)


def _quarter(year: int, quarter: int) -> Period:
    return _months(f"{year:04}-Q{quarter}", year, 3 * quarter - 2, 3 * quarter)


def _half_year(year: int, half: int) -> Period:
    return _months(f"{year:04}-S{half}", year, 6 * half - 5, 6 * half)


def _year(year: int) -> Period:
    return _months(f"{year:04}", year, 1, 12)


def _months(text: str, year: int, first: int, last: int) -> Period:
    return Period(text, date(year, first, 1), date(year, last, monthrange(year, last)[1]))


_MADE: Mapping[Length, Callable[..., Period]] = {
    Length.DAY: _day,
    Length.WEEK: _week,
    Length.MONTH: _month,
    Length.QUARTER: _quarter,
    Length.HALF_YEAR: _half_year,
    Length.YEAR: _year,
}
