"""The loop of the learned linker: the candidates with the highest sums of weights, for a few people at a time.

A tile of released records stays in the cache while each person of the call looks at it, one variable after the other:
what remains of the tile after a few variables is what the variables that are left could still lift among the best so
far. Only such records are scored in full, with the exact values of numbers.
"""

import numba
import numpy as np
from numpy.typing import NDArray

_TILE = 2_048  # released records that are looked at for each person in turn
_PASS = 6  # variables that are added up before the hopeless records are dropped
_ROUNDING = 1e-3  # slack of the sums of 32-bit weights


@numba.njit(cache=True, nogil=True)
def best_candidates(
    tables: NDArray[np.float32],  # (q, v, levels) weight of each level; overwritten
    spans: NDArray[np.int64],  # (q, v, 2) levels from and to which exact values decide
    bins: NDArray[np.float32],  # (q, v, most bins) weight if equal, and of each bin of closeness
    edges: NDArray[np.float32],  # (v, most edges)
    edge_counts: NDArray[np.int64],  # (v,)
    known: NDArray[np.int32],  # (q, v) exact code of the known value
    rows_of: NDArray[np.int64],  # (v,) the row of `levels` and `exact` that each variable has
    levels: NDArray[np.uint16],  # (., m)
    exact: NDArray[np.int32],  # (., m)
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
    m, k = levels.shape[1], rows.shape[1]
    rest = np.zeros((q, v + 1), np.float32)  # the most that the variables from j on can add
    looks = 0
    for p in range(q):
        for j in range(v - 1, -1, -1):
            tables[p, j, max(spans[p, j, 0], 0) : spans[p, j, 1] + 1] = bins[p, j].max()  # at most, till looked up
            rest[p, j] = rest[p, j + 1] + tables[p, j].max()
        rows[p], scores[p], ties[p] = -1, -np.inf, 0
        own_score[p] = -np.inf
        if own[p] >= 0:
            own_score[p] = _score(p, own[p], tables, spans, bins, edges, edge_counts, known, rows_of, levels, exact,
                                  coordinates, starts)  # fmt: skip
    sums, at = np.empty(_TILE, np.float32), np.empty(_TILE, np.int64)
    for first in range(0, m, _TILE):
        tile = min(_TILE, m - first)
        for p in range(q):
            lowest = scores[p, k - 1] - np.float32(_ROUNDING)
            sums[:tile] = 0.0
            for j in range(min(_PASS, v)):
                weight, level = tables[p, j], levels[rows_of[j], first : first + tile]
                for i in range(tile):
                    sums[i] += weight[level[i]]
            looks += tile * min(_PASS, v)
            left = 0
            for i in range(tile):
                at[left], sums[left] = first + i, sums[i]
                left += sums[i] + rest[p, min(_PASS, v)] >= lowest
            for start in range(_PASS, v, _PASS):
                end = min(start + _PASS, v)
                for j in range(start, end):
                    weight, level = tables[p, j], levels[rows_of[j]]
                    for i in range(left):
                        sums[i] += weight[level[at[i]]]
                looks += left * (end - start)
                kept = 0
                for i in range(left):
                    total = sums[i]
                    at[kept], sums[kept] = at[i], total
                    kept += total + rest[p, end] >= lowest
                left = kept
            for i in range(left):
                r = at[i]
                if r == own[p] or sums[i] < scores[p, k - 1] - np.float32(_ROUNDING):
                    continue
                score = _score(p, r, tables, spans, bins, edges, edge_counts, known, rows_of, levels, exact,
                               coordinates, starts)  # fmt: skip
                if score == scores[p, 0]:
                    ties[p] += 1
                elif score > scores[p, 0]:
                    ties[p] = 1
                if score > scores[p, k - 1]:
                    place = k - 1
                    while place > 0 and scores[p, place - 1] < score:
                        scores[p, place], rows[p, place] = scores[p, place - 1], rows[p, place - 1]
                        place -= 1
                    scores[p, place], rows[p, place] = score, r
    return looks


@numba.njit(cache=True, nogil=True)
def _score(
    p: int,
    r: int,
    tables: NDArray[np.float32],
    spans: NDArray[np.int64],
    bins: NDArray[np.float32],
    edges: NDArray[np.float32],
    edge_counts: NDArray[np.int64],
    known: NDArray[np.int32],
    rows_of: NDArray[np.int64],
    levels: NDArray[np.uint16],
    exact: NDArray[np.int32],
    coordinates: NDArray[np.float32],
    starts: NDArray[np.int64],
) -> np.float32:
    """Sum of weights, by exact values where these decide."""
    total = np.float32(0.0)
    for j in range(tables.shape[1]):
        level = levels[rows_of[j], r]
        if spans[p, j, 0] <= level <= spans[p, j, 1]:
            mine, other = known[p, j], exact[rows_of[j], r]
            at = 0
            if mine != other:
                far = abs(coordinates[starts[j] + mine] - coordinates[starts[j] + other])
                at = 1
                while at <= edge_counts[j] and far > edges[j, at - 1]:
                    at += 1
            total += bins[p, j, at]
        else:
            total += tables[p, j, level]
    return total
