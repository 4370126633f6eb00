"""The arrays that methods and measures compute with."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.integer[Any]]
"""Small whole numbers that stand for values, of any integer type: widen them before computing with them."""


def narrow(codes: npt.NDArray[Any], values: int) -> Codes:
    """Codes 0..values - 1 in the smallest unsigned type that holds them; the same array where they are so already."""
    kind = np.uint8 if values <= 1 << 8 else np.uint16 if values <= 1 << 16 else np.uint32
    return codes.astype(kind, copy=False)
