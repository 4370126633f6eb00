"""Dates that a file writes in another format than 2024-12-31: which formats read every value of a column.

Where several do, as all days are within the first twelve of a month, what the other columns of the file write decides;
else a column in which one of the two numbers is always the same has the first of each month. What is then left open is
for a person to say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.reading.usual_names import is_called_a_day
from sluice.ground import values
from sluice.ground.date_format import USUAL, in_iso
from sluice.ground.variables import Kind
from sluice.reading.kind import ColumnSummary

_LOOKED_AT = 1000  # different values, by which a format is left aside
_ENOUGH = 10  # different values of digits alone, before they are taken for dates
_YEARS = (1850, 2150)  # within which digits alone may be dates


@dataclass(frozen=True)
class Written:
    """How a column writes its dates: the format that is proposed first, then others that read every value as well;
    and what the column is when it is read so."""

    formats: tuple[str, ...]
    column: ColumnSummary


class WrittenDates:
    """Follows one column as each format that reads it, in bounded memory."""

    def __init__(self, name: str, summary: Callable[[], ColumnSummary]) -> None:
        self._name, self._summary = name, summary
        self._read: dict[str, ColumnSummary] | None = None  # None until a value came

    def add(self, series: "pd.Series[Any]") -> None:
        """Look at some more records. O(n) where a format reads half of the first values, else a few of them."""
        if self._read == {}:
            return
        array = values.plain_array(series)
        if not (values.is_text(array) or pa.types.is_integer(array.type)):
            self._read = {}
            return
        encoded = values.trimmed_texts(array).dictionary_encode()
        if self._read is None:
            known = encoded.dictionary.drop_null()[:_LOOKED_AT]
            if not len(known):
                return
            half = len(known) / 2
            decimals = (
                pc.sum(values.fullmatch(known, "[+-]?[0-9]*[.,][0-9]+")).as_py() > half
            )  # cheaper than each format
            years = not decimals and pc.sum(pc.match_substring_regex(known, "[0-9]{4}")).as_py() >= half
            fit = [each for each in USUAL if years and pc.sum(_dates(known, each).is_valid()).as_py() >= half]
            self._read = {each: self._summary() for each in fit}
        for written, summary in self._read.items():
            read = _dates(encoded.dictionary, written)
            texts = pc.coalesce(read, encoded.dictionary).take(encoded.indices)
            summary.add(pd.Series(texts, dtype=pd.ArrowDtype(pa.string())))

    def found(self) -> dict[str, ColumnSummary]:
        """The formats that read every value but the marks for missing, with what the column then is."""
        for summary in (self._read or {}).values():
            summary.settle()
        return {
            written: column
            for written, column in (self._read or {}).items()
            if column.kind is Kind.DATE and (any(mark in written for mark in "-./ N") or self._are_dates(column))
        }

    def _are_dates(self, column: ColumnSummary) -> bool:
        """Whether digits alone are dates: by the column's name, or as so many are."""
        within = _YEARS[0] <= int(column.first[:4]) <= int(column.last[:4]) <= _YEARS[1]
        return within and (is_called_a_day(self._name) or column.distinct >= _ENOUGH)


def _dates(texts: pa.Array, written: str) -> pa.Array:
    """As ISO 8601 has them; null where a text is no date in this format."""
    iso = in_iso(texts, written)
    return pc.if_else(values.read_dates(iso).is_valid(), iso, None)


def read_by_formats(labels: Sequence[str | None]) -> list[list[bool]]:
    """Of each usual format, whether it reads each text; what is missing it reads."""
    texts = pa.array(labels, pa.string())
    return [pc.or_(texts.is_null(), _dates(texts, each).is_valid()).to_pylist() for each in USUAL]


def formats_of(columns: Mapping[str, WrittenDates]) -> dict[str, Written]:
    """Of each column that holds dates in another format, which; the likeliest first where several read it."""
    found = {name: each.found() for name, each in columns.items()}
    certain = {next(iter(formats)) for formats in found.values() if len(formats) == 1}
    chosen = {}
    for name, formats in found.items():
        if formats:
            order = sorted(formats, key=lambda written: (written not in certain, _days(formats[written])))
            chosen[name] = Written(tuple(order), formats[order[0]])
    return chosen


def _days(column: ColumnSummary) -> float:
    """How many different days of a month there are; 12 where they are not known."""
    return len({label[8:10] for label in column.labels}) if column.labels else 12


def as_written(texts: pa.Array, written: str) -> pa.Array:
    """Texts with the dates among them as ISO 8601 has them."""
    return pc.coalesce(_dates(texts, written), texts)
