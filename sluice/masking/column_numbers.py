"""Columns as the numbers that a method computes with, and back: perturbed numbers, dates, dummy codes.

Means and noise turn whole numbers into fractions, take values out of the contract's bounds and out of a hierarchy's
leaves. `perturbed` says what then still holds; `stored` makes the values keep it.

Dates are days on a line, and years, quarters and months. Days are counted from 1 January 1970, periods from the year 0,
so that both are numbers that can be ranked.

The grain of numbers is the power of ten that all of them are multiples of: an income in whole dollars stays one.

Dummy coding: categories as columns of -1 and +1, and back through the inverse logit.

Source: Lasko and Vinterbo (2010), section III. Its worked example rounds an intermediate: (-2.5, -1.5, 0.41) gives
(.0883, .2123, .6995), where the text prints (.088, .212, .700).
"""

import math
import re
from collections.abc import Iterable
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.values import EXACT
from sluice.ground.variables import Kind, Variable

Period = Literal["year", "quarter", "month"]

_MICROSECONDS_A_DAY = 86_400_000_000
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_POWERS = range(6, -7, -1)
_ROUNDING = 8 * np.finfo(np.float64).eps
_EXACT = 2.0**50  # so many steps, from which every number is a multiple of anything
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

# Parameters of the methods that perturb numbers.
Round = Annotated[bool, Field(description="round integer variables to whole numbers; else they become continuous")]
Clip = Annotated[bool, Field(description="move values to the contract's bounds; else the bounds are dropped")]


def perturbed(variable: Variable, *, whole: bool, bounded: bool) -> Variable:
    """The description of a continuous or integer variable whose values were changed.

    whole   : the values are rounded to whole numbers, so an integer variable stays one; else it becomes continuous
    bounded : the values keep to the minimum and maximum; else both are dropped
    The hierarchy and the source's codes for 'missing' speak of original values and are dropped.
    """
    return variable.model_copy(
        update={
            "kind": Kind.INTEGER if whole and variable.kind is Kind.INTEGER else Kind.CONTINUOUS,
            "minimum": variable.minimum if bounded else None,
            "maximum": variable.maximum if bounded else None,
            "missing_codes": (),
            "hierarchy": None,
        }
    )


def stored(values: FloatArray, released: Variable) -> pd.Series:
    """`values` as a column of a typed frame: rounded if `released` is integer, clipped to its bounds if it has any.

    values : shape (n,), NaN where missing
    raises : PlanError when a value is too large for a 64-bit whole number or is no longer finite
    """
    lowest = -math.inf if released.minimum is None else float(released.minimum)
    highest = math.inf if released.maximum is None else float(released.maximum)
    whole = released.kind is Kind.INTEGER
    if whole:  # the nearest whole number may lie outside bounds that are fractions
        values, lowest, highest = np.rint(values), np.ceil(lowest), np.floor(highest)
    values = np.clip(values, lowest, highest)
    beyond = np.abs(values) >= (2.0**63 if whole else math.inf)
    if beyond.any():
        raise PlanError(f"the masked '{released.name}' has {beyond.sum()} values too large to be stored as numbers.")
    return pd.Series(values).astype("Int64") if whole else pd.Series(values)


def numbers(frame: pd.DataFrame, columns: Iterable[str]) -> FloatArray:
    """Numeric columns as one matrix, ordinal columns by position (0, 1, ...); NaN where missing. Shape (n, columns).

    Raises PlanError for whole numbers beyond 2^53, whose last digits a float64 does not hold.
    """
    return np.column_stack([_positions(frame[name]) for name in columns])


def _positions(column: pd.Series) -> FloatArray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    read = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_integer_dtype(column.dtype) and (beyond := int((np.abs(read) > EXACT).sum())):
        raise PlanError(
            f"'{column.name}' holds whole numbers beyond 2^53 ({beyond}), with which no method computes to the last "
            "digit. Declare it nominal if they name something; else use a larger unit."
        )
    return read


def grain(values: FloatArray) -> float:
    """The largest power of ten from 10^-6 to 10^6 of which all values are multiples; 0 where none is.

    values : shape (n,), finite
    cost   : O(n) for each power that is tried
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return 0.0
    for power in _POWERS:
        if largest / 10.0**power > _EXACT:
            return 0.0
        steps = values / 10.0**power if power >= 0 else values * 10.0**-power
        if np.all(np.abs(steps - np.rint(steps)) <= _ROUNDING * np.abs(steps)):
            return float(10.0**power)
    return 0.0


def on_grain(values: FloatArray, step: float) -> FloatArray:
    """The nearest multiples of `step`, a power of ten, written as decimals are; 0 leaves the values. Shape (n,)."""
    if step == 0:
        return values
    if step >= 1:
        return np.asarray(np.rint(values / step) * step)
    inverse = float(round(1 / step))  # a tenth is no binary number: to divide by 10 gives the number that is written
    return np.asarray(np.rint(values * inverse) / inverse)


def days(column: pd.Series) -> FloatArray:
    """The day of each date, with the time of day as a fraction; NaN where missing. Shape (n,)."""
    counted = column.to_numpy(dtype="datetime64[us]").astype(np.int64) / _MICROSECONDS_A_DAY
    return np.where(column.isna(), np.nan, counted)


def dates(numbers: FloatArray) -> npt.NDArray[np.datetime64]:
    """The dates that `days` made these numbers of, to the microsecond; NaT where NaN. Shape (n,)."""
    missing = np.isnan(numbers)
    whole = np.rint(np.where(missing, 0.0, numbers) * _MICROSECONDS_A_DAY).astype(np.int64)
    counted: npt.NDArray[np.datetime64] = whole.astype("datetime64[us]")
    counted[missing] = np.datetime64("NaT", "us")
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


def dummy_code(codes: IntArray, categories: int) -> FloatArray:
    """One column a category: +1 where the record has it, -1 elsewhere; NaN in every column where the code is -1.

    codes   : shape (n,), category numbers 0 .. categories - 1, or -1 for missing
    returns : shape (n, categories)
    """
    coded = np.where(codes[:, None] == np.arange(categories), 1.0, -1.0)
    coded[codes < 0] = np.nan
    return coded


def category_probabilities(coded: FloatArray) -> FloatArray:
    """The inverse logit of each coded value, normalised over a record's categories.

    coded   : shape (n, q), any finite values
    returns : shape (n, q), at least 0, each row adding up to 1
    """
    # By logarithms: far from zero the inverse logits of a whole row can vanish, and 0 / 0 is no probability.
    logarithms = -np.logaddexp(0.0, -coded)
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    probabilities: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return probabilities


def most_probable(probabilities: FloatArray) -> IntArray:
    """The category of largest probability in each row, the first of equals. Shape (n,)."""
    return np.asarray(np.argmax(probabilities, axis=1), dtype=np.int64)


def sampled(probabilities: FloatArray, rng: Generator) -> IntArray:
    """One category a row, drawn with the row's probabilities, never one of probability 0. Shape (n,)."""
    cumulative = np.cumsum(probabilities, axis=1)
    # The last sum is 1 only up to rounding, so the draw is scaled by it: it then stays below, never at the end.
    draws = rng.random(len(cumulative)) * cumulative[:, -1]
    return np.asarray((cumulative <= draws[:, None]).sum(axis=1), dtype=np.int64)
