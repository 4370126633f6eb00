"""Group exchange: records change groups after MDAV, as long as the sum of squared errors falls.

Source: Thaeter and Reischuk (2021), algorithm ONA*, which moves records to nearer groups, dissolves groups that others
take up at less cost, and parts those of 2k. Differs from it: it starts from MDAV's groups instead of random ones,
and two records of neighbouring groups may also be swapped, which is all that groups of k allow.
"""

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray

_NEIGHBOURS = 8  # nearest centroids that a record may go to
_LEAST = 3e-3  # of the errors: the search for new neighbours ends when less is gained


def exchanged_groups(records: FloatArray, groups: IntArray, k: int) -> IntArray:
    """Groups of k to 2k - 1 records, numbered from 0 without a gap, whose sum of squared errors is at most as large.

    A record goes to one of the eight groups whose centroids are nearest to it, in place of one of its records or beside
    them, where the sum of squared errors falls most; a group is dissolved where its records cost less in theirs; a
    group of 2k is parted. That ends when nothing lowers the sum, with neighbours anew while that gains 0.3 %.

    records : shape (n, d), finite, on scales that may be compared
    groups  : shape (n,), numbered from 0 without a gap, k to 2k - 1 records each
    returns : shape (n,); the same records give the same groups
    cost    : O(n d log n) in few dimensions to find neighbours, a few times, and O(n k d) for each of some ten passes;
              O(n d) memory. The benchmarks give the seconds
    """
    from scipy.spatial import KDTree

    from sluice.masking.microaggregation.group_exchange_kernel import exchange

    found = groups.copy()
    before = errors = squared_errors(records, groups)
    while errors > 0:
        sizes = np.bincount(found)
        centroids = np.column_stack([np.bincount(found, weights=column) / sizes for column in records.T])
        number = min(_NEIGHBOURS + 1, len(sizes))
        nearest = KDTree(centroids).query(records, number, workers=-1)[1].reshape(len(records), number)
        found = _without_gaps(exchange(np.ascontiguousarray(records), found, nearest, k, errors * 1e-12))
        left = squared_errors(records, found)
        if left > (1 - _LEAST) * errors:
            errors = min(errors, left)
            break
        errors = left
    return found if squared_errors(records, found) < before else groups


def squared_errors(records: FloatArray, groups: IntArray) -> float:
    """The sum of the squared distances of all records from the mean of their group. Shapes (n, d) and (n,)."""
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, weights=column) / sizes for column in records.T])
    return float(((records - means[groups]) ** 2).sum())


def _without_gaps(groups: IntArray) -> IntArray:
    return np.unique(groups, return_inverse=True)[1]
