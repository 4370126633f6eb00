"""Told moments: means and standard deviations as a report may give them.

A mean and a number of records are a sum, and who knows all summands but one knows that one. So a moment is rounded to
what a single record can make of it: whoever knows all others and one of the moments is still left with about half of
how far the most extreme value lies from the mean, on either side of it.
"""

from math import floor, log10
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray

_FEW_VALUES = 3  # different ones, whose counts follow from a mean and a deviation


class ToldMoments(NamedTuple):
    """None where too few values, or too few of one of two or three different ones, stand behind."""

    mean: float | None
    deviation: float | None


_NOTHING = ToldMoments(None, None)


def told_moments(original: FloatArray, masked: FloatArray | None, minimum_cell: int) -> tuple[ToldMoments, ToldMoments]:
    """Mean and standard deviation (n - 1) of a variable in both files, rounded alike.

    original, masked : shape (n,) and (m,), without missing values; None: not released
    minimum_cell     : moments of fewer values are not told; 1: nothing is rounded
    cost             : O(n)

    A step is 1, 2 or 5 times a power of ten, of the mean at least the largest distance d from it by n, of the deviation
    s at least d^2 / (2 n s), which moves the variance by d^2 / n. They are of the original: the masked file is public.
    """
    if len(original) < max(minimum_cell, 2):
        return _NOTHING, _NOTHING if masked is None else _moments(masked, minimum_cell)
    if minimum_cell > 1 and _is_count(original, minimum_cell):
        return _NOTHING, _NOTHING
    before = _moments(original, minimum_cell)
    after = _NOTHING if masked is None else _moments(masked, minimum_cell)
    assert before.mean is not None
    assert before.deviation is not None
    if minimum_cell <= 1 or before.deviation == 0:
        return before, after
    far = float(np.abs(original - before.mean).max())
    of_mean = _step(far / len(original))
    of_deviation = _step(far**2 / (2 * len(original) * before.deviation))
    return _rounded(before, of_mean, of_deviation), _rounded(after, of_mean, of_deviation)


def _moments(values: FloatArray, minimum_cell: int) -> ToldMoments:
    if len(values) < max(minimum_cell, 2):
        return _NOTHING
    return ToldMoments(float(values.mean()), float(values.std(ddof=1)))


def _is_count(values: FloatArray, minimum_cell: int) -> bool:
    """Whether so few different values occur that the moments tell how often each does, and one is too rare for that."""
    distinct, counts = np.unique(values, return_counts=True)
    return 1 < len(distinct) <= _FEW_VALUES and bool(counts.min() < minimum_cell)


def _rounded(moments: ToldMoments, of_mean: float, of_deviation: float) -> ToldMoments:
    mean, deviation = moments
    return ToldMoments(
        None if mean is None else _to(mean, of_mean), None if deviation is None else _to(deviation, of_deviation)
    )


def _to(value: float, step: float) -> float:
    return round(round(value / step) * step, max(0, 1 - floor(log10(step))))


def _step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))
