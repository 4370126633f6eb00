"""PolicyRule and AttackPolicyRule: every disclosure rule that a policy may name, told apart by `rule`."""

from typing import Annotated

from pydantic import Field

from policies.rules.attribute_rules import AttributeDivergence, AttributeInference, DataInvasion, MaximumKnowledge
from policies.rules.control_rules import Inference, Linkability, MembershipInference, SinglingOut
from policies.rules.diversity_rules import (
    AlphaK,
    AttributeCombinations,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    Suda,
)
from policies.rules.linkage_rules import (
    DistanceLinkage,
    IntervalDisclosure,
    MicroaggregationLinkage,
    ProbabilisticLinkage,
    RankSwappingLinkage,
)
from policies.rules.microdata_rules import KAnonymity, LDiversity, SampleUniquesShare, TCloseness
from policies.rules.population_rules import KMap, ReidentificationRisk
from policies.rules.table_rules import Dominance, MinimumFrequency, PPercent, PriorPosterior, RequestRule, ZeroCells
from policies.rules.uniqueness_rules import (
    AttributeRisk,
    HouseholdRisk,
    IndividualRisk,
    LoglinearRisk,
    PopulationUniques,
)

PolicyRule = Annotated[
    KAnonymity
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
    | RequestRule,
    Field(discriminator="rule"),
]

AttackPolicyRule = Annotated[
    DistanceLinkage
    | ProbabilisticLinkage
    | RankSwappingLinkage
    | MicroaggregationLinkage
    | IntervalDisclosure
    | DataInvasion
    | MaximumKnowledge
    | AttributeDivergence
    | AttributeInference
    | SinglingOut
    | Linkability
    | Inference
    | MembershipInference,
    Field(discriminator="rule"),
]
