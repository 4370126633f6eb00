"""Dates as a masking method needs them: as days on a line, and as years, quarters and months.

Days are counted from 1 January 1970, periods from the year 0, so that both are numbers that can be ranked.
"""

import re
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray

Period = Literal["year", "quarter", "month"]

_MICROSECONDS_A_DAY = 86_400_000_000
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def days(column: pd.Series) -> FloatArray:
    """The day of each date, with the time of day as a fraction; NaN where missing. Shape (n,)."""
    counted = column.to_numpy(dtype="datetime64[us]").astype(np.int64) / _MICROSECONDS_A_DAY
    return np.where(column.isna(), np.nan, counted)


def dates(numbers: FloatArray) -> npt.NDArray[np.datetime64]:
    """The dates that `days` made these numbers of, to the microsecond; NaT where NaN. Shape (n,)."""
    missing = np.isnan(numbers)
    whole = np.rint(np.where(missing, 0.0, numbers) * _MICROSECONDS_A_DAY).astype(np.int64)
    counted: npt.NDArray[np.datetime64] = whole.astype("datetime64[us]")
    counted[missing] = np.datetime64("NaT")
    return counted


def day_number(text: str) -> float | None:
    """The day of '2024-05-31', or of a longer ISO text without its time; None for any other text."""
    if not _DAY.fullmatch(text[:10]):
        return None
    try:
        return float(np.datetime64(text[:10], "D").astype(np.int64))
    except ValueError:  # 2024-02-30
        return None


def iso_day(number: float) -> str:
    """The day as ISO text, without a time."""
    return str(np.datetime64(int(np.floor(number)), "D"))


def periods(column: pd.Series, period: Period) -> FloatArray:
    """The number of each date's period; NaN where missing. Shape (n,)."""
    months = column.to_numpy(dtype="datetime64[M]").astype(np.int64) + 1970 * 12
    return np.where(column.isna(), np.nan, months // _MONTHS[period])


def period_of(text: str, period: Period) -> int:
    """The number of the period in which an ISO date lies."""
    return (int(text[:4]) * 12 + int(text[5:7]) - 1) // _MONTHS[period]


def period_label(number: int, period: Period) -> str:
    """'2024', '2024-Q2' or '2024-05'."""
    year, part = divmod(number, 12 // _MONTHS[period])
    if period == "year":
        return str(year)
    return f"{year:04d}-Q{part + 1}" if period == "quarter" else f"{year:04d}-{part + 1:02d}"
