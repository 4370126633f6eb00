"""Parts of a file, each of which may have been masked by a secret of its own.

A part is what an intruder may tell a record or a person by: a category or several (released or not), a run of rows, of
equal size or not, every so many rows, or a band of a number. Where the ends of runs and bands are, the pairs that are
known tell themselves: from one row on, what a map learned from the rows before expects fails in most columns at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.linkage.mapped_columns import Column

_LABELS = 1_000  # most categories of a variable
_DISTINCT = 40  # most different numbers that are categories
_LOOKED_AT = 4_000  # numbers, by which that is told
_CELLS = 2_000  # most parts that two or three variables tell
_TOGETHER = 12  # most variables of which two or three tell parts together
_SIZES = (50, 60, 64, 75, 80, 100, 120, 125, 128, 144, 150, 200, 250, 256, 300, 400, 500, 512, 1_000, 1_024, 2_000)
_COUNTS = range(2, 41)  # of equal runs, or of remainders

_AHEAD, _LONGER = 16, 3  # rows looked at together; times as many once a map is learned from enough
_WIDE = 150  # people of a band of whom the others say no more
_IN_A_ROW, _FAR, _CHANGED = 4, 3, 9.0  # of four in a row so many are far: by times the variance
_MORE, _BEFORE = 8, 100  # rows beyond the columns from which a map is learned at least, and at most
_STRETCH, _OF_NUMBERS, _MOST = 3_000, 1_500, 200_000  # rows that are looked at for ends; where there are any, so many
_OF_NORMAL = 0.455  # the median of squares of a normal distribution, of its variance
_SINGULAR = 1e-9


@dataclass(frozen=True)
class Parts:
    """In which part each is: of given rows a number, -1 in none.

    of_records : whether the place of the record tells it; else what is known of the person
    """

    name: str
    of: Callable[[IntArray], IntArray] = field(repr=False)
    of_records: bool = False


def told_parts(known: Sequence[Column], released: Sequence[Column], records: int) -> Iterator[Parts]:
    """Parts that need no pairs to be told: by categories, by rows, or by remainders of their places."""
    yield from _by_labels(known, False)
    names = {column.name for column in known}
    yield from _by_labels([column for column in released if column.name not in names], True)
    for size in _SIZES:
        if 2 * size <= records:
            yield Parts(f"runs of {size} rows", partial(_runs, size), True)
    for count in _COUNTS:
        if 2 * count <= records:
            yield Parts(f"{count} runs of rows", partial(_equal_runs, count, records), True)
            yield Parts(f"every {count} rows", partial(_remainders, count), True)


def _runs(size: int, rows: IntArray) -> IntArray:
    return rows // size


def _equal_runs(count: int, records: int, rows: IntArray) -> IntArray:
    return rows * count // records


def _remainders(count: int, rows: IntArray) -> IntArray:
    return rows % count


_Labels = tuple[str, IntArray, int]  # the name of a variable, its codes, -1 where missing, and how many there are


def _labels(column: Column) -> _Labels | None:
    values = column.values
    if column.is_number and not column.labels and len(np.unique(values[:: -(-len(values) // _LOOKED_AT)])) > _DISTINCT:
        return None
    present = np.isfinite(values) if values.dtype.kind == "f" else values >= 0
    labels, places = np.unique(values[present], return_inverse=True)
    if not 2 <= len(labels) <= _LABELS:
        return None
    codes = np.full(len(values), -1, np.int64)
    codes[present] = places
    return column.name, codes, len(labels)


def _by_labels(columns: Sequence[Column], of_records: bool) -> Iterator[Parts]:
    found = [labels for column in columns if (labels := _labels(column)) is not None]
    few = sorted(found, key=lambda each: each[2])[:_TOGETHER]
    for each in found:
        yield Parts(each[0], partial(_cells, (each,)), of_records)
    for group in chain(combinations(few, 2), combinations(few, 3)):
        if np.prod([levels for _, _, levels in group]) <= _CELLS:
            yield Parts(" by ".join(name for name, _, _ in group), partial(_cells, group), of_records)


def _cells(group: Sequence[_Labels], rows: IntArray) -> IntArray:
    cell, present = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
    for _, codes, levels in group:
        cell, present = cell * levels + codes[rows], present & (codes[rows] >= 0)
    return np.where(present, cell, -1)


Values = Callable[[IntArray], tuple[FloatArray, FloatArray]]
"""What is known and what is released of these people, shapes (l, p) and (l, t)."""


def found_parts(known: Sequence[Column], values: Values, rows: IntArray, records: int) -> Iterator[Parts]:
    """Parts whose ends pairs tell: runs of rows, and bands of each number, of a file in that order.

    rows : people who are learned from, rising
    cost : O(l p^2) for l of the rows, at most 3,000 where nothing ends among them
    """
    ends = _ends(np.arange(records), values, rows)
    if len(ends):
        yield Parts("runs of rows that maps end at", partial(_between, ends), True)
    for column in known:
        if not column.is_number:
            continue
        numbers = column.values
        inside = rows[np.isfinite(numbers[rows])]
        ends = _ends(numbers, values, inside[np.argsort(numbers[inside], kind="stable")])
        if len(ends):
            yield Parts(f"bands of {column.name}", partial(_bands, ends, numbers))


def _between(ends: FloatArray, rows: IntArray) -> IntArray:
    return np.asarray(np.searchsorted(ends, rows, "right"))


def _bands(ends: FloatArray, numbers: FloatArray, rows: IntArray) -> IntArray:
    return np.where(np.isfinite(numbers[rows]), np.searchsorted(ends, np.nan_to_num(numbers[rows]), "right"), -1)


def _ends(order: FloatArray | IntArray, values: Values, rows: IntArray) -> FloatArray:
    """Where another map begins, of rows that rise in this order: by values of the order. Nothing ends without two."""
    bands = order.dtype.kind == "f"
    some = rows[:: -(-len(rows) // _OF_NUMBERS) or 1] if bands else rows[:_STRETCH]
    at = _changes(*values(some)) if len(some) else np.zeros(0, np.int64)
    # One end in a stretch is chance, or nearly the whole file's; ends of wide bands are told well by some.
    if len(at) > (len(some) // _WIDE if bands else 1) and len(some) < len(rows):
        some = rows[:_MOST]
        at = _changes(*values(some))
    found = order[some].astype(np.float64)
    return np.unique((found[at - 1] + found[at]) / 2)


def _changes(x: FloatArray, y: FloatArray) -> IntArray:
    """The places from which the rows no longer follow the map of those before."""
    first, fewest = 0, x.shape[1] + 1 + _MORE
    end, most, found = fewest, max(_BEFORE, 2 * fewest), []
    follows = np.ones(len(x), np.bool_)
    while end + _IN_A_ROW <= len(x):
        inside = (first + np.flatnonzero(follows[first:end]))[-most:]
        ahead = slice(end, end + _AHEAD * (1 if len(inside) < most else _LONGER))
        far = _far(x[inside], y[inside], x[ahead], y[ahead])
        together = np.convolve(far, np.ones(_IN_A_ROW), "valid") >= _FAR
        changed = np.flatnonzero(together & far[: len(together)])
        if len(changed):
            first = end + int(changed[0])
            found.append(first)
            end = first + fewest
        else:
            follows[end : end + len(together)] = ~far[: len(together)]
            end += len(together)
    return np.asarray(found, np.int64)


def _far(x: FloatArray, y: FloatArray, ahead: FloatArray, released: FloatArray) -> BoolArray:
    """Of which of these rows most columns are far from where the map of the others expects them."""
    centre, middle = x.mean(axis=0), y.mean(axis=0)
    a, b = x - centre, y - middle
    inverse = np.linalg.inv(a.T @ a + _SINGULAR * len(a) * np.eye(a.shape[1]))
    slopes = inverse @ (a.T @ b)
    leverage = np.minimum(((a @ inverse) * a).sum(axis=1) + 1 / len(a), 0.98)
    left = ((b - a @ slopes) / (1 - leverage)[:, None]) ** 2
    variance = np.median(left, axis=0) / _OF_NORMAL + _SINGULAR  # one outlier hides no end
    c = ahead - centre
    wider = 1 + ((c @ inverse) * c).sum(axis=1) + 1 / len(a)
    apart = (released - middle - c @ slopes) ** 2 / variance / wider[:, None]
    return np.asarray((apart > _CHANGED).sum(axis=1) * 2 > apart.shape[1])
