"""The names of intervals of numbers: 'under 20', '20 to 29' and '30 and over'."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.variables import as_label


def labels(cuts: FloatArray | Sequence[float], whole: bool) -> tuple[str, ...]:
    """'under 20', '20 to 29' (of fractions '20 to under 30'), '30 and over'.

    cuts : shape (k + 1,), rising; -inf or inf for an open end
    """
    return tuple(interval_label(low, high, whole) for low, high in pairwise(cuts))


def interval_label(low: float, high: float, whole: bool) -> str:
    if low == -np.inf:
        return f"under {as_label(float(high))}"
    if high == np.inf:
        return f"{as_label(float(low))} and over"
    if not whole:
        return f"{as_label(float(low))} to under {as_label(float(high))}"
    first, last = as_label(float(low)), as_label(float(high - 1))
    return str(first) if first == last else f"{first} to {last}"
