"""Check: a function from original, released file and what is known to findings, and what it cannot do without.

A rule, an attack, the reference standard and the limits on utility each say by `requires` what they need to judge at
all, and by `checks` what is measured of a file. So what cannot be judged is known before a record is read, and whoever
judges goes through one list.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from sluice.ground.rule import AnyOf, Need, Requirement
from sluice.ground.variables import Kind, Role, Variables
from sluice.ground.verdict import Finding

if TYPE_CHECKING:
    from sluice.utility.comparison import Comparison


class Giving(NamedTuple):
    """How something is given: to a function of the notebook, to a command, and in the documents of a release."""

    argument: str
    option: str
    document: str


def _by_role(argument: str, role: Role, otherwise: str = "") -> Giving:
    contract = f"give a variable of the contract the role {role}"
    released = f"{contract}, and let the plan release it{otherwise}"
    return Giving(f"name columns in {argument}, or {contract}", contract, released)


_POPULATION = "name the list in `population` of the rule"
_KNOWLEDGE = "write the set into `knowledge` of the contract"
_CELLS = "take a policy that is written for records; these rules judge tables"

GIVING = {
    Need.QUASI_IDENTIFIERS: _by_role(
        "quasi_identifiers=[...]",
        Role.QUASI_IDENTIFIER,
        "; where every variable is a measured number, let the contract say `quasi_identifiers: none`",
    ),
    Need.SENSITIVE: _by_role("sensitive=[...]", Role.SENSITIVE),
    Need.WEIGHT: _by_role("weight='...'", Role.WEIGHT),
    Need.HOUSEHOLD: _by_role("household='...'", Role.HOUSEHOLD),
    Need.ITEMS: Giving(
        "say so in kinds={...: 'items'}, or give a variable of the contract the kind items",
        *["give a variable of the contract the kind items"] * 2,
    ),
    Need.KNOWLEDGE: Giving(_KNOWLEDGE, _KNOWLEDGE, _KNOWLEDGE),
    Need.HOLDOUT: Giving(
        "give records of other people by holdout=...",
        "give records of other people by --holdout FILE",
        "let the policy's reference_standard say `reference: holdout` with a holdout_share",
    ),
    Need.POPULATION: Giving(_POPULATION, _POPULATION, _POPULATION),
    Need.CELLS: Giving(_CELLS, _CELLS, _CELLS),
}  # fmt: skip


How = Literal["argument", "option", "document"]
"""To whom it is said how something is given."""


class Part(NamedTuple):
    """What one measurement finds, by the name and the stage under which it is reported if it breaks down."""

    rule: str
    stage: str
    find: Callable[[], Sequence[Finding]]


@dataclass(frozen=True)
class Check:
    """What is measured of files with draws of its own.

    parts     : the measurements on files, in the order of the report; each is made before the next is asked for
    by_itself : it has more in memory than any other, and keeps all processors busy by itself
    adding    : what each finding is changed to
    """

    parts: "Callable[[Comparison], Iterable[Part]]"
    by_itself: bool = False
    adding: Callable[[Finding], Finding] | None = None


def check(rule: str, stage: str, find: "Callable[[Comparison], Sequence[Finding]]") -> Check:
    """A check of one part."""
    return Check(lambda files: [Part(rule, stage, lambda: find(files))])


def at_hand(
    *described: Variables, holdout: bool, knowledge: bool = True, numbers_alone: bool = False
) -> frozenset[Need]:
    """What documents and arguments say is there, before a record is read.

    described : the variables of the original, and those of the released file where these are known: what either has
    knowledge : whether every intruder of the policy knows a set that the contract has
    numbers_alone : whether the contract says that there are no quasi-identifiers: what asks for groups of look-alikes,
                    and for sensitive values in them, is then answered
    """
    variables = [variable for each in described for variable in each.values()]
    roles = {variable.role for variable in variables}
    found = {
        Need.QUASI_IDENTIFIERS: Role.QUASI_IDENTIFIER in roles or numbers_alone,
        Need.SENSITIVE: Role.SENSITIVE in roles or numbers_alone,
        Need.WEIGHT: Role.WEIGHT in roles,
        Need.HOUSEHOLD: Role.HOUSEHOLD in roles,
        Need.ITEMS: any(variable.kind is Kind.ITEMS for variable in variables),
        Need.KNOWLEDGE: knowledge,
        Need.HOLDOUT: holdout,
    }
    return frozenset(need for need, there in found.items() if there)


def unmet(
    requirements: Iterable[Requirement],
    given: Collection[Need],
    paired: bool,
    how: How,
) -> list[str]:
    """A sentence for each thing that is lacking: which checks need it, and how it is given.

    paired : whether it is known that each record's masked one is known
    """
    lacking: dict[AnyOf, dict[str, None]] = {}
    for requirement in requirements:
        if (paired or not requirement.of_pairs) and not {*requirement.any_of} & {*given}:
            lacking.setdefault(requirement.any_of, {})[requirement.check] = None
    return [
        f"{', '.join(checks)} {'needs' if len(checks) == 1 else 'need'} {' or '.join(any_of)}: "
        + "; or ".join(getattr(GIVING[need], how) for need in any_of)
        for any_of, checks in lacking.items()
    ]
