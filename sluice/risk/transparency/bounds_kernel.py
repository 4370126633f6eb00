"""The loop of bounds: the released records that lie beyond them in any variable are ruled out."""

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def rule_out(lower: FloatArray, upper: FloatArray, released: FloatArray, logs: FloatArray) -> None:
    """Set to minus infinity the logs, (q, m), of records, (m, d), beyond the bounds, (q, d), in any variable."""
    for i in range(len(lower)):
        for record in range(len(released)):
            for j in range(released.shape[1]):
                if not lower[i, j] <= released[record, j] <= upper[i, j]:
                    logs[i, record] = -np.inf
                    break
