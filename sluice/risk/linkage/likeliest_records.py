"""The likeliest records where people are expected at several places: one for each map that may hold."""

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.linkage.learned_linker import Candidates

_DECIMALS = 9  # distances that agree to so many decimals are tied
_AT_ONCE = 8_000_000  # scores of some people and all records
_TIED = 1e-6


def likeliest_records(
    x: FloatArray, maps: FloatArray, points: FloatArray, people: IntArray, records: IntArray, most: int,
    places: IntArray | None = None,
) -> Candidates:  # fmt: skip
    """Of these people the likeliest of these records, which rise and hold all of the people's own.

    x      : (q, p + 1), what is known of the people, and 1
    maps   : (parts, p + 1, d)
    points : (r, d)
    places : (r,) which map holds for each record; None: any of them may, and the likeliest counts
    cost   : O(q r d) for q people and r records; times the maps where any may hold
    """
    order = np.arange(len(records)) if places is None else np.argsort(places, kind="stable")
    held = np.arange(len(maps))
    starts, ends = np.zeros(len(maps), np.int64), np.full(len(maps), len(order))
    if places is not None:
        held, starts = np.unique(places[order], return_index=True)
        ends = np.append(starts[1:], len(order))
    sorted_points, sizes = points[order], (points[order] ** 2).sum(axis=1)
    own_at = np.searchsorted(records, people)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    k = min(most, len(records) - 1)
    own, ties = np.empty(len(people)), np.empty(len(people), np.int64)
    found, scores = np.empty((len(people), k), np.int64), np.empty((len(people), k))
    at_a_time = max(1, min(256, _AT_ONCE // len(records)))
    map_at = None if places is None else np.searchsorted(held, places[order])
    for start in range(0, len(people), at_a_time):
        block = slice(start, start + at_a_time)
        expected = x[block] @ maps[held]  # (parts, people, d)
        near = np.full((expected.shape[1], len(order)), -np.inf)
        for of, first, last in zip(expected, starts.tolist(), ends.tolist(), strict=True):
            by_map = of @ sorted_points[first:last].T
            by_map -= (of**2).sum(axis=1)[:, None] / 2
            np.maximum(near[:, first:last], by_map, out=near[:, first:last])
        near -= sizes / 2
        every, mine = np.arange(len(near)), position[own_at[block]]
        near[every, mine] = -np.inf
        top = np.argpartition(near, near.shape[1] - k, axis=1)[:, near.shape[1] - k :]

        def score(at: IntArray, expected: FloatArray = expected, every: IntArray = every) -> FloatArray:
            if map_at is None:
                apart = np.min([((sorted_points[at] - of[:, None]) ** 2).sum(axis=2) for of in expected], axis=0)
            else:
                apart = ((sorted_points[at] - expected[map_at[at], every[:, None]]) ** 2).sum(axis=2)
            return np.asarray(-(np.round(np.sqrt(apart), _DECIMALS) ** 2) / 2)

        exact = score(top)
        by_score = np.argsort(-exact, axis=1, kind="stable")
        top, exact = np.take_along_axis(top, by_score, axis=1), np.take_along_axis(exact, by_score, axis=1)
        own[block], scores[block], found[block] = score(mine[:, None])[:, 0], exact, records[order[top]]
        tied = (exact == exact[:, :1]).sum(axis=1)
        for at in np.flatnonzero(tied == k):
            best = near[at, top[at, 0]]
            tied[at] = np.count_nonzero(near[at] >= best - _TIED * max(1.0, abs(best)))
        ties[block] = tied
    return Candidates(own, found, scores, ties)
