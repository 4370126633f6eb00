"""Re-identification risk of a generalised file: the chance that an intruder names the person of a record.

Sources: El Emam (2013), chapter 16; Dankar and El Emam (2010).
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.cost_benefit import Intruder, alike
from sluice.generalization.lattice.node import Node
from sluice.generalization.models.file_model import FileModel
from sluice.generalization.models.privacy_model import ROUNDING, PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class HighestRisk(PrivacyModel):
    """No record is named with a chance above `most`, more than 0 and up to 1.

    Monotone, with suppression too: in a united class the intruder picks among more people.
    """

    most: float
    intruder: Intruder = "prosecutor"

    def __post_init__(self) -> None:
        if not 0 < self.most <= 1:
            raise DataError(f"the most for the highest risk must be more than 0 and at most 1; got {self.most:g}.")

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        risks = 1 / alike(file.node, self.intruder)
        return np.asarray((risks > self.most + ROUNDING) & (file.node.sizes > 0), dtype=np.bool_)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        fits = file.hidden_class if self.intruder == "prosecutor" else max(file.hidden_class, file.node.everybody)
        return 1 / fits > self.most + ROUNDING

    def describe(self) -> str:
        return f"a {self.intruder}'s highest risk of {self.most:.4g}"


@dataclass(frozen=True)
class AverageRisk(FileModel):
    """The expected share of the records that are named rightly is at most `most`, 0 to 1.

    The journalist's is the marketer's risk: the mean of 1/F over the records, F people of the population fitting each.
    Monotone: a united class has no higher a sum of chances than its parts.
    """

    most: float
    intruder: Intruder = "prosecutor"

    def figure(self, file: ReleasedFile) -> float:
        records, fits = file.class_sizes, file.class_crowds
        if self.intruder != "prosecutor":
            fits = np.maximum(fits, file.class_people)
        return float((records / fits).sum() / records.sum())

    def crowds(self, node: Node) -> IntArray:
        return alike(node, self.intruder)

    def describe(self) -> str:
        return f"a {self.intruder}'s average risk of {self.most:.4g}"
