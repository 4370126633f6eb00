"""Why a release of records must end blocked, as far as its documents alone tell."""

from collections.abc import Collection

from policies.check import at_hand, unmet
from policies.policy import Policy
from policies.standard.reference_standard import Intruder
from sluice.ground.errors import did_you_mean
from sluice.ground.rule import Need
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
    if not with_role(described, Role.QUASI_IDENTIFIER):
        warnings.append(
            "no released variable has the role quasi_identifier, by which people could be recognised. Has none?"
        )
    looking = [needing.check for needing in policy.requirements if needing.any_of == (Need.SENSITIVE,)]
    if looking and not with_role(described, Role.SENSITIVE):
        warnings.append(
            f"no released variable has the role sensitive, for {looking[0]}: this release will be blocked. Name one in "
            "the contract, or keep one in the plan; else it takes a policy without that rule."
        )
    return warnings


def unmet_needs(policy: Policy, declared: Variables, described: Variables) -> list[str]:
    """A sentence for each thing without which checks that decide cannot judge the release, whatever its records are.

    declared, described : the variables before the plan and after it: what a plan takes out or adds is for the judgement
    """
    standard = policy.reference_standard
    holdout = standard is not None and standard.reference == "holdout"
    given = at_hand(declared, described, holdout=holdout)
    return unmet(policy.requirements, given, paired=False, how="document")
