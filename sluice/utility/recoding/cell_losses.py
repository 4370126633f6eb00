"""Cell losses: what the cells of a variable lost by recoding, suppression and removal.

Each is 0 for a value that stands for itself alone and 1 for one that may be anything, on average over the masked
records; higher is worse. A value that was missing in the original loses nothing, a suppressed one all, and so does each
value of a removed variable. A number that was moved and not recoded stands for itself: other measures see that.
"""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from sluice.utility.recoding.released_groups import ReleasedGroups


class CellLosses(NamedTuple):
    """Of one variable, each 0 to 1; NaN where it cannot be told.

    certainty  : the normalised certainty penalty (NCP, the same as ILoss): of categories (values of the group - 1) /
                 (all values - 1), of numbers and dates the width of the group by that of all (Xu, Wang, Pei, Wang, Shi
                 and Fu 2006, section 2.2; Xiao and Tao 2006)
    distortion : the share of the cells that are not the value itself (minimal distortion: Samarati 2001)
    entropy    : non-uniform entropy: the bits that a value's group leaves open, by those of the variable (Gionis and
                 Tassa 2009, section 3.1)
    precision  : what precision lacks of 1: the level in the hierarchy by its height (Sweeney 2002)
    """

    certainty: float
    distortion: float
    entropy: float
    precision: float


def cell_losses(groups: ReleasedGroups) -> CellLosses:
    """The losses of one variable. Cost: O(groups)."""
    if np.isnan(groups.suppressed):
        return CellLosses(nan, nan, nan, nan)
    lost = groups.suppressed
    penalty = groups.width
    if penalty is None:
        penalty = (groups.values - 1) / max(groups.all_values - 1, 1)
    bits = groups.bits / groups.all_bits if groups.all_bits > 0 else np.zeros(len(groups.bits))
    shown = groups.share > 0
    return CellLosses(
        certainty=min(1.0, float(groups.share @ penalty) + lost),
        distortion=min(1.0, float(groups.share @ (groups.values > 1)) + lost),
        entropy=min(1.0, float(groups.share @ bits) + lost),
        precision=float(np.minimum(1.0, groups.share[shown] @ groups.level[shown] + lost)) if groups.height else nan,
    )


def mean_certainty_penalty(variables: Sequence[ReleasedGroups]) -> float:
    """The mean NCP of the variables, each counting alike; NaN without any, or if one is not known."""
    return float(np.mean([cell_losses(each).certainty for each in variables])) if variables else nan
