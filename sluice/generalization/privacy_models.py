"""The privacy models by the name that they have in a plan. Those that need a list of the population are not among them:
a plan has none."""

from collections.abc import Mapping

from sluice.generalization.cost_benefit import NoAttack, Profitability
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.delta_disclosure import DeltaDisclosureModel
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.classes.sample_uniques import SampleUniques
from sluice.risk.classes.t_closeness import EqualTCloseness, OrderedTCloseness
from sluice.risk.population.k_map import EstimatedKMap
from sluice.risk.population.population_uniques import PopulationUniquesModel
from sluice.risk.population.reidentification_risk import AverageRisk, HighestRisk

MODELS: Mapping[str, type[PrivacyModel]] = {
    "k_anonymity": KAnonymityModel,
    "distinct_l_diversity": DistinctLDiversity,
    "entropy_l_diversity": EntropyLDiversity,
    "recursive_l_diversity": RecursiveLDiversity,
    "equal_t_closeness": EqualTCloseness,
    "ordered_t_closeness": OrderedTCloseness,
    "beta_likeness": BetaLikenessModel,
    "delta_disclosure": DeltaDisclosureModel,
    "highest_risk": HighestRisk,
    "average_risk": AverageRisk,
    "sample_uniques": SampleUniques,
    "population_uniques": PopulationUniquesModel,
    "estimated_k_map": EstimatedKMap,
    "no_attack": NoAttack,
    "profitability": Profitability,
}
