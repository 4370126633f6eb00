"""PolicyRule and AttackPolicyRule: every disclosure rule that a policy may name, told apart by `rule`."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from policies.rules.alpha_k import AlphaK
from policies.rules.attack_rule import AttackRule
from policies.rules.attribute_combinations import AttributeCombinations
from policies.rules.attribute_divergence import AttributeDivergence
from policies.rules.attribute_inference import AttributeInference
from policies.rules.attribute_risk import AttributeRisk
from policies.rules.beta_likeness import BetaLikeness
from policies.rules.data_invasion import DataInvasion
from policies.rules.delta_disclosure import DeltaDisclosure
from policies.rules.delta_presence import DeltaPresence
from policies.rules.distance_linkage import DistanceLinkage
from policies.rules.dominance import Dominance
from policies.rules.household_risk import HouseholdRisk
from policies.rules.individual_risk import IndividualRisk
from policies.rules.inference import Inference
from policies.rules.interval_disclosure import IntervalDisclosure
from policies.rules.k_anonymity import KAnonymity
from policies.rules.k_map import KMap
from policies.rules.km_anonymity import KmAnonymity
from policies.rules.l_diversity import LDiversity
from policies.rules.linkability import Linkability
from policies.rules.linkage_score import LinkageScore
from policies.rules.loglinear_risk import LoglinearRisk
from policies.rules.maximum_knowledge import MaximumKnowledge
from policies.rules.membership import MembershipInference
from policies.rules.microaggregation_linkage import MicroaggregationLinkage
from policies.rules.minimum_frequency import MinimumFrequency
from policies.rules.p_percent import PPercent
from policies.rules.participant_inference import ParticipantInference
from policies.rules.population_uniques import PopulationUniques
from policies.rules.prior_posterior import PriorPosterior
from policies.rules.probabilistic_linkage import ProbabilisticLinkage
from policies.rules.rank_swapping_linkage import RankSwappingLinkage
from policies.rules.rare_combinations import RareCombinations
from policies.rules.reidentification_risk import ReidentificationRisk
from policies.rules.request_rule import RequestRule
from policies.rules.sample_uniques_share import SampleUniquesShare
from policies.rules.singling_out import SinglingOut
from policies.rules.subset_inference import SubsetInference
from policies.rules.suda import Suda
from policies.rules.t_closeness import TCloseness
from policies.rules.zero_cells import ZeroCells
from sluice.ground.extensions import extended
from sluice.ground.rule import Rule

_PolicyRule = (
    KAnonymity
    | KmAnonymity
    | LDiversity
    | TCloseness
    | SampleUniquesShare
    | KMap
    | ReidentificationRisk
    | AttributeRisk
    | PopulationUniques
    | LoglinearRisk
    | IndividualRisk
    | HouseholdRisk
    | Suda
    | AttributeCombinations
    | DeltaPresence
    | BetaLikeness
    | DeltaDisclosure
    | AlphaK
    | MinimumFrequency
    | ZeroCells
    | Dominance
    | PPercent
    | PriorPosterior
    | RequestRule
)

TablePolicyRule = Annotated[
    MinimumFrequency | ZeroCells | Dominance | PPercent | PriorPosterior | RequestRule, Field(discriminator="rule")
]

_AttackPolicyRule = (
    DistanceLinkage
    | ProbabilisticLinkage
    | RankSwappingLinkage
    | MicroaggregationLinkage
    | IntervalDisclosure
    | LinkageScore
    | DataInvasion
    | MaximumKnowledge
    | AttributeDivergence
    | AttributeInference
    | SinglingOut
    | Linkability
    | Inference
    | MembershipInference
    | RareCombinations
    | ParticipantInference
    | SubsetInference
)
if not TYPE_CHECKING:  # and the checks of other distributions that are installed
    _PolicyRule = extended(_PolicyRule, "sluice.checks", Rule, "rule")
    _AttackPolicyRule = extended(_AttackPolicyRule, "sluice.checks", AttackRule, "rule")

PolicyRule = Annotated[_PolicyRule, Field(discriminator="rule")]

AttackPolicyRule = Annotated[_AttackPolicyRule, Field(discriminator="rule")]
