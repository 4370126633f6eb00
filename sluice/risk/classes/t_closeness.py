"""t-closeness: how far the sensitive values of a class lie from those of the whole file.

Source: Li, Li and Venkatasubramanian (2007), section 4: the earth mover's distance with the equal, the ordered and the
hierarchical ground distance.

Each function gives one distance a class, 0 (the class is a picture of the file) to 1; the file's t is the largest.
Higher is worse. A missing sensitive value is a value of its own; in an order it stands after the largest. The order
counts the values that occur in the file, so a category that nobody has neither widens nor narrows a distance.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.taxonomy import taxonomy_of
from sluice.ground.variables import as_label
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.equivalence_classes import Codes, EquivalenceClasses


def equal_distance(classes: EquivalenceClasses, sensitive: Codes) -> FloatArray:
    """Every value is as far from every other: the total variation distance, half the sum of |p - q|.

    sensitive : shape (n,), codes of the sensitive variable (see `category_codes`)
    returns   : shape (c,)
    cost      : O(n log n)
    """
    found = class_values(classes, sensitive)
    q = found.overall[found.value]
    # Values that a class lacks add their whole q; those it has add |p - q|.
    among = np.bincount(found.holder, weights=np.abs(found.share - q), minlength=len(classes.sizes))
    covered = np.bincount(found.holder, weights=q, minlength=len(classes.sizes))
    return np.clip((among + 1.0 - covered) / 2, 0.0, 1.0)


def hierarchical_distance(classes: EquivalenceClasses, levels: Sequence[Codes]) -> FloatArray:
    """Two values are as far apart as the lowest level at which one group holds both, relative to the root's.

    levels  : for each level of the hierarchy from the values themselves (level 0) up to below the root, shape (n,), the
              codes of the group that holds each record's value; nested
    returns : shape (c,)
    raises  : DataError if there is no level
    cost    : O(n log n) a level

    Section 4.4 sums, over the inner nodes, their height times the mass that is moved between their children. The mass
    between children of the nodes at level h is the total variation distance at h - 1 less that at h, so that the sum
    telescopes: it is the mean over the levels of the total variation distance between the groups of that level.
    """
    if not levels:
        raise DataError("the hierarchical distance needs at least one level; got none.")
    return np.asarray(np.mean([equal_distance(classes, level) for level in levels], axis=0), dtype=np.float64)


def hierarchy_levels(column: "pd.Series[Any]", hierarchy: Hierarchy) -> list[Codes]:
    """The groups that hold each record's value, level by level, as `hierarchical_distance` takes them.

    column  : typed; its values are leaves of the hierarchy. A missing value is a branch of its own below the root
    returns : arrays of shape (n,). The root is the lowest level at which all values that occur lie in one group, so
              that leaves which nobody has change nothing
    raises  : DataError if the hierarchy lacks a value
    """
    codes, values = pd.factorize(column, sort=True)
    try:
        nodes = taxonomy_of([str(as_label(value)) for value in values], hierarchy).nodes
    except ValueError as error:
        raise DataError(f"'{column.name}': {error}.") from None
    # One more row, at the end where the code -1 finds it: a group that no value has.
    with_missing = np.vstack([nodes, nodes.max(axis=0, initial=-1) + 1])
    return [level[codes] for level in with_missing.T]


def ordered_distance(classes: EquivalenceClasses, sensitive: Codes) -> FloatArray:
    """Values i and j of m are |i - j| / (m - 1) apart: the mean gap of the two cumulative distributions.

    sensitive : shape (n,), codes in the order of the values, missing last (see `category_codes`)
    returns   : shape (c,); 0 where the file has a single value
    cost      : O(n log n), also for as many values as records
    """
    found = class_values(classes, sensitive)
    holder, counts = found.holder, found.records
    occurrences = np.bincount(sensitive)
    occurs = np.flatnonzero(occurrences)
    m = len(occurs)
    if m == 1:
        return np.zeros(len(classes.sizes))
    rank = np.searchsorted(occurs, found.value)
    whole = np.cumsum(occurrences[occurs]) / len(sensitive)  # Q at each of the m values
    area = np.concatenate([[0.0], np.cumsum(whole)])  # area[i] = Q summed over the first i values

    # Within a class the cumulative P is a staircase: 0 before the first of its values, then constant up to the next.
    first = np.concatenate([[True], holder[1:] != holder[:-1]])
    last = np.concatenate([first[1:], [True]])
    cumulative = np.cumsum(counts)
    before = (cumulative - counts)[first][np.cumsum(first) - 1]  # records of the classes before this one
    level = (cumulative - before) / classes.sizes[holder]
    stop = np.where(last, m, np.concatenate([rank[1:], [0]]))
    gap = _gap(whole, area, level, rank, stop) + np.where(first, area[rank], 0.0)
    return np.clip(np.bincount(holder, weights=gap, minlength=len(classes.sizes)) / (m - 1), 0.0, 1.0)


def _gap(whole: FloatArray, area: FloatArray, level: FloatArray, start: IntArray, stop: IntArray) -> FloatArray:
    """Sum of |level - Q_i| over i in [start, stop): Q rises, so it crosses the level once."""
    cross = np.clip(np.searchsorted(whole, level), start, stop)
    below = level * (cross - start) - (area[cross] - area[start])
    above = (area[stop] - area[cross]) - level * (stop - cross)
    return np.asarray(below + above, dtype=np.float64)
