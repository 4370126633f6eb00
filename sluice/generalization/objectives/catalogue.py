"""The objectives by the name that they have in a plan."""

from collections.abc import Mapping

from sluice.generalization.objectives.discernibility import Discernibility
from sluice.generalization.objectives.loss import Loss
from sluice.generalization.objectives.non_uniform_entropy import NonUniformEntropy
from sluice.generalization.objectives.objective import Objective

OBJECTIVES: Mapping[str, type[Objective]] = {
    "loss": Loss,
    "non_uniform_entropy": NonUniformEntropy,
    "discernibility": Discernibility,
}
