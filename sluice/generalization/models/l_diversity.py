"""l-diversity of a generalised file: each class holds several values of a sensitive column.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), section 4.
"""

from dataclasses import dataclass

from sluice.arrays import BoolArray
from sluice.errors import DataError
from sluice.generalization.models.privacy_model import PrivacyModel, ReleasedFile


@dataclass(frozen=True)
class DistinctLDiversity(PrivacyModel):
    """At least l different values in each class; l is 1 or more."""

    sensitive: str
    l: int  # noqa: E741  the name that everybody knows

    def __post_init__(self) -> None:
        if self.l < 1:
            raise DataError(f"l of distinct l-diversity must be 1 or more; got {self.l}.")

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        different = file.histogram(self.sensitive).different
        return (different < self.l) & (different > 0)

    def describe(self) -> str:
        return f"distinct l-diversity of '{self.sensitive}' with l = {self.l}"
