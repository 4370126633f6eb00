"""The privacy models by the name that they have in a plan. Those that need a list of the population are not among them:
a plan has none."""

from collections.abc import Mapping

from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.models.k_map import EstimatedKMap
from sluice.generalization.models.l_diversity import DistinctLDiversity
from sluice.generalization.models.population_uniques import PopulationUniques
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.models.profitability import NoAttack, Profitability
from sluice.generalization.models.reidentification_risk import AverageRisk, HighestRisk
from sluice.generalization.models.sample_uniques import SampleUniques
from sluice.generalization.models.t_closeness import EqualTCloseness

MODELS: Mapping[str, type[PrivacyModel]] = {
    "k_anonymity": KAnonymity,
    "distinct_l_diversity": DistinctLDiversity,
    "equal_t_closeness": EqualTCloseness,
    "highest_risk": HighestRisk,
    "average_risk": AverageRisk,
    "sample_uniques": SampleUniques,
    "population_uniques": PopulationUniques,
    "estimated_k_map": EstimatedKMap,
    "no_attack": NoAttack,
    "profitability": Profitability,
}
