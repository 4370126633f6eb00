"""SensitiveModel: a privacy model on the values of one sensitive column within each class.

A blank is no value: records without one are left out, and a class in which nobody has a value breaks no such model.
"""

from abc import abstractmethod
from dataclasses import dataclass

from sluice.generalization.lattice.node import Histogram
from sluice.generalization.models.privacy_model import PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """sensitive : the name of the column"""

    sensitive: str

    def failing(self, file: ReleasedFile) -> BoolArray:
        histogram = file.histogram(self.sensitive)
        return self.broken(histogram, file) & (histogram.different > 0)

    @abstractmethod
    def broken(self, histogram: Histogram, file: ReleasedFile) -> BoolArray:
        """Shape (c,), whether the values of each class break it; that of a class without values does not count."""


def shares(histogram: Histogram) -> FloatArray:
    """Shape (pairs,), of the records of the class with a value, those with this one."""
    share: FloatArray = histogram.records / histogram.sizes[histogram.holder]
    return share


def overall(histogram: Histogram, file: ReleasedFile, sensitive: str) -> FloatArray:
    """Shape (pairs,), the share of the pair's value in the whole file; 0 if only suppressed records had it."""
    share: FloatArray = file.overall(sensitive)[histogram.value]
    return share
