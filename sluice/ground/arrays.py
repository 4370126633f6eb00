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


def behind(values: FloatArray) -> float:
    """From how many of the values their variation comes: all for two equally frequent values, 1 for one far off.

    values  : shape (n,)
    returns : (sum of squares)^2 / sum of fourth powers, of the differences from the mean
    """
    apart = values - values.mean() if len(values) else values
    apart = apart / (np.abs(apart).max(initial=0.0) or 1.0)
    return float((apart**2).sum() ** 2 / max((apart**4).sum(), 1e-300))


def learnable(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Classes as a tree may learn them: where they are more than half as many as records, those of one or two records
    as one, which nobody can learn apart, and of which scikit-learn warns whoever runs it. Shape (n,), as given."""
    found, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    if 2 * len(found) <= len(classes):
        return classes
    return np.where(counts[codes] > 2, codes, len(found)).astype(classes.dtype)
