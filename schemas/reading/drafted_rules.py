"""Rules across fields that hold in every record and mean something: dates in an order, parts at most their whole, sums.

That a rule holds is no reason to write it down: two amounts may happen to be in one order. So numbers are compared only
where a name says that one is the whole, or where they add up to the last digit. Rules are of the source alone, as a
drafted plan may move each value by itself.
"""

from collections.abc import Iterator
from itertools import permutations
from keyword import iskeyword

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.reading.column_proposal import MINIMUM_CELL, Proposal
from schemas.reading.overview import Overview
from schemas.reading.proposal import Proposals
from schemas.reading.usual_names import is_called_a_whole, words_of
from sluice.ground import values
from sluice.ground.arrays import FloatArray
from sluice.ground.variables import NAMES, Kind, Role

Places = NDArray[np.intp]

_FIRST = 50  # records by which most sums are ruled out
_DIFFERENT = 20  # values of a sum, of which fewer may add up by chance
_EXACT = 1e-9


def drafted_rules(seen: Overview, proposed: Proposals) -> list[tuple[str, str]]:
    """Name and expression of each rule; none where not every record was kept, as one of the others might break it.

    cost : O(n) for each pair of dates and of numbers; for each three numbers that of 50 records
    """
    if not seen.is_whole:
        return []
    fit = [
        each
        for each in proposed.columns
        if each.role not in (*NAMES, Role.WEIGHT)
        and each.name.isidentifier()
        and not iskeyword(each.name)
        and seen.columns[each.name].known >= MINIMUM_CELL
        and not each.repeats
    ]
    dates = {each.name: _dates(seen, each) for each in fit if each.kind is Kind.DATE}
    numbers = {each.name: _numbers(seen, each) for each in fit if each.kind.is_numeric}
    return [*_in_order(dates), *_sums(numbers), *_parts(numbers)]


def _in_order(dates: dict[str, FloatArray]) -> Iterator[tuple[str, str]]:
    """Each date that is never after another one; what follows from two others is left out."""
    held = {pair for pair in permutations(dates, 2) if _never_more(dates[pair[0]], dates[pair[1]])}
    for first, last in sorted(held, key=lambda pair: [*dates].index(pair[0])):
        if not any((first, other) in held and (other, last) in held for other in dates):
            yield f"{first}_before_{last}", f"{first} <= {last}"


def _sums(numbers: dict[str, FloatArray]) -> Iterator[tuple[str, str]]:
    """Numbers that are the sum of two others in every record."""
    names = list(numbers)
    first = np.array([each[:_FIRST] for each in numbers.values()])
    for place, (whole, total) in enumerate(numbers.items()):
        if len(np.unique(total[~np.isnan(total)])) < _DIFFERENT:
            continue
        found = 0  # a number may be the sum of several pairs
        for at, beside in zip(*_may_add_up(first, place), strict=True):
            one, other = names[at], names[beside]
            parts = numbers[one], numbers[other]
            if _adds_up(*parts, total) and all(np.count_nonzero(np.nan_to_num(part)) >= MINIMUM_CELL for part in parts):
                found += 1
                again = f"_{found}" if found > 1 else ""
                yield f"{whole}_is_the_sum{again}", f"{whole} == {one} + {other}"


def _may_add_up(first: FloatArray, total: int) -> tuple[Places, Places]:
    """The pairs of other numbers that no record tells not to add up to this one, and some record to do so.

    first : shape (numbers, records); of few records, most of which rule out nearly every pair
    """
    unknown = np.isnan(first)
    order = np.argsort(unknown.sum(axis=0), kind="stable")  # that of the fewest gaps first
    one, other = np.triu_indices(len(first), 1)
    keep = (one != total) & (other != total)
    one, other = one[keep], other[keep]
    known = np.zeros(len(one), dtype=bool)
    for record in order.tolist():
        value = first[:, record]
        apart = np.abs(value[one] + value[other] - value[total])
        fits = ~(apart > _EXACT * abs(value[total]))
        one, other, known = one[fits], other[fits], known[fits] | ~np.isnan(apart[fits])
    return one[known], other[known]


def _parts(numbers: dict[str, FloatArray]) -> Iterator[tuple[str, str]]:
    """Parts that are never more than what is called their total: total_income and income_of_rents."""
    wholes = {name for name in numbers if is_called_a_whole(name)}
    words = {name: {word for word in words_of(name) if len(word) > 1} for name in numbers}
    for whole in (name for name in numbers if name in wholes):
        for part in (name for name in numbers if name not in wholes and words[name] & words[whole]):
            if _never_more(numbers[part], numbers[whole]):
                yield f"{part}_within_{whole}", f"{part} <= {whole}"


def _never_more(lower: FloatArray, upper: FloatArray) -> bool:
    """In enough records both are known, the first is never the larger, and often the smaller."""
    known = ~np.isnan(lower) & ~np.isnan(upper)
    less = np.count_nonzero(lower[known] < upper[known])
    return bool(less >= MINIMUM_CELL and (lower[known] <= upper[known]).all())


def _adds_up(one: FloatArray, other: FloatArray, total: FloatArray) -> bool:
    apart = np.abs(one + other - total)
    known = ~np.isnan(apart)
    return bool(known.any() and (apart[known] <= _EXACT * np.abs(total[known])).all())


def _dates(seen: Overview, proposed: Proposal) -> FloatArray:
    texts = pa.array([None if text in proposed.missing_codes else text for text in seen.labels[proposed.name]])
    read = values.read_dates(texts.cast(pa.string())).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(read, dtype=np.float64)[seen.codes[proposed.name]]


def _numbers(seen: Overview, proposed: Proposal) -> FloatArray:
    mark = seen.columns[proposed.name].decimal_mark
    texts = [None if text in proposed.missing_codes else text for text in seen.labels[proposed.name]]
    read = values.read_numbers(values.with_decimal_point(pa.array(texts, pa.string()), mark))
    return np.asarray(read.to_numpy(zero_copy_only=False), dtype=np.float64)[seen.codes[proposed.name]]
