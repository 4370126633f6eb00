"""The privacy models by the name that they have in a plan. Those that need a list of the population are not among them:
a plan has none."""

from collections.abc import Mapping

from sluice.generalization.cost_benefit import NoAttack, Profitability
from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.models.k_map import EstimatedKMap
from sluice.generalization.models.population_uniques import PopulationUniques
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.models.reidentification_risk import AverageRisk, HighestRisk
from sluice.generalization.models.sample_uniques import SampleUniques
from sluice.generalization.models.sensitive_model import (
    BetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    EqualTCloseness,
    OrderedTCloseness,
    RecursiveLDiversity,
)

MODELS: Mapping[str, type[PrivacyModel]] = {
    "k_anonymity": KAnonymity,
    "distinct_l_diversity": DistinctLDiversity,
    "entropy_l_diversity": EntropyLDiversity,
    "recursive_l_diversity": RecursiveLDiversity,
    "equal_t_closeness": EqualTCloseness,
    "ordered_t_closeness": OrderedTCloseness,
    "beta_likeness": BetaLikeness,
    "delta_disclosure": DeltaDisclosure,
    "highest_risk": HighestRisk,
    "average_risk": AverageRisk,
    "sample_uniques": SampleUniques,
    "population_uniques": PopulationUniques,
    "estimated_k_map": EstimatedKMap,
    "no_attack": NoAttack,
    "profitability": Profitability,
}
