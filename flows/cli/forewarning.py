"""What the documents alone tell beforehand: why a release must end blocked, or wait for people who are not there."""

from policies.approvals import assign
from policies.rules.l_diversity import LDiversity
from policies.rules.t_closeness import TCloseness
from policies.rules.table_rule import TableRule
from sluice.variables import Role, with_role
from tasks.case import Case


def forewarnings(case: Case) -> list[str]:
    """A sentence for each; none when only the data can tell."""
    if case.is_of_tables:
        return _people_not_there(case)
    policy, said = case.policy, []
    named = f"policy '{policy.name}'"
    if policy.reference_standard is None:
        said.append(f"{named} names no reference_standard: this release will be blocked.")
    for rule in policy.rules:
        if isinstance(rule, TableRule):
            said.append(f"{named} holds the rule {rule.rule}, which is for tables: this release will be blocked.")
    if not with_role(case.described, Role.QUASI_IDENTIFIER):
        said.append(
            "no released variable has the role quasi_identifier, by which people could be recognised. Has none?"
        )
    looking = [rule.rule for rule in policy.rules if isinstance(rule, LDiversity | TCloseness) and not rule.columns]
    if looking and not with_role(case.described, Role.SENSITIVE):
        said.append(f"no released variable has the role sensitive, for {looking[0]}: this release will be blocked.")
    return said + _people_not_there(case)


def _people_not_there(case: Case) -> list[str]:
    approvals, owner = case.policy.approvals, case.roster.person(case.definition.owner)
    others = {name: person.roles for name, person in case.roster.people.items() if name != owner}
    filled = assign(approvals.roles, others)
    empty = [role for place, role in enumerate(approvals.roles) if place not in filled]
    who = f"of the people in {case.definition.people.name}, without the owner '{case.definition.owner}',"
    if empty:
        return [f"{who} nobody is left for the role {' and '.join(empty)}: this release could never be approved."]
    if len(others) < approvals.count:
        return [f"{who} {len(others)} may approve, and {approvals.count} must: this release could never be approved."]
    return []
