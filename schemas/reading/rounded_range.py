"""The range of a column for a document that travels: rounded outward, so far that no end tells of few records."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.reading.column_proposal import MINIMUM_CELL, Proposal
from schemas.reading.missing_codes import known_span
from sluice.ground import values
from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Kind, Role
from sluice.reading.kind import ColumnSummary

_YEARS = (1850, 2150)  # of dates that may be anybody's
_UNCOUNTED = 10  # years, where days are too many to be counted


def rounded_range(proposed: Proposal, column: ColumnSummary) -> dict[str, Any]:
    """Minimum and maximum of numbers and dates; empty where there are none, or of too few records.

    Whole numbers of up to ten are rounded to the next, others by their first digit, days by the year: further where
    fewer records than the minimum cell lie within the last such step, since the oldest person is then told by it.
    """
    if column.known < MINIMUM_CELL or proposed.role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD):
        return {}
    counts = {label: times for label, times in column.labels.items() if label not in proposed.missing_codes}
    if proposed.kind.is_numeric:
        return _of_numbers(proposed, column, counts)
    if proposed.kind is Kind.DATE and _YEARS[0] <= int(column.first[:4]) <= int(column.last[:4]) <= _YEARS[1]:
        return _of_dates(column, counts)
    return {}


def _of_numbers(proposed: Proposal, column: ColumnSummary, counts: Mapping[str, int]) -> dict[str, Any]:
    smallest, largest = known_span(column, proposed.missing_codes)
    if smallest > largest:
        return {}
    span = largest - smallest or 1.0
    step = 10.0 ** math.floor(math.log10(span))
    read = values.read_numbers(pc.replace_substring(pa.array([*counts], pa.string()), ",", "."))
    known = read.is_valid().to_numpy(zero_copy_only=False)
    numbers = read.to_numpy(zero_copy_only=False)[known], np.fromiter(counts.values(), np.int64, len(counts))[known]
    upper = _step(numbers if known.any() else _counted(column.highest), largest, step, span)
    lower = _step(numbers if known.any() else _counted(column.lowest), smallest, step, span)
    natural = smallest >= 0 and smallest < lower  # nought says nothing of anyone
    minimum = 0.0 if natural else _below(smallest, lower)
    maximum = -_below(-largest, upper)
    for code in proposed.doubtful_codes:  # many have it; declared as the maximum it is meant, see checks/sentinels.py
        maximum = float(code.replace(",", "."))
    return {"minimum": float(f"{minimum:.12g}"), "maximum": float(f"{maximum:.12g}")}


def _of_dates(column: ColumnSummary, counts: Mapping[str, int]) -> dict[str, Any]:
    years: dict[float, int] = {}
    for label, times in counts.items():
        if found := re.match(r"[0-9]{4}(?=-)", label):
            years[float(found[0])] = years.get(float(found[0]), 0) + times
    first, last = int(column.first[:4]), int(column.last[:4])
    step = 1 if sum(years.values()) == column.known else _UNCOUNTED
    of_years = np.array(list(years), dtype=np.float64), np.array(list(years.values()), dtype=np.int64)
    before = int(_step(of_years if years else _counted(column.lowest), first, step, last - first))
    beyond = int(_step(of_years if years else _counted(column.highest), last, step, last - first))
    start = date(max(first // before * before, 1), 1, 1)
    end = date(min(last // beyond * beyond + beyond - 1, 9998), 12, 31)
    start = start.replace(year=max(start.year - before, 1)) if column.first == str(start) else start
    end = end.replace(year=min(end.year + beyond, 9998)) if column.last == str(end) else end
    return {"minimum": str(start), "maximum": str(end)}


def _counted(numbers: Sequence[float]) -> tuple[FloatArray, IntArray]:
    return np.array(numbers, dtype=np.float64), np.ones(len(numbers), dtype=np.int64)


def _step(counts: tuple[FloatArray, IntArray], end: float, step: float, span: float) -> float:
    """The narrowest of 1, 2, 5, 10 ... times `step` within which enough records lie from this end of the range on.

    counts : numbers, and how many records have each
    """
    numbers, times = counts
    for wider in _wider(step):
        near = times[np.abs(numbers - end) < wider].sum()
        if near >= MINIMUM_CELL or not len(numbers) or wider > span:
            return wider
    raise AssertionError


def _wider(step: float) -> Iterator[float]:
    while True:
        yield from (step, 2 * step, 5 * step)
        step *= 10


def _below(number: float, step: float) -> float:
    """The nearest multiple of `step` that is truly below."""
    return (math.ceil(number / step) - 1) * step
