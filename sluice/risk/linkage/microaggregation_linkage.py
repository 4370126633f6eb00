"""Microaggregation linkage: what an intruder reaches who knows that each variable was microaggregated by itself.

Source: Torra (2013), "Rank swapping record linkage (RS-RL)", Discussion: "microaggregation with individual
ranking (univariate) can also be attacked effectively"; the slides do not spell it out. Here: the groups of one
variable follow each other in the order of the values and each mean lies within its group, so a value belongs to a
group with one of the two nearest means, the one below and the one above; equal values may have been parted, so a mean
that equals the value counts with both. The released record lies in the intersection over the variables.
Where the groups were formed within strata, or the variance was restored afterwards, these bounds do not hold, and the
figure is too small.
"""

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.linkage.candidate_sets import CandidateSets, candidate_sets


def microaggregation_linkage(original: FloatArray, released: FloatArray, rows: IntArray | None = None) -> CandidateSets:
    """Link each attacked record within its candidate set.

    original, released : shape (n, d), NaN where missing, row i of both being the same record; the means or any other
                         values within their groups (medians, rounded means)
    rows               : the original records that are attacked, shape (q,); all of them when not given
    missing            : a missing value can only be a missing one
    raises             : DataError when the shapes differ
    cost               : O(n d log n + q g d) time for g records in a variable's two or three groups; O(n d) memory
    """
    return candidate_sets(original, released, _nearest_means, rows)


def _nearest_means(known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The next lower and the next higher mean of each value, where there is one."""
    below = np.searchsorted(ranked, known, "left") - 1
    above = np.searchsorted(ranked, known, "right")
    return ranked[np.clip(below, 0, len(ranked) - 1)], ranked[np.clip(above, 0, len(ranked) - 1)]
