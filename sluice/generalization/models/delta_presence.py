"""delta-presence of a generalised file: how sure one can be that a person of the population is in it.

Source: Nergiz, Atzori and Clifton (2007), Definition 2.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.models.privacy_model import ROUNDING, PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """Of the people who show the same keys, a share from `lowest` to `highest` is in the file, both 0 to 1.

    Where the population tells of fewer people than the file, all of them are. Suppressed records might be anybody's:
    they are held to `highest` among all people, and count for nobody's lowest share, so that a `lowest` above 0 leaves
    no class of records to suppress.

    Monotone without suppression, since the share of a united class lies between those of its parts; so one that holds
    and one that does not may unite to one that does not.
    """

    highest: float
    lowest: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.lowest <= self.highest <= 1:
            raise DataError(
                "delta-presence needs 0 <= lowest <= highest <= 1; "
                f"got a lowest of {self.lowest:g} and a highest of {self.highest:g}."
            )

    monotone = True
    monotone_with_suppression = False

    def failing(self, file: ReleasedFile) -> BoolArray:
        return np.asarray(
            (file.node.sizes > 0) & (_share(file.node.sizes, file.node.people) > self.highest + ROUNDING),
            dtype=np.bool_,
        )

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.hidden_class / max(file.node.everybody, file.hidden_class) > self.highest + ROUNDING

    def file_fails(self, file: ReleasedFile) -> bool:
        if not self.lowest:
            return False
        shown = np.where(file.kept, file.node.sizes, 0)
        return bool((_share(shown, file.node.people) < self.lowest - ROUNDING).any())

    def describe(self) -> str:
        return f"delta-presence from {self.lowest:g} to {self.highest:g}"


def _share(records: IntArray, people: IntArray) -> FloatArray:
    return records / np.maximum(np.maximum(people, records), 1)
