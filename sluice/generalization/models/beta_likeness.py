"""beta-likeness of a generalised file: no class makes a sensitive value much more likely than the file does.

Source: Cao and Karras (2012), Definitions 2 (basic) and 3 (enhanced). A value with share q in the file and p in a class
gains (p - q) / q; a value that is rarer in the class gains nothing.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Histogram
from sluice.generalization.models.privacy_model import ROUNDING, ReleasedFile
from sluice.generalization.models.sensitive_model import SensitiveModel, overall, shares
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class BetaLikeness(SensitiveModel):
    """The gain of each value is at most beta, which is more than 0.

    enhanced : and at most -ln q, so that a frequent value may not become almost certain
    """

    beta: float
    enhanced: bool = False

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise DataError(f"beta of beta-likeness must be more than 0; got {self.beta:g}.")

    compares = True
    monotone = True  # the largest gain of a mixture lies between those of its parts
    monotone_with_suppression = False

    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        q = overall(histogram, file, self.sensitive)
        told = q > 0  # classes with other values are suppressed already
        q = np.where(told, q, 1.0)
        gain = np.where(told, shares(histogram) / q - 1, 0.0)
        bound = np.minimum(self.beta, -np.log(q)) if self.enhanced else self.beta
        return histogram.largest(np.where(gain > bound + ROUNDING, 1.0, 0.0)) > 0

    def describe(self) -> str:
        return (
            f"{'enhanced' if self.enhanced else 'basic'} beta-likeness of '{self.sensitive}' with beta = {self.beta:g}"
        )
