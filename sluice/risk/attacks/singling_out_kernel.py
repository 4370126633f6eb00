"""The loop of singling out: who fits a description is looked for among those who fit its rarest condition."""

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]


@numba.njit(cache=True, nogil=True)
def count_fitting(
    codes: CodeArray, order: CodeArray, in_order: CodeArray,
    columns: CodeArray, low: CodeArray, high: CodeArray, most: int,
) -> IntArray:  # fmt: skip
    """For each row of `columns`, `low`, `high`, the records that meet all its conditions, counted up to `most`."""
    counts = np.zeros(len(columns), dtype=np.int64)
    for q in range(len(columns)):
        rarest, begin, end = 0, 0, codes.shape[1] + 1
        for c in range(columns.shape[1]):
            column = in_order[columns[q, c]]
            first = np.searchsorted(column, low[q, c])
            last = np.searchsorted(column, high[q, c], side="right")
            if last - first < end - begin:
                rarest, begin, end = columns[q, c], first, last
        for place in range(begin, end):
            row = order[rarest, place]
            fits = True
            for c in range(columns.shape[1]):
                code = codes[columns[q, c], row]
                if code < low[q, c] or code > high[q, c]:
                    fits = False
                    break
            if fits:
                counts[q] += 1
                if counts[q] == most:
                    break
    return counts
