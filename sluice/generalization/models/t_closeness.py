"""t-closeness of a generalised file: the sensitive values of each class are distributed much as in the file.

Source: Li, Li and Venkatasubramanian (2007), section 4.
"""

from dataclasses import dataclass

import numpy as np

from sluice.arrays import BoolArray
from sluice.errors import DataError
from sluice.generalization.models.privacy_model import ROUNDING, PrivacyModel, ReleasedFile


@dataclass(frozen=True)
class EqualTCloseness(PrivacyModel):
    """The total variation distance between each class and the file is at most t, 0 to 1."""

    sensitive: str
    t: float

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise DataError(f"t of t-closeness must be from 0 to 1; got {self.t:g}.")

    monotone = True
    monotone_with_suppression = False  # a class that holds and one that does not may unite to one that does not

    def failing(self, file: ReleasedFile) -> BoolArray:
        histogram = file.histogram(self.sensitive)
        q = file.overall(self.sensitive)[histogram.value]
        sizes = histogram.sizes
        excess = np.maximum(histogram.records / sizes[histogram.holder] - q, 0)
        return np.asarray(histogram.sums(excess) > self.t + ROUNDING, dtype=np.bool_)

    def describe(self) -> str:
        return f"t-closeness of '{self.sensitive}' with t = {self.t:g}"
