"""Every disclosure rule that a policy may name, told apart by `rule`, and the catalogue that is written from them."""

import inspect
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field
from pydantic.fields import FieldInfo

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
from sluice.ground.parameter_list import first_sentence, parameter_list, told_once
from sluice.ground.rule import DisclosureRule, Rule
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
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior
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


_HEADS = (
    (PolicyRule, "Rules on one file", "Under `rules` of a policy; they look at the masked file by itself.", "rules"),
    (
        AttackPolicyRule,
        "Attacks",
        "Under `attacks` of a policy; an intruder with the original records is played against the masked file. Each "
        "has `limit`, the worst figure allowed, or `excess`, how much worse than its baseline it may be, or both. It "
        "passes if the whole confidence interval is within them, fails if none of it is, and otherwise needs a "
        "decision. An attack that could not be played, or does worse than guessing, is `UNKNOWN`, which blocks.",
        "attacks",
    ),
)


def rules(union: Any) -> dict[str, type[DisclosureRule]]:
    """The rules of a union by their names."""
    return {str(model.model_fields["rule"].default): model for model in get_args(get_args(union)[0])}


_ELSEWHERE = (
    "`sluice docs explain NAME` says what a rule asks and why, what usually helps, and its source. A report names more",
    "checks than these: the other parts of the [reference standard](reference-standard.md), and what is examined under",
    "[every policy](documents.md#the-policy-what-a-release-must-meet).",
)


def catalogue() -> str:
    """All rules as Markdown, in brief: what each asks, and its parameters. `sluice explain` says more.

    The same models give the same text.
    """
    families = [(title, about, part, dict(sorted(rules(union).items()))) for union, title, about, part in _HEADS]
    shared = _shared([model for *_, models in families for model in models.values()])
    lines = ["# Rules", "", "Written by `sluice docs rules` from the models; do not edit.", "", *_ELSEWHERE, ""]
    lines += [
        "Parameters that several take; a default is in parentheses, and one without may be left out:",
        "",
        *parameter_list(shared),
        "",
    ]
    for title, about, part, models in families:
        lines += [f"## {title}", "", about, ""]
        for name, own, also in told_once({name: _own(model) for name, model in models.items()}, shared):
            model = models[name]
            lines += [f"### `{name}`", "", (inspect.getdoc(model) or "").split("\n\n")[0], ""]
            lines += ["```yaml", f"{part}:", f"  - {model.example}", "```", ""]
            lines += [*parameter_list(own, first_sentence), ""] if own else []
            lines += [f"Also takes {also}.", ""] if also else []
    return "\n".join(lines).rstrip() + "\n"


def _shared(models: list[type[DisclosureRule]]) -> dict[str, FieldInfo]:
    """The parameters that mean the same in four rules or more, and nothing else in as many; or the same in ten."""
    fields = [(key, field) for model in models for key, field in _own(model).items()]
    counted = Counter((key, field.description) for key, field in fields)
    often = Counter(key for key, _ in (each for each, times in counted.items() if times >= 4))
    least = {key: 4 if meanings == 1 else 10 for key, meanings in often.items()}
    return {key: field for key, field in fields if key in least and counted[key, field.description] >= least[key]}


def _own(model: type[DisclosureRule]) -> dict[str, FieldInfo]:
    return {key: field for key, field in model.model_fields.items() if key != "rule"}
