"""The objectives by the name that they have in a plan."""

from collections.abc import Mapping

from sluice.generalization.objectives.ambiguity import Ambiguity
from sluice.generalization.objectives.average_class_size import AverageClassSize
from sluice.generalization.objectives.classification import Classification
from sluice.generalization.objectives.discernibility import Discernibility
from sluice.generalization.objectives.height import Height
from sluice.generalization.objectives.kl_divergence import KLDivergence
from sluice.generalization.objectives.loss import Loss
from sluice.generalization.objectives.non_uniform_entropy import NonUniformEntropy
from sluice.generalization.objectives.objective import Objective
from sluice.generalization.objectives.precision import Precision
from sluice.generalization.objectives.publisher_payout import PublisherPayout

OBJECTIVES: Mapping[str, type[Objective]] = {
    "loss": Loss,
    "non_uniform_entropy": NonUniformEntropy,
    "discernibility": Discernibility,
    "precision": Precision,
    "ambiguity": Ambiguity,
    "average_class_size": AverageClassSize,
    "kl_divergence": KLDivergence,
    "classification": Classification,
    "height": Height,
    "publisher_payout": PublisherPayout,
}
