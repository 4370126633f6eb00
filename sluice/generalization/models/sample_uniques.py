"""Sample uniques of a generalised file: the records that are alone with what their keys show.

Source: Desfontaines (2020), section 2.1.1.
"""

from dataclasses import dataclass

from sluice.generalization.models.file_model import FileModel
from sluice.generalization.models.privacy_model import ReleasedFile


@dataclass(frozen=True)
class SampleUniques(FileModel):
    """most : share of the records of the file that are alone, 0 to 1; monotone, for a united class has two or more"""

    most: float

    def figure(self, file: ReleasedFile) -> float:
        records = file.class_sizes
        return int(records[file.class_crowds == 1].sum()) / int(records.sum())

    def describe(self) -> str:
        return f"sample uniques of at most {self.most:.4g} of the records"
