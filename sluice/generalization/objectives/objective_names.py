"""The objectives by the name that they have in a plan."""

from collections.abc import Mapping

from sluice.generalization.cost_benefit import PublisherPayout
from sluice.generalization.objectives.class_losses import (
    Ambiguity,
    AverageClassSize,
    Classification,
    Discernibility,
    KLDivergence,
)
from sluice.generalization.objectives.key_losses import Height, Loss, NonUniformEntropy, Precision
from sluice.generalization.objectives.objective import Objective

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
