"""Population uniques of a generalised file: the share of the population that is alone with its keys, as estimated.

Source: Dankar, El Emam, Neisa and Roffey (2012), for the estimators and the choice between them; they are those of
`sluice.risk.population.population_uniques`.
"""

from dataclasses import dataclass
from math import inf

from sluice.generalization.models.file_model import FileModel
from sluice.generalization.models.privacy_model import ReleasedFile
from sluice.ground.errors import DataError
from sluice.risk.population.population_uniques import Estimator, population_uniques


@dataclass(frozen=True)
class PopulationUniques(FileModel):
    """most       : share of the population, 0 to 1
    population : how many people it has, at least as many as the file records
    estimator  : as there; where it does not fit the classes, nothing is known of the file and it fails

    Not monotone: the estimate follows from how many classes there are of each size. Where pairs are united to classes
    of four while the records that are alone stay so, it rises; and it jumps where another estimator takes over.
    """

    most: float
    population: float
    estimator: Estimator = "dankar"

    monotone = False

    def figure(self, file: ReleasedFile) -> float:
        if file.node.records > self.population:
            raise DataError(
                f"the population must have at least the {file.node.records:,} records of the file; "
                f"got {self.population:,.10g}."
            )
        try:
            return population_uniques(file.class_sizes, self.population, self.estimator)[0].value
        except DataError:
            return inf

    def describe(self) -> str:
        return f"population uniques of at most {self.most:.4g}, estimated by {self.estimator}"
