"""Rank swapping record linkage (RS-RL): what an intruder reaches who knows that, and how far, ranks were swapped.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping", Examples III to VI. An
original value can only have become one of the masked values within p ranks; the masked record lies in the
intersection of these sets over the variables. Torra (2013) speaks of 2p values; its examples hold 2p + 1, the value
itself included, and so do the sets here.
"""

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.linkage.candidate_sets import CandidateSets, candidate_sets


def rank_swapping_linkage(
    original: FloatArray, released: FloatArray, window: float, rows: IntArray | None = None
) -> CandidateSets:
    """Link each attacked record within its candidate set.

    original, released : shape (n, d), NaN where missing, row i of both being the same record
    window             : how far a value may have moved in rank: share of the records in (0, 1], as in rank swapping
    rows               : the original records that are attacked, shape (q,); all of them when not given
    missing            : rank swapping leaves a missing value where it is, so it can only be a missing one
    ties               : equal values were ranked at random, so the window begins at the lowest and ends at the highest
                         rank of the value, and holds every record of the values at its ends
    raises             : DataError when the window is not in (0, 1] or the shapes differ
    cost               : O(n d log n + q n window d) time, O(n d) memory
    """
    if not 0 < window <= 1:
        hint = f" Is it a percentage? Use {window / 100:g}." if 1 < window <= 100 else ""
        raise DataError(f"window of rank_swapping_linkage must be in (0, 1]; got {window:g}.{hint}")

    def within_reach(known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        reach = int(window * len(ranked) * (1 + 1e-12))  # 0.29 * 100 is 28.999...
        lowest = np.searchsorted(ranked, known, "left") - reach
        highest = np.searchsorted(ranked, known, "right") - 1 + reach
        return ranked[np.clip(lowest, 0, len(ranked) - 1)], ranked[np.clip(highest, 0, len(ranked) - 1)]

    return candidate_sets(original, released, within_reach, rows)
