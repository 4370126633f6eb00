"""l-diversity of a generalised file: each class holds several values of a sensitive column.

Sources: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), section 4 (distinct), Definitions 4.1 (entropy)
and 4.2 (recursive); Grassberger (2003) for an entropy that corrects what few records make too small.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Histogram
from sluice.generalization.models.privacy_model import ROUNDING, ReleasedFile
from sluice.generalization.models.sensitive_model import SensitiveModel, shares
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class DistinctLDiversity(SensitiveModel):
    """At least l different values in each class; l is 1 or more."""

    l: int  # noqa: E741  the name that everybody knows

    def __post_init__(self) -> None:
        if self.l < 1:
            raise DataError(f"l of distinct l-diversity must be 1 or more; got {self.l}.")

    monotone = True
    monotone_with_suppression = True

    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        return histogram.different < self.l

    def describe(self) -> str:
        return f"distinct l-diversity of '{self.sensitive}' with l = {self.l}"


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """exp(entropy) of the values of each class is at least l: as many equally frequent values would have it.

    l         : 1 or more
    corrected : whether the entropy is Grassberger's estimate of that from which the records were drawn: where they are
                few it is larger, so that more classes pass
    """

    l: float  # noqa: E741  the name that everybody knows
    corrected: bool = False

    def __post_init__(self) -> None:
        if not self.l >= 1:
            raise DataError(f"l of entropy l-diversity must be 1 or more; got {self.l:g}.")

    @property
    def monotone(self) -> bool:
        return not self.corrected  # entropy is concave; the estimate need not be

    monotone_with_suppression = False  # two values alike often and a thousand records of one have a lower entropy

    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        if self.corrected:
            records, sizes = histogram.records, np.maximum(histogram.sizes, 1)
            entropy = np.log(sizes) - histogram.sums(records * _grassberger(records)) / sizes
        else:
            share = shares(histogram)
            entropy = -histogram.sums(share * np.log(share))
        return np.asarray(np.exp(entropy) < self.l - ROUNDING, dtype=np.bool_)

    def describe(self) -> str:
        by = " (Grassberger's estimate)" if self.corrected else ""
        return f"entropy l-diversity of '{self.sensitive}'{by} with l = {self.l:g}"


@dataclass(frozen=True)
class RecursiveLDiversity(SensitiveModel):
    """The most frequent value of a class has fewer than c times the records of the l-th and all rarer ones together.

    c : more than 0; l : 2 or more
    """

    c: float
    l: int  # noqa: E741  the name that everybody knows

    def __post_init__(self) -> None:
        if not self.c > 0:
            raise DataError(f"c of recursive (c,l)-diversity must be more than 0; got {self.c:g}.")
        if self.l < 2:
            raise DataError(f"l of recursive (c,l)-diversity must be 2 or more; got {self.l}.")

    monotone = True
    monotone_with_suppression = False  # a class with too frequent a value may outweigh one without

    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        holder = histogram.holder
        records = histogram.records[np.lexsort((-histogram.records, holder))].astype(np.float64)
        rank = np.arange(len(holder)) - histogram.start[holder]
        rare = histogram.sums(np.where(rank >= self.l - 1, records, 0.0))
        return histogram.largest(records) >= self.c * rare

    def describe(self) -> str:
        return f"recursive (c,l)-diversity of '{self.sensitive}' with c = {self.c:g} and l = {self.l}"


def _grassberger(records: np.ndarray) -> np.ndarray:
    """G(n) of Grassberger (2003), equation 28: the entropy is ln N less the sum of n G(n) / N over the values."""
    from scipy.special import psi

    sign = np.where(records % 2 == 0, 0.5, -0.5)
    return np.asarray(psi(records) + sign * (psi((records + 1) / 2) - psi(records / 2)))
