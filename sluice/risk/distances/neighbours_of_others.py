"""Nearest neighbours among those of other households: whoever is left out is left out with all who belong to them.

Source: Lasko and Vinterbo (2010), section II.A, leave out the person alone. Differs from it: members of a household
resemble each other in what they share, and their records would be missing, too, had the household stayed out.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, IntArray
from sluice.risk.coded_points import Points, keys_of
from sluice.risk.distances.neighbours import Neighbours, nearest_neighbours, places_by_copies
from sluice.risk.row_groups import row_groups

_MORE = 64  # most neighbours that are asked for besides k, as many of them may be of the own unit


def nearest_of_others(queries: Points, points: Points, k: int, mine: IntArray, theirs: IntArray) -> Neighbours:
    """The k nearest of `points` to each of `queries`, none of the query's own unit.

    mine, theirs : who belongs together, shapes (n,) and (m,)
    raises       : ValueError where fewer than k points are of other units
    cost         : that of `nearest_neighbours` where each is of a unit by itself. Of units of up to 2, 4, ... 64
                   records, of so many neighbours more. Where all of these are of a larger unit, that of about log2(u)
                   searches of half of the queries among half of the points, for u such units
    """
    order = np.argsort(theirs, kind="stable")
    start, end = (np.searchsorted(theirs[order], mine, side) for side in ("left", "right"))
    size = end - start
    if size.max(initial=0) < 2:
        own_row = np.where(size > 0, order[np.minimum(start, len(order) - 1)], -1)
        return nearest_neighbours(queries, points, k, own_row)
    if len(points) - size.max() < k:
        raise ValueError(f"{k} records of other units are needed for each; a unit leaves fewer of {len(points)}")
    equal = _EqualPoints.of(points, theirs)
    found = Neighbours(np.empty((len(mine), k)), np.empty((len(mine), k), np.int64))
    steps = np.ceil(np.log2(np.clip(size, 1, _MORE))).astype(np.int64)
    left = list[IntArray]()
    for step in np.unique(steps):
        at = np.flatnonzero(steps == step)
        most = min(int(size[at].max()), _MORE, len(points) - k)
        near = nearest_neighbours(queries.take(at, axis=0), points, k + most)
        struck = equal.own(near.index, mine[at])
        kept = np.argsort(struck, axis=1, kind="stable")[:, :k]
        found.distance[at] = np.take_along_axis(near.distance, kept, axis=1)
        found.index[at] = np.take_along_axis(near.index, kept, axis=1)
        left.append(at[(~struck).sum(axis=1) < k])
    rest = np.concatenate(left)
    if len(rest):
        near = _nearest_by_bits(queries.take(rest, axis=0), points, k, mine[rest], theirs, equal)
        found.distance[rest], found.index[rest] = near.distance, near.index
    return found


@dataclass(frozen=True)
class _EqualPoints:
    """How many points are equal, of all and of each unit: equal ones are named by one of them when they are found.

    of_point: (m,) group of each point; sizes: of each group
    pairs   : of units and groups that occur, as unit times number of groups plus group, rising; counts: how often
    """

    of_point: IntArray
    sizes: IntArray
    pairs: IntArray
    counts: IntArray

    @classmethod
    def of(cls, points: Points, theirs: IntArray) -> "_EqualPoints":
        groups = row_groups(keys_of(points))
        pairs, counts = np.unique(theirs * len(groups.size) + groups.of, return_counts=True)
        return cls(groups.of, groups.size, pairs, counts)

    def of_unit(self, group: IntArray, unit: IntArray) -> IntArray:
        """How many of each group are of the unit; arrays that fit each other."""
        pair = unit * len(self.sizes) + group
        place = np.minimum(np.searchsorted(self.pairs, pair), len(self.pairs) - 1)
        return np.where(self.pairs[place] == pair, self.counts[place], 0)

    def own(self, index: IntArray, unit: IntArray) -> BoolArray:
        """Which of the points that were found, shape (q, k), are of the unit: of equal ones as many as it has."""
        group = self.of_point[index]
        before = np.zeros(group.shape, np.int64)
        for at in range(1, group.shape[1]):
            before[:, at] = (group[:, :at] == group[:, at : at + 1]).sum(axis=1)
        return np.asarray(before < self.of_unit(group, unit[:, None]))


def _nearest_by_bits(
    queries: Points, points: Points, k: int, mine: IntArray, theirs: IntArray, equal: _EqualPoints
) -> Neighbours:
    """The same whatever the sizes of units: two units differ in a bit of their numbers, so that for each bit those who
    have it are searched for among those who have not, and the other way round."""
    units, mine_at = np.unique(mine, return_inverse=True)
    theirs_at = np.minimum(np.searchsorted(units, theirs), len(units) - 1)
    theirs_at = np.where(units[theirs_at] == theirs, theirs_at, len(units))  # whoever is of no such unit
    bits = len(units).bit_length()
    distance, index = np.full((len(mine), bits * k), np.inf), np.zeros((len(mine), bits * k), np.int64)
    for bit in range(bits):
        for has in (0, 1):
            asked, among = np.flatnonzero(mine_at >> bit & 1 == has), np.flatnonzero(theirs_at >> bit & 1 != has)
            if not (len(asked) and len(among)):
                continue
            most = min(k, len(among))
            near = nearest_neighbours(queries.take(asked, axis=0), points.take(among, axis=0), most)
            columns = np.arange(bit * k, bit * k + most)
            distance[asked[:, None], columns], index[asked[:, None], columns] = near.distance, among[near.index]
    group = equal.of_point[index]
    by_group = np.lexsort((distance, group))
    again = np.zeros(group.shape, np.bool_)
    sorted_groups = np.take_along_axis(group, by_group, axis=1)
    np.put_along_axis(again, by_group[:, 1:], sorted_groups[:, 1:] == sorted_groups[:, :-1], axis=1)
    distance[again] = np.inf
    by_distance = np.argsort(distance, axis=1, kind="stable")
    distance, index, group = (np.take_along_axis(each, by_distance, axis=1) for each in (distance, index, group))
    times = np.where(np.isfinite(distance), equal.sizes[group] - equal.of_unit(group, mine[:, None]), 0)
    place = places_by_copies(times, k)
    return Neighbours(np.take_along_axis(distance, place, axis=1), np.take_along_axis(index, place, axis=1))
