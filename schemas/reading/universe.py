"""Questions that were not asked of everybody: a variable that is missing exactly where another has certain values.

An answer that is missing though the question was put is no such thing: then some records with the same value of the
other variable have an answer. That a question was not asked tells nothing of a person but what the other variable does.
"""

import numpy as np

from schemas.reading.overview import Overview
from schemas.reading.usual_names import is_not_asked
from sluice.ground import values
from sluice.ground.arrays import BoolArray
from sluice.ground.variables import Kind
from sluice.ground.visible_text import one_line

_CELL = 10  # records on each side, and of every value that is named
_MOST_VALUES = 150  # of the variable that decides
_NAMED = 4


def not_asked_labels(seen: Overview, name: str) -> tuple[str, ...]:
    """Values of enough records that say that the question was not put, or whose labels do."""
    times, labels = seen.columns[name].categories, seen.said(name).labels
    return tuple(code for code in times if times[code] >= _CELL and is_not_asked(labels.get(code, code)))


def universe_of(seen: Overview, name: str) -> str:
    """Of whom the variable is known, as a person would write it; '' where nothing decides it exactly.

    Cost: O(columns n).
    """
    absent = _not_asked(seen, name)
    if not _CELL <= int(absent.sum()) <= seen.kept - _CELL:
        return ""
    found: list[tuple[int, str]] = []
    for other in seen.columns:
        if other == name or len(seen.labels[other]) > _MOST_VALUES or seen.columns[other].kind is Kind.TEXT:
            continue
        if (says := _decides(seen, other, absent)) is not None:
            found.append((len(seen.labels[other]), says))
    return min(found, default=(0, ""))[1]


def _not_asked(seen: Overview, name: str) -> BoolArray:
    """Records without an answer, be it by a value that says so."""
    labels = seen.labels[name]
    told = np.array([label is not None and is_not_asked(label) for label in labels], dtype=bool)
    absent: BoolArray = told[seen.codes[name]] if told.any() else seen.missing(name)
    return absent


def _decides(seen: Overview, other: str, absent: BoolArray) -> str | None:
    """In which values of the other variable all are absent and in which none; None where they are mixed."""
    codes, labels = seen.codes[other], seen.labels[other]
    if _not_asked(seen, other).any() or None in labels:  # they are missing together, and neither says why
        return None
    records = np.bincount(codes, minlength=len(labels))
    without = np.bincount(codes[absent], minlength=len(labels))
    if not (((without == 0) | (without == records)).all() and without.sum() == absent.sum()):
        return None
    inside = [label for at, label in enumerate(labels) if records[at] >= _CELL and not without[at] and label]
    outside = [label for at, label in enumerate(labels) if records[at] >= _CELL and without[at] and label]
    if not inside or not outside or len(labels) == len(absent):
        return None
    return f"asked where {one_line(other)} is {_listed(inside, outside, spans=not seen.said(other).labels)}"


def _listed(inside: list[str], outside: list[str], spans: bool) -> str:
    """The values by which it is asked, or else those by which it is not: never a rare one.

    spans : whether numbers have an order, as codes with labels have not
    """
    if spans and all(map(values.is_number, [*inside, *outside])):
        low, high = min(map(float, inside)), max(map(float, inside))
        if all(float(each) < low for each in outside):
            return f"{low:g} or more"
        if all(float(each) > high for each in outside):
            return f"{high:g} or less"
    some, no = (inside, "") if len(inside) <= len(outside) else (outside, "not ")
    named = [one_line(each) for each in sorted(some)[:_NAMED]]
    return no + " or ".join(named) + (" or one of others" if len(some) > _NAMED else "")
