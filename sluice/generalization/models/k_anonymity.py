"""k-anonymity of a generalised file: every class has at least k records, or records of at least k people.

Source: Sweeney (2002); Desfontaines (2020), Definition 1.
"""

from dataclasses import dataclass

from sluice.generalization.models.privacy_model import PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """k : 1 or more."""

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise DataError(f"k of k-anonymity must be 1 or more; got {self.k}.")

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        return (file.node.crowds < self.k) & (file.node.sizes > 0)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.hidden_class < self.k

    def describe(self) -> str:
        return f"k-anonymity with k = {self.k}"
