"""Contradictions of a policy in itself: settings under which no release whatever could pass."""

from collections.abc import Sequence

from policies.rules.attack_rule import AttackRule
from policies.rules.attribute_rules import AttributeInference
from policies.rules.control_rules import ControlRule
from policies.rules.linkage_rules import LinkageRule
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.rule import DisclosureRule
from sluice.risk.attacks.attack_success import AttackSuccess
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.microdata_rule import MicrodataRule
from sluice.tabular.rules.sensitivity import SensitivityRule

_SHARES = (LinkageRule, ControlRule, AttributeInference)  # of people: none found leaves an interval above 0


def contradictions(
    rules: Sequence[DisclosureRule], standard: ReferenceStandard | None, attacks: Sequence[AttackRule]
) -> list[str]:
    """A sentence for each reason why nothing could pass a policy, whatever the data; none where something can."""
    found = _of_rules(rules)
    if standard is not None:
        found += _of_standard(standard, rules)
    for index, attack in enumerate(attacks):
        found += _of_attack(f"attacks.{index}", attack)
    return found


def _of_rules(rules: Sequence[DisclosureRule]) -> list[str]:
    tables = [rule.rule for rule in rules if isinstance(rule, SensitivityRule)]
    records = [rule.rule for rule in rules if isinstance(rule, MicrodataRule)]
    if tables and records:
        return [
            f"rules: {tables[0]} judges tables and {records[0]} records, and no release is both. Write two policies."
        ]
    return []


def _of_standard(standard: ReferenceStandard, rules: Sequence[DisclosureRule]) -> list[str]:
    found = []
    if "uncertainty" in standard.binding and any(isinstance(rule, KAnonymity) for rule in rules):
        found.append(
            "reference_standard.binding: uncertainty is 0 where records are made alike, as k_anonymity asks. Take one "
            "of the two out"
        )
    for where, judged in (
        ("learned", standard.learned),
        *((f"intruders.{index}", intruder) for index, intruder in enumerate(standard.intruders)),
    ):
        if judged.binding:
            shares = {"found": judged.found, "claims": judged.claims}
            found += _too_small(f"reference_standard.{where}", shares, standard.learned.people)
    knows = standard.transparency
    if knows.binding:
        shares = {"identified": knows.identified, "confident": knows.confident}
        found += _too_small("reference_standard.transparency", shares, knows.people)
    return found


def _too_small(where: str, shares: dict[str, float], people: int) -> list[str]:
    """Limits below the interval that is left when nobody at all was found."""
    centre, half = AttackSuccess(people, people, 0).wilson()
    return [
        f"{where}.{name}: where {people:,} people are judged and none is found, the share may still be "
        f"{centre + half:.2%}, so {share:.2%} can never be shown. Allow as much, or judge more people"
        for name, share in shares.items()
        if share < centre + half
    ]


def _of_attack(where: str, attack: AttackRule) -> Sequence[str]:
    if not attack.binding or not isinstance(attack, _SHARES):
        return []
    return [
        f"{where}.{name}: 0 can never be shown of a share that is estimated from some of the people. Allow a little, "
        "such as 0.01"
        for name in ("limit", "excess")
        if getattr(attack, name) == 0
    ]
