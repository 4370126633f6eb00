"""delta-disclosure privacy of a generalised file: no class makes a sensitive value much more or less likely.

Source: Brickell and Shmatikov (2008), Definition 5: |ln(p / q)| < delta for every value, with p its share in the class
and q its share in the file.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Histogram
from sluice.generalization.models.privacy_model import ReleasedFile
from sluice.generalization.models.sensitive_model import SensitiveModel, overall, shares
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """delta is more than 0.

    absent : whether a value of the file that a class lacks breaks the model, as the definition has it. ARX and pycanon
             leave it out
    """

    delta: float
    absent: bool = True

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise DataError(f"delta of delta-disclosure privacy must be more than 0; got {self.delta:g}.")

    @property
    def monotone(self) -> bool:
        return self.absent  # else a class that lacks a value may make it rare in one that has it

    compares = True
    monotone_with_suppression = False

    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        q = overall(histogram, file, self.sensitive)
        told = q > 0  # classes with other values are suppressed already
        ratio = np.where(told, np.abs(np.log(shares(histogram) / np.where(told, q, 1.0))), 0.0)
        broken = histogram.largest(np.where(ratio >= self.delta, 1.0, 0.0)) > 0
        if self.absent:
            broken |= histogram.different < int((file.overall(self.sensitive) > 0).sum())
        return broken

    def describe(self) -> str:
        return f"delta-disclosure privacy of '{self.sensitive}' with delta = {self.delta:g}"
