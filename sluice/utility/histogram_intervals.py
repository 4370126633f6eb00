"""Intervals of a histogram: of equal width, or, where a long tail would leave nearly all values in one of these,
growing with the values or with equal shares of them.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor, log2, log10

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.variables import Kind

_INNER_INTERVALS = 10  # about as many between the two outer ones
_FULL = 0.4  # share of the values in one interval of equal width from which others are tried
_EVEN_ENOUGH = 0.35  # share of the values in one growing interval up to which these are taken, for they are read easily
_GAIN = 0.2  # bits by which other intervals must tell more


def intervals(values: FloatArray, kind: Kind, minimum_cell: int) -> tuple[list[float], tuple[str, ...]]:
    """Edges, from each of which on an interval begins, and the names of the intervals, one more than edges.

    values  : shape (n,), sorted, without missing ones; of dates the years
    returns : nothing of values that are too few or too much alike
    cost    : O(n)

    Edges are round numbers that leave at least `minimum_cell` values, and 1 % where the values allow, in the open
    interval at either end, so no edge tells an extreme value.
    """
    even, width = _even(values, minimum_cell)
    if not even:
        return [], ()
    if kind is not Kind.DATE and _largest(values, even) > _FULL:
        growing, shares = _growing(values, minimum_cell), _equal_shares(values, minimum_cell)
        if growing and _largest(values, growing) <= _EVEN_ENOUGH:
            return growing, _names(growing, kind, _shortest)
        best = max((growing, shares), key=lambda edges: _bits(values, edges))
        if _bits(values, best) > _bits(values, even) + _GAIN:
            return best, _names(best, kind, _shortest)
    decimals = 0 if kind is Kind.DATE else max(0, -floor(log10(width)))
    separator = "" if kind is Kind.DATE else ","
    return even, _names(even, kind, lambda number: f"{number:{separator}.{decimals}f}")


def _ends(values: FloatArray, minimum_cell: int) -> tuple[float, float] | None:
    """Between which edges may lie: enough values below each and from each on. None where both ends have one value."""
    for outside in (max(minimum_cell, ceil(len(values) / 100)), minimum_cell):
        if len(values) >= 2 * outside:
            low, high = float(values[outside - 1]), float(values[-outside])
            if low < high:
                return low, high
    return None


def _even(values: FloatArray, minimum_cell: int) -> tuple[list[float], float]:
    """Multiples of a round width, and it: 1, 2 or 5 times a power of ten, at least 1 for whole numbers."""
    ends = _ends(values, minimum_cell)
    if ends is None:
        return [], 0.0
    low, high = ends
    least = (high - low) / _INNER_INTERVALS
    power = 10.0 ** floor(log10(least))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= least)
    width = max(width, 1.0) if _whole(values) else width
    decimals = max(0, -floor(log10(width)))
    return [round(i * width, decimals) for i in range(floor(low / width) + 1, floor(high / width) + 1)], width


def _growing(values: FloatArray, minimum_cell: int) -> list[float]:
    """1, 2 and 5 times powers of ten, or the powers alone where these are many; of values that are nowhere below 0."""
    ends = _ends(values, minimum_cell)
    positive = values[values > 0]
    if ends is None or values[0] < 0 or not len(positive):
        return []
    low, high = ends
    least = max(low, float(positive[len(positive) // 20]))  # a few that are nearly 0 would take most intervals
    powers = range(floor(log10(least)), floor(log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        edges = [round(step * 10.0**power, max(0, -power)) for power in powers for step in steps]
        edges = [edge for edge in edges if low < edge <= high and edge >= least * (1 - 1e-9)]
        edges = [edge for edge in edges if edge >= 1] if _whole(values) else edges
        if len(edges) <= _INNER_INTERVALS + 2:
            return edges
    return []


def _equal_shares(values: FloatArray, minimum_cell: int) -> list[float]:
    """Tenths of the values, their edges rounded to two digits."""
    ends = _ends(values, minimum_cell)
    if ends is None:
        return []
    low, high = ends
    tenths = [float(values[int(len(values) * tenth / 10)]) for tenth in range(1, 10)]
    rounded = {_two_digits(value) for value in tenths}
    if _whole(values):
        rounded = {float(round(value)) for value in rounded}
    return sorted(edge for edge in rounded if low < edge <= high)


def _two_digits(value: float) -> float:
    return round(value, 1 - floor(log10(abs(value)))) if value else 0.0


def _whole(values: FloatArray) -> bool:
    return bool((values == np.floor(values)).all())


def _counts(values: FloatArray, edges: Sequence[float]) -> FloatArray:
    places = np.searchsorted(values, edges, side="left")
    return np.diff(np.concatenate([[0], places, [len(values)]])).astype(np.float64)


def _largest(values: FloatArray, edges: Sequence[float]) -> float:
    return float(_counts(values, edges).max() / len(values))


def _bits(values: FloatArray, edges: Sequence[float]) -> float:
    """Entropy of the counts: what the picture tells of a value."""
    shares = _counts(values, edges) / len(values)
    return float(-sum(share * log2(share) for share in shares if share))


def _shortest(number: float) -> str:
    text = f"{number:,.10f}"
    return text.rstrip("0").rstrip(".")


def _names(edges: Sequence[float], kind: Kind, written: Callable[[float], str]) -> tuple[str, ...]:
    def between(start: float, end: float) -> str:
        if kind is Kind.CONTINUOUS:
            return f"{written(start)} to {written(end)}"
        return written(start) if end - start == 1 else f"{written(start)} to {written(end - 1)}"

    below, above = ("before", "or later") if kind is Kind.DATE else ("under", "or more")
    inner = map(between, edges[:-1], edges[1:])
    return (f"{below} {written(edges[0])}", *inner, f"{written(edges[-1])} {above}")
