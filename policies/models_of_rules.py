"""The rules of a policy as privacy models, so that a search of generalisations looks for a file that meets them.

The search is no judge: the rules look at the file that comes of it as at any other. A rule that has no model, such as
one on numbers of which near ones count as one value, is left to them.
"""

from dataclasses import dataclass

from policies.policy import Policy
from policies.rules.alpha_k import AlphaK
from policies.rules.beta_likeness import BetaLikeness
from policies.rules.delta_disclosure import DeltaDisclosure
from policies.rules.k_anonymity import KAnonymity
from policies.rules.l_diversity import LDiversity
from policies.rules.population_uniques import PopulationUniques
from policies.rules.reidentification_risk import ReidentificationRisk
from policies.rules.rules import PolicyRule
from policies.rules.sample_uniques_share import SampleUniquesShare
from policies.rules.sensitive_rule import SensitiveRule
from policies.rules.t_closeness import TCloseness
from sluice.generalization.models.alpha_k import AlphaKAnonymity
from sluice.generalization.models.beta_likeness import BetaLikeness as BetaLikenessModel
from sluice.generalization.models.delta_disclosure import DeltaDisclosure as DeltaDisclosureModel
from sluice.generalization.models.k_anonymity import KAnonymity as KAnonymityModel
from sluice.generalization.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.generalization.models.population_uniques import PopulationUniques as PopulationUniquesModel
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.models.reidentification_risk import AverageRisk, HighestRisk
from sluice.generalization.models.sample_uniques import SampleUniques
from sluice.generalization.models.t_closeness import EqualTCloseness, HierarchicalTCloseness, OrderedTCloseness
from sluice.ground.variables import Role, Variable, Variables, with_role


@dataclass(frozen=True)
class ModelsOfRules:
    """What a search that is done under a policy must satisfy."""

    policy: Policy

    def models(self, variables: Variables) -> tuple[PrivacyModel, ...]:
        """The models of all rules, or of the variables of a rule, that have any, each once."""
        found = [model for rule in self.policy.rules for _, model in models_of(rule, variables) if model is not None]
        return tuple(dict.fromkeys(found))

    def without_model(self, variables: Variables) -> tuple[str, ...]:
        """What is left to the judgement of the file: rules, and variables of rules."""
        asked = [part for rule in self.policy.rules for part in models_of(rule, variables)]
        return tuple(dict.fromkeys(name for name, model in asked if model is None))


def models_of(rule: PolicyRule, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
    """What the rule asks, by name, of sensitive variables each by itself; None where no model makes sure of it."""
    if isinstance(rule, KAnonymity) and rule.columns is None:
        return [(rule.rule, KAnonymityModel(rule.k))]
    if isinstance(rule, SampleUniquesShare) and rule.columns is None:
        return [(rule.rule, KAnonymityModel(2) if rule.at_most == 0 else SampleUniques(rule.at_most))]
    if isinstance(rule, ReidentificationRisk) and rule.columns is None:
        return [(rule.rule, model) for model in _of_prosecutor(rule)]
    if isinstance(rule, PopulationUniques) and rule.columns is None and rule.population is not None:
        return [(rule.rule, PopulationUniquesModel(rule.at_most, rule.population, rule.estimator))]
    if isinstance(rule, SensitiveRule) and not rule.others_known:
        names = with_role(variables, Role.SENSITIVE) if rule.columns is None else rule.columns
        return [(f"{rule.rule} of {name}", _of_sensitive(rule, variables.get(name))) for name in names]
    return [(rule.rule, None)]


def _of_prosecutor(rule: ReidentificationRisk) -> list[PrivacyModel | None]:
    if rule.model != "prosecutor" or rule.records_above is not None:
        return [None]
    highest = [] if rule.highest_at_most is None else [HighestRisk(rule.highest_at_most)]
    average = [] if rule.average_at_most is None else [AverageRisk(rule.average_at_most)]
    return [*highest, *average]


def _of_sensitive(rule: SensitiveRule, variable: Variable | None) -> PrivacyModel | None:
    if variable is None or not variable.kind.is_categorical:
        return None
    if isinstance(rule, LDiversity):
        return _of_diversity(rule, variable.name)
    if isinstance(rule, BetaLikeness):
        return BetaLikenessModel(variable.name, rule.beta, enhanced=rule.variant == "enhanced")
    if isinstance(rule, DeltaDisclosure):
        return DeltaDisclosureModel(variable.name, rule.delta, absent=rule.absent_values == "violate")
    if isinstance(rule, AlphaK):
        return _of_alpha_k(rule, variable)
    if isinstance(rule, TCloseness):
        return _of_closeness(rule, variable)
    return None


def _of_alpha_k(rule: AlphaK, variable: Variable) -> PrivacyModel | None:
    if rule.values is None:
        return AlphaKAnonymity(variable.name, rule.alpha, rule.k)
    categories = variable.categories or ()
    if not set(rule.values) <= set(categories):
        return None
    return AlphaKAnonymity(variable.name, rule.alpha, rule.k, tuple(map(categories.index, rule.values)))


def _of_closeness(rule: TCloseness, variable: Variable) -> PrivacyModel | None:
    name, t = variable.name, rule.threshold(variable)
    match rule.ground_distance_of(variable):
        case "equal":
            return EqualTCloseness(name, t)
        case "ordered":
            return OrderedTCloseness(name, t)
        case "hierarchical":
            if variable.hierarchy is None or not set(variable.categories or ()) <= set(variable.hierarchy.rows):
                return None
            return HierarchicalTCloseness.of(name, t, variable.categories or (), variable.hierarchy)


def _of_diversity(rule: LDiversity, name: str) -> PrivacyModel | None:
    if rule.c is not None:
        return RecursiveLDiversity(name, rule.c, int(rule.l))
    if rule.variant == "entropy":
        return EntropyLDiversity(name, rule.l)
    return DistinctLDiversity(name, int(rule.l)) if rule.l.is_integer() else None
