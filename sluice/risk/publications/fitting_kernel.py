"""The loop of joint classes: who agrees with each of many people in every column that both have."""

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)
def fitting(
    known: NDArray[np.int32],  # (p, columns) sorted by the columns in their order; -1 agrees with all
    released: NDArray[np.int32],  # (r, columns), likewise
    times: NDArray[np.int64],  # (r,) records that each row of `released` stands for
    low: NDArray[np.int64],  # (r, values) least code among them
    high: NDArray[np.int64],  # (r, values) greatest
    count: NDArray[np.int64],  # (p,) out: records that agree
    least: NDArray[np.int64],  # (p, values) out
    most: NDArray[np.int64],  # (p, values) out
) -> None:
    """Rows that begin alike have the same candidates so far, which are kept for each column of the row before."""
    columns = known.shape[1]
    stack = np.empty(2 * len(released) + columns + 1, np.int32)
    stack[: len(released)] = np.arange(len(released))
    begin, end = np.zeros(columns + 1, np.int64), np.zeros(columns + 1, np.int64)
    end[0] = len(released)
    for row in range(len(known)):
        column = 0
        while row > 0 and column < columns and known[row, column] == known[row - 1, column]:
            column += 1
        for at in range(column, columns):
            wanted = known[row, at]
            start, stop = begin[at], end[at]
            begin[at + 1], end[at + 1] = start, stop
            if wanted < 0:
                continue
            if stop + stop - start > len(stack):
                larger = np.empty(2 * (stop + stop - start), np.int32)
                larger[:stop] = stack[:stop]
                stack = larger
            kept = stop
            for place in range(start, stop):
                label = released[stack[place], at]
                if label == wanted or label < 0:
                    stack[kept] = stack[place]
                    kept += 1
            if kept - stop < stop - start:  # those of the column before, unless all agree
                begin[at + 1], end[at + 1] = stop, kept
        for place in range(begin[columns], end[columns]):
            found = stack[place]
            count[row] += times[found]
            for value in range(low.shape[1]):
                least[row, value] = min(least[row, value], low[found, value])
                most[row, value] = max(most[row, value], high[found, value])
