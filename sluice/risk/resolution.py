"""Resolution: how near two numbers are that an intruder takes for the same.

Masking that moves every number by a hair makes all of them different, and none of them safer: no copy would be found by
equality, and every group would hold as many values as records. So numbers are compared on a grid, whose width is a
share of the original's spread, as well as exactly.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import FloatArray
from sluice.risk.spread import spread

Column = npt.NDArray[Any]

EXACT, FINE, COARSE = 0.0, 0.01, 0.1  # of the spread: the same number, the same value, one that tells nearly as much


def resolution(values: FloatArray, share: float = FINE) -> float:
    """The grid's width for a variable with these values, NaN apart; 0 where they do not vary: no grid."""
    return share * spread(values)


def on_grid(values: FloatArray, width: float) -> FloatArray:
    """The place of each value on a grid of this width, shape (n,); for a width of 0 the values themselves."""
    return np.rint(values / width) + 0.0 if width > 0 else values  # -0.0 is 0


def on_one_grid(original: Column, released: Column, share: float = FINE) -> tuple[Column, Column]:
    """A column of two files on the grid of the first, to be compared; texts as they are."""
    if original.dtype.kind != "f" or released.dtype.kind != "f":
        return original, released
    width = resolution(original, share)
    return on_grid(original, width), on_grid(released, width)
