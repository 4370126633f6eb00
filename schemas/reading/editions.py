"""What tells editions and records apart: the period that all records have, and the columns that name a record."""

from collections.abc import Iterable, Sequence

import numpy as np

from schemas.reading.overview import Overview
from schemas.reading.usual_names import words_of
from sluice.reading.period import Length, read_period
from sluice.risk.row_groups import row_groups

_BY_FORM = (Length.QUARTER, Length.HALF_YEAR, Length.WEEK, Length.MONTH, Length.DAY, Length.YEAR)
_YEARS = (1900, 2100)  # that data are about


def record_key(seen: Overview, identifiers: Sequence[str], groups: Sequence[str], beside: Sequence[str]) -> list[str]:
    """An identifier that every record has, each its own; else two columns: a household and a number in it, a person and
    a wave. Empty where there is neither.

    groups : names of people, households or firms, which several records share
    beside : columns that may complete them, such as a number of the person in it
    cost   : O(n log n) a pair; pairs that cannot be unique are passed over
    """

    def whole(names: Iterable[str]) -> list[str]:
        return [name for name in names if None not in seen.labels[name]]

    if not seen.is_whole:
        return []
    for name in whole(identifiers):
        if len(seen.labels[name]) == seen.kept:
            return [name]
    for name in whole([*groups, *identifiers]):
        largest = int(np.bincount(seen.codes[name]).max())
        for other in whole(beside):
            fit = other != name and len(seen.labels[other]) == largest < seen.kept  # numbered, or waves
            if fit and len(row_groups([seen.codes[name], seen.codes[other]]).size) == seen.kept:
                return [name, other]
    return []


def period_column(seen: Overview, names: Iterable[str]) -> tuple[str, Length] | None:
    """The column that has one period in all records, an edition's, and its length.

    A bare number is a year, or what its name says: 202503 a month where it is called so.
    """
    for name in names:
        labels = seen.labels[name]
        if len(labels) != 1 or labels[0] is None:
            continue
        for length in _BY_FORM:
            told = length is Length.YEAR or not labels[0].isdigit() or length in words_of(name)
            if told and _is_period(labels[0], length):
                return name, length
    return None


def _is_period(label: str, length: Length) -> bool:
    try:
        found = read_period(label, length)
    except ValueError:
        return False
    return _YEARS[0] <= found.first.year <= _YEARS[1]
