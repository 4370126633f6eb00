"""(alpha,k)-anonymity of a generalised file: classes of k records in which nobody is too sure of a sensitive value.

Source: Wong, Li, Fu and Wang (2006), Definitions 2 and 3.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Histogram
from sluice.generalization.models.privacy_model import ROUNDING, ReleasedFile
from sluice.generalization.models.sensitive_model import SensitiveModel, shares
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class AlphaKAnonymity(SensitiveModel):
    """A class has at least k records, and at most the share alpha of them has any one sensitive value.

    alpha  : more than 0, at most 1; of the records with a value
    values : codes of the values that are sensitive; all when None
    """

    alpha: float
    k: int
    values: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 1:
            raise DataError(f"alpha of (alpha,k)-anonymity must be more than 0 and at most 1; got {self.alpha:g}.")
        if self.k < 1:
            raise DataError(f"k of (alpha,k)-anonymity must be 1 or more; got {self.k}.")

    monotone = True
    monotone_with_suppression = False  # a class of one value may outweigh one of many

    def failing(self, file: ReleasedFile) -> BoolArray:
        small = (file.node.sizes < self.k) & (file.node.sizes > 0)
        return super().failing(file) | small

    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        share = shares(histogram)
        if self.values is not None:
            share = np.where(np.isin(histogram.value, self.values), share, 0.0)
        return histogram.largest(share) > self.alpha + ROUNDING

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.hidden_class < self.k

    def describe(self) -> str:
        return f"(alpha,k)-anonymity of '{self.sensitive}' with alpha = {self.alpha:g} and k = {self.k}"
