"""The loop of the learned linker: the candidates with the highest sums of weights, for a few people at a time.

A pair is given up as soon as the variables that are left cannot lift it among the best so far; the own record comes
first, and a tile of released records stays in the cache for all people of the call.
"""

import numba
import numpy as np
from numpy.typing import NDArray

_TILE = 2_048  # released records that are scored for each person in turn
_ROUNDING = 1e-3  # slack of the sums of 32-bit weights


@numba.njit(cache=True, nogil=True)
def best_candidates(
    tables: NDArray[np.float32],  # (q, v, levels) weight of each level; overwritten
    spans: NDArray[np.int64],  # (q, v, 2) levels from and to which exact values decide
    bins: NDArray[np.float32],  # (q, v, most bins) weight if equal, and of each bin of closeness
    edges: NDArray[np.float32],  # (v, most edges)
    edge_counts: NDArray[np.int64],  # (v,)
    known: NDArray[np.int32],  # (q, v) exact code of the known value
    levels: NDArray[np.uint16],  # (m, v)
    exact: NDArray[np.int32],  # (m, v)
    coordinates: NDArray[np.float32],  # of all exact codes, variable after variable
    starts: NDArray[np.int64],  # (v,)
    own: NDArray[np.int64],  # (q,) row of the own record, -1 for none
    own_score: NDArray[np.float32],  # (q,) out
    rows: NDArray[np.int64],  # (q, k) out: others' records, best first; -1 where there are fewer
    scores: NDArray[np.float32],  # (q, k) out
    ties: NDArray[np.int64],  # (q,) out: others that score as high as the best of them
) -> int:
    """Fills the last four, and returns the number of variables looked at in all."""
    q, v, _ = tables.shape
    m, k = len(levels), rows.shape[1]
    rest = np.zeros((q, v + 1), np.float32)  # the most that the variables from j on can add
    looks = 0
    for p in range(q):
        for j in range(v - 1, -1, -1):
            rest[p, j] = rest[p, j + 1] + max(tables[p, j].max(), bins[p, j].max())
            tables[p, j, max(spans[p, j, 0], 0) : spans[p, j, 1] + 1] = np.nan
        rows[p], scores[p], ties[p] = -1, -np.inf, 0
        own_score[p] = -np.inf
        if own[p] >= 0:
            own_score[p] = _score(p, own[p], tables, bins, edges, edge_counts, known, levels, exact,
                                  coordinates, starts, rest, np.float32(-np.inf))[0]  # fmt: skip
    for first in range(0, m, _TILE):
        for p in range(q):
            for r in range(first, min(first + _TILE, m)):
                if r == own[p]:
                    continue
                lowest = scores[p, k - 1]
                score, seen = _score(p, r, tables, bins, edges, edge_counts, known, levels, exact,
                                     coordinates, starts, rest, lowest - np.float32(_ROUNDING))  # fmt: skip
                looks += seen
                if seen < v and score == -np.inf:
                    continue
                if score == scores[p, 0]:
                    ties[p] += 1
                elif score > scores[p, 0]:
                    ties[p] = 1
                if score > lowest:
                    at = k - 1
                    while at > 0 and scores[p, at - 1] < score:
                        scores[p, at], rows[p, at] = scores[p, at - 1], rows[p, at - 1]
                        at -= 1
                    scores[p, at], rows[p, at] = score, r
    return looks


@numba.njit(cache=True, nogil=True)
def _score(
    p: int,
    r: int,
    tables: NDArray[np.float32],
    bins: NDArray[np.float32],
    edges: NDArray[np.float32],
    edge_counts: NDArray[np.int64],
    known: NDArray[np.int32],
    levels: NDArray[np.uint16],
    exact: NDArray[np.int32],
    coordinates: NDArray[np.float32],
    starts: NDArray[np.int64],
    rest: NDArray[np.float32],
    lowest: np.float32,
) -> tuple[np.float32, int]:
    """Sum of weights and variables looked at; minus infinity when given up."""
    total = np.float32(0.0)
    for j in range(tables.shape[1]):
        level = levels[r, j]
        weight = tables[p, j, level]
        if np.isnan(weight):  # the exact values decide
            mine, other = known[p, j], exact[r, j]
            if mine == other:
                total += bins[p, j, 0]
            else:
                far = abs(coordinates[starts[j] + mine] - coordinates[starts[j] + other])
                at = 0
                while at < edge_counts[j] and far > edges[j, at]:
                    at += 1
                total += bins[p, j, 1 + at]
        else:
            total += weight
        if total + rest[p, j + 1] < lowest:
            return np.float32(-np.inf), j + 1
    return total, tables.shape[1]
