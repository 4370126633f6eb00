"""t-closeness: how far the sensitive values of a class lie from those of the whole file.

Source: Li, Li and Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007, section 4:
the earth mover's distance with the equal and with the ordered ground distance.

Each function gives one distance a class, 0 (the class is a picture of the file) to 1; the file's t is the largest.
Higher is worse. A missing sensitive value is a value of its own; in an order it stands after the largest. The order
counts the values that occur in the file, so a category that nobody has neither widens nor narrows a distance.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.errors import DataError
from sluice.risk.equivalence_classes import Codes, EquivalenceClasses, IntArray

FloatArray = NDArray[np.float64]


def equal_distance(classes: EquivalenceClasses, sensitive: Codes) -> FloatArray:
    """Every value is as far from every other: the total variation distance, half the sum of |p - q|.

    sensitive : shape (n,), codes of the sensitive variable (see `category_codes`)
    returns   : shape (c,)
    cost      : O(n log n)
    """
    holder, value, counts = _values_in_classes(classes, sensitive)
    p = counts / classes.sizes[holder]
    q = np.bincount(sensitive)[value] / len(sensitive)
    # Values that a class lacks add their whole q; those it has add |p - q|.
    among = np.bincount(holder, weights=np.abs(p - q), minlength=len(classes.sizes))
    covered = np.bincount(holder, weights=q, minlength=len(classes.sizes))
    return np.clip((among + 1.0 - covered) / 2, 0.0, 1.0)


def ordered_distance(classes: EquivalenceClasses, sensitive: Codes) -> FloatArray:
    """Values i and j of m are |i - j| / (m - 1) apart: the mean gap of the two cumulative distributions.

    sensitive : shape (n,), codes in the order of the values, missing last (see `category_codes`)
    returns   : shape (c,); 0 where the file has a single value
    cost      : O(n log n), also for as many values as records
    """
    holder, value, counts = _values_in_classes(classes, sensitive)
    occurrences = np.bincount(sensitive)
    occurs = np.flatnonzero(occurrences)
    m = len(occurs)
    if m == 1:
        return np.zeros(len(classes.sizes))
    rank = np.searchsorted(occurs, value)
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


def _values_in_classes(classes: EquivalenceClasses, sensitive: Codes) -> tuple[IntArray, IntArray, IntArray]:
    """The different (class, value) pairs, sorted: the class, the value and the number of records of each."""
    if len(sensitive) != len(classes.labels):
        raise DataError(
            f"classes and sensitive values must have one length; got {len(classes.labels)}, {len(sensitive)}."
        )
    if not len(sensitive):
        raise DataError("t-closeness needs at least one record; got none.")
    values = int(sensitive.max()) + 1
    pairs, counts = np.unique(classes.labels * values + sensitive, return_counts=True)
    holder, value = np.divmod(pairs, values)
    return holder, value, counts
