"""Why a release of records must end blocked, as far as its documents alone tell."""

from collections.abc import Collection

from policies.policy import Policy
from policies.rules.l_diversity import LDiversity
from policies.rules.t_closeness import TCloseness
from policies.rules.table_rule import TableRule
from policies.standard.intruders import Intruder
from sluice.ground.errors import did_you_mean
from sluice.ground.variables import Role, Variables, with_role


def document_warnings(policy: Policy, described: Variables, knowledge: Collection[str]) -> list[str]:
    """A sentence for each reason.

    described : the variables after the plan, as the documents alone tell them
    knowledge : names of the contract's sets of known variables
    """
    warnings, named = [], f"policy '{policy.name}'"
    if policy.reference_standard is None:
        warnings.append(f"{named} names no reference_standard: this release will be blocked.")
    intruders: tuple[Intruder, ...] = policy.reference_standard.intruders if policy.reference_standard else ()
    for intruder in intruders:
        if isinstance(intruder.knows, str) and intruder.knows not in knowledge:
            sets = f" The contract has {', '.join(sorted(knowledge))}." if knowledge else ""
            hint = did_you_mean(intruder.knows, knowledge) or sets
            warnings.append(
                f"{named} names an intruder '{intruder.knows}', and the contract's knowledge no such set: this release "
                f"will be blocked.{hint}"
            )
    for rule in policy.rules:
        if isinstance(rule, TableRule):
            warnings.append(f"{named} holds the rule {rule.rule}, which is for tables: this release will be blocked.")
    if not with_role(described, Role.QUASI_IDENTIFIER):
        warnings.append(
            "no released variable has the role quasi_identifier, by which people could be recognised. Has none?"
        )
    looking = [rule.rule for rule in policy.rules if isinstance(rule, LDiversity | TCloseness) and not rule.columns]
    if looking and not with_role(described, Role.SENSITIVE):
        warnings.append(
            f"no released variable has the role sensitive, for {looking[0]}: this release will be blocked. Name one in "
            "the contract, or keep one in the plan; else it takes a policy without that rule."
        )
    return warnings
