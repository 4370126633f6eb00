"""A model on a figure of the whole file, such as its average risk, where no class breaks it by itself.

Where records may be suppressed, the smallest classes are, until the figure is within its limit: all of one size
together, so that it does not depend on the order of the records which of them are.
"""

from abc import abstractmethod

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.models.privacy_model import ROUNDING, PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError


class FileModel(PrivacyModel):
    """Each has its limit as `most`, a share from 0 to 1."""

    most: float

    on_classes = False
    monotone = True
    monotone_with_suppression = False  # which classes go depends on all others

    def __post_init__(self) -> None:
        if not 0 <= self.most <= 1:
            raise DataError(f"{self.describe()}: the limit must be from 0 to 1; got {self.most:g}. Is it a percentage?")

    @abstractmethod
    def figure(self, file: ReleasedFile) -> float:
        """What the limit is for. The file has at least one record."""

    def crowds(self, node: Node) -> IntArray:
        """Shape (c,), by what a class counts as small."""
        return node.crowds

    def file_fails(self, file: ReleasedFile) -> bool:
        return len(file.class_sizes) > 0 and self.figure(file) > self.most + ROUNDING

    def relief(self, file: ReleasedFile) -> BoolArray:
        present = file.kept & (file.node.sizes > 0)
        if not present.any() or not self.file_fails(file):
            return np.zeros_like(present)
        crowds = self.crowds(file.node)
        return np.asarray(present & (crowds == crowds[present].min()), dtype=np.bool_)
