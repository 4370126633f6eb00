"""t-closeness: how far the sensitive values of a class lie from those of the whole file.

Source: Li, Li and Venkatasubramanian (2007), section 4: the earth mover's distance with the equal, the ordered and the
hierarchical ground distance.

Each function gives one distance a class, 0 (the class is a picture of the file) to 1; the file's t is the largest.
Higher is worse. Somebody with several values counts for each of them. The order counts the values that occur in the
file, so a category that nobody has neither widens nor narrows a distance.
"""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy, taxonomy_of
from sluice.risk.classes.class_values import ClassValues


def equal_distance(found: ClassValues) -> FloatArray:
    """Every value is as far from every other: the total variation distance, half the sum of |p - q|.

    returns : shape (c,)
    cost    : O(pairs)
    """
    return found.sums(np.maximum(found.distribution - found.mass[found.value], 0.0))


def hierarchical_distance(found: ClassValues, levels: IntArray) -> FloatArray:
    """Two values are as far apart as the lowest level at which one group holds both, relative to the root's.

    levels  : shape (levels, codes), from the values themselves (0) up to below the root, the group that holds each
              value; nested
    returns : shape (c,)
    raises  : DataError if there is no level
    cost    : a sort of the pairs a level

    Section 4.4 sums, over the inner nodes, their height times the mass that is moved between their children. The mass
    between children of the nodes at level h is the total variation distance at h - 1 less that at h, so that the sum
    telescopes: it is the mean over the levels of the total variation distance between the groups of that level.
    """
    if not len(levels):
        raise DataError("the hierarchical distance needs at least one level; got none.")
    q, p = found.mass, found.distribution
    distance = np.zeros(len(found.sizes))
    for level in levels:
        groups = int(level.max()) + 1
        whole = np.bincount(level[: len(q)], q, groups)
        cells, cell = np.unique(found.holder * groups + level[found.value], return_inverse=True)
        holder, group = np.divmod(cells, groups)
        apart = np.maximum(np.bincount(cell, p, len(cells)) - whole[group], 0.0)
        distance += np.bincount(holder, apart, len(distance))
    return distance / len(levels)


def hierarchy_levels(values: Sequence[str], hierarchy: Hierarchy, name: str) -> IntArray:
    """The groups that hold each value, level by level, as `hierarchical_distance` takes them.

    values  : the categories, by code
    name    : of the variable
    returns : shape (levels, codes). The root is the lowest level at which all that the hierarchy lists lie in one group
    raises  : DataError if the hierarchy lacks a value
    """
    try:
        return taxonomy_of(values, hierarchy).nodes.T
    except ValueError as error:
        raise DataError(f"'{name}': {error}.") from None


def ordered_distance(found: ClassValues) -> FloatArray:
    """Values i and j of m are |i - j| / (m - 1) apart: the mean gap of the two cumulative distributions.

    returns : shape (c,); 0 where the file has a single value. Codes are in the order of the values
    cost    : O(pairs), also for as many values as records
    """
    holder, occurs = found.holder, np.flatnonzero(found.mass)
    m = len(occurs)
    if m < 2 or not len(holder):
        return np.zeros(len(found.sizes))
    rank = np.searchsorted(occurs, found.value)
    whole = np.cumsum(found.mass[occurs])  # Q at each of the m values
    area = np.concatenate([[0.0], np.cumsum(whole)])  # area[i] = Q summed over the first i values

    # Within a class the cumulative P is a staircase: 0 before the first of its values, then constant up to the next.
    first = np.concatenate([[True], holder[1:] != holder[:-1]])
    last = np.concatenate([first[1:], [True]])
    cumulative = np.cumsum(found.records)
    before = (cumulative - found.records)[first][np.cumsum(first) - 1]  # records of the classes before this one
    level = (cumulative - before) / found.sums(found.records)[holder]
    stop = np.where(last, m, np.concatenate([rank[1:], [0]]))
    gap = _gap(whole, area, level, rank, stop) + np.where(first, area[rank], 0.0)
    return np.clip(found.sums(gap) / (m - 1), 0.0, 1.0)


def _gap(whole: FloatArray, area: FloatArray, level: FloatArray, start: IntArray, stop: IntArray) -> FloatArray:
    """Sum of |level - Q_i| over i in [start, stop): Q rises, so it crosses the level once."""
    cross = np.clip(np.searchsorted(whole, level), start, stop)
    below = level * (cross - start) - (area[cross] - area[start])
    above = (area[stop] - area[cross]) - level * (stop - cross)
    return np.asarray(below + above, dtype=np.float64)
