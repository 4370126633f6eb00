"""Relative changes: |a - a'| / |a|, with a stated treatment of what the ratio has no value for."""

import numpy as np

from sluice.ground.arrays import FloatArray


def relative_changes(original: FloatArray, masked: FloatArray, negligible: float | FloatArray = 0.0) -> FloatArray:
    """The change of each figure, relative to the original one: 0 for none, without an upper bound.

    original, masked : arrays of one shape; NaN for what does not exist
    negligible       : an original of at most this size counts as 0, as does a masked one
    returns          : the same shape, NaN where the original is NaN

    An original of 0 has no relative change: it counts as 0 when it stayed and as 1, a change of the whole, when it did
    not. A figure that the masked file does not give (a suppressed value, the mean of a removed variable) counts as 1
    likewise. An original that is small beside its change still gives a large one: that is how the ratio is defined.
    """
    before = np.where(np.abs(original) <= negligible, 0.0, original)
    after = np.where(np.abs(masked) <= negligible, 0.0, masked)
    nothing = before == 0
    changes = np.abs(before - after) / np.abs(np.where(nothing, 1.0, before))
    changes = np.where(nothing, np.where(after == 0, 0.0, 1.0), changes)
    return np.where(np.isnan(before), np.nan, np.where(np.isnan(after), 1.0, changes))
