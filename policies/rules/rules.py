"""PolicyRule and AttackPolicyRule: every disclosure rule that a policy may name, told apart by `rule`."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from policies.rules.attack_rule import AttackRule
from policies.rules.attribute_rules import AttributeInference
from policies.rules.control_rules import Inference, Linkability, SinglingOut
from policies.rules.linkage_rules import (
    DistanceLinkage,
    MicroaggregationLinkage,
    ProbabilisticLinkage,
    RankSwappingLinkage,
)
from policies.rules.participation_attacks import (
    MembershipInference,
    ParticipantInference,
    RareCombinations,
    SubsetInference,
)
from policies.rules.ranked_rules import IntervalDisclosure, LinkageScore
from policies.rules.value_matching import AttributeDivergence, DataInvasion, MaximumKnowledge
from sluice.ground.extensions import extended
from sluice.ground.rule import Rule
from sluice.risk.classes.alpha_k import AlphaK
from sluice.risk.classes.attribute_combinations import AttributeCombinations
from sluice.risk.classes.beta_likeness import BetaLikeness
from sluice.risk.classes.delta_disclosure import DeltaDisclosure
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.km_anonymity import KmAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.risk.classes.sample_uniques import SampleUniquesShare
from sluice.risk.classes.suda import Suda
from sluice.risk.classes.t_closeness import TCloseness
from sluice.risk.population.attribute_risk import AttributeRisk
from sluice.risk.population.delta_presence import DeltaPresence
from sluice.risk.population.household_risk import HouseholdRisk
from sluice.risk.population.individual_risk import IndividualRisk
from sluice.risk.population.k_map import KMap
from sluice.risk.population.loglinear_risk import LoglinearRisk
from sluice.risk.population.population_uniques import PopulationUniques
from sluice.risk.population.reidentification_risk import ReidentificationRisk
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
