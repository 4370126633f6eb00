"""Why a release of records must end blocked, as far as its documents alone tell."""

from policies.policy import Policy
from policies.rules.l_diversity import LDiversity
from policies.rules.t_closeness import TCloseness
from policies.rules.table_rule import TableRule
from sluice.variables import Role, Variables, with_role


def document_warnings(policy: Policy, described: Variables) -> list[str]:
    """A sentence for each reason.

    described : the variables after the plan, as the documents alone tell them
    """
    warnings, named = [], f"policy '{policy.name}'"
    if policy.reference_standard is None:
        warnings.append(f"{named} names no reference_standard: this release will be blocked.")
    for rule in policy.rules:
        if isinstance(rule, TableRule):
            warnings.append(f"{named} holds the rule {rule.rule}, which is for tables: this release will be blocked.")
    if not with_role(described, Role.QUASI_IDENTIFIER):
        warnings.append(
            "no released variable has the role quasi_identifier, by which people could be recognised. Has none?"
        )
    looking = [rule.rule for rule in policy.rules if isinstance(rule, LDiversity | TCloseness) and not rule.columns]
    if looking and not with_role(described, Role.SENSITIVE):
        warnings.append(f"no released variable has the role sensitive, for {looking[0]}: this release will be blocked.")
    return warnings
