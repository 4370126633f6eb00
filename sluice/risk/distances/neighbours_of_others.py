"""Nearest neighbours among those of other households: whoever is left out is left out with all who belong to them.

Source: Lasko and Vinterbo (2010), section II.A, leave out the person alone. Differs from it: members of a household
resemble each other in what they share, and their records would be missing, too, had the household stayed out.
"""

import numpy as np

from sluice.ground.arrays import IntArray
from sluice.risk.coded_points import Points, keys_of
from sluice.risk.distances.neighbours import Neighbours, nearest_neighbours
from sluice.risk.row_groups import row_groups

_LARGE = 32  # records of a unit, from which on each unit is searched for by itself


def nearest_of_others(queries: Points, points: Points, k: int, mine: IntArray, theirs: IntArray) -> Neighbours:
    """The k nearest of `points` to each of `queries`, none of the query's own unit.

    mine, theirs : who belongs together, shapes (n,) and (m,)
    raises       : ValueError where fewer than k points are of other units
    cost         : that of `nearest_neighbours` where each is of a unit by itself. Of units of up to 2, 4, ... 32
                   records, of so many neighbours more; larger ones are searched for one by one
    """
    order = np.argsort(theirs, kind="stable")
    start, end = (np.searchsorted(theirs[order], mine, side) for side in ("left", "right"))
    size = end - start
    if size.max(initial=0) < 2:
        own_row = np.where(size > 0, order[np.minimum(start, len(order) - 1)], -1)
        return nearest_neighbours(queries, points, k, own_row)
    groups = row_groups(keys_of(points)).of
    found = Neighbours(np.empty((len(mine), k)), np.empty((len(mine), k), np.int64))
    steps = np.where(size > _LARGE, -1 - mine, np.ceil(np.log2(np.maximum(size, 1))).astype(np.int64))
    for step in np.unique(steps):
        at = np.flatnonzero(steps == step)
        asked = queries.take(at, axis=0)
        if step < 0:
            left = np.flatnonzero(theirs != mine[at[0]])
            near = nearest_neighbours(asked, points.take(left, axis=0), k)
            found.distance[at], found.index[at] = near.distance, left[near.index]
            continue
        most = min(int(size[at].max()), len(points) - k)
        near = nearest_neighbours(asked, points, k + most)
        # Equal points are named by one of them, so of each as many are struck out as the unit has of it.
        group, struck = groups[near.index], np.zeros(near.index.shape, np.bool_)
        for member in range(int(size[at].max())):
            own = groups[order[np.minimum(start[at] + member, len(order) - 1)]]
            same = (group == own[:, None]) & ~struck & (member < size[at])[:, None]
            struck[np.arange(len(at)), same.argmax(axis=1)] |= same.any(axis=1)
        if ((~struck).sum(axis=1) < k).any():
            raise ValueError(f"{k} records of other units are needed for each; a unit leaves fewer of {len(points)}")
        kept = np.argsort(struck, axis=1, kind="stable")[:, :k]
        found.distance[at] = np.take_along_axis(near.distance, kept, axis=1)
        found.index[at] = np.take_along_axis(near.index, kept, axis=1)
    return found
