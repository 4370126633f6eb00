"""PolicyRule and AttackPolicyRule: every disclosure rule that a policy may name, told apart by `rule`."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from policies.rules.alpha_k import AlphaK
from policies.rules.attack_rule import AttackRule
from policies.rules.attribute_combinations import AttributeCombinations
from policies.rules.attribute_risk import AttributeRisk
from policies.rules.attribute_rules import AttributeInference
from policies.rules.beta_likeness import BetaLikeness
from policies.rules.control_rules import Inference, Linkability, SinglingOut
from policies.rules.delta_disclosure import DeltaDisclosure
from policies.rules.delta_presence import DeltaPresence
from policies.rules.household_risk import HouseholdRisk
from policies.rules.individual_risk import IndividualRisk
from policies.rules.k_anonymity import KAnonymity
from policies.rules.k_map import KMap
from policies.rules.km_anonymity import KmAnonymity
from policies.rules.l_diversity import LDiversity
from policies.rules.linkage_rules import (
    DistanceLinkage,
    MicroaggregationLinkage,
    ProbabilisticLinkage,
    RankSwappingLinkage,
)
from policies.rules.loglinear_risk import LoglinearRisk
from policies.rules.participation_attacks import (
    MembershipInference,
    ParticipantInference,
    RareCombinations,
    SubsetInference,
)
from policies.rules.population_uniques import PopulationUniques
from policies.rules.ranked_rules import IntervalDisclosure, LinkageScore
from policies.rules.reidentification_risk import ReidentificationRisk
from policies.rules.sample_uniques_share import SampleUniquesShare
from policies.rules.suda import Suda
from policies.rules.t_closeness import TCloseness
from policies.rules.value_matching import AttributeDivergence, DataInvasion, MaximumKnowledge
from sluice.ground.extensions import extended
from sluice.ground.rule import Rule
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.prior_posterior import PriorPosterior
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.zero_cells import ZeroCells

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
