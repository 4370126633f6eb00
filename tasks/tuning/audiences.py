"""Who may have a file, and which shipped policies judge one for them: a plan is drafted for each that fits the data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sluice.ground.variables import Role
from tasks.tuning.draft_steps import Family
from tasks.tuning.first_plan import FirstPlan

_SMALL = 1000  # people: fewer are not judged by the policies for larger files
_BUSINESS = 800  # the same of enterprises
_SET_ASIDE = 5000  # people: of fewer, a fifth is not enough to compare a synthetic file with


@dataclass(frozen=True)
class Use:
    """What a file is for.

    policy     : a shipped one
    whom       : who gets it, in words
    researchers: whether they sign a contract; everybody else may have it where anybody may
    """

    policy: str
    whom: str
    researchers: bool = False


USES: Mapping[str, Use] = MappingProxyType(
    {
        "public": Use("public-use-file", "anybody may download it"),
        "scientific": Use("scientific-use-file", "researchers under a contract", researchers=True),
        "perturbed": Use("perturbed-file", "anybody; numbers moved"),
        "synthetic": Use("synthetic-file", "anybody; people who never were"),
        "business": Use("public-use-business", "anybody; records of enterprises"),
        "small": Use("small-file", "anybody; fewer than 1,000 people"),
    }
)
"""By the name that `--for` takes."""


def fitting_uses(roles: Collection[Role], people: int, numbers_alone: bool = False) -> tuple[str, ...]:
    """For what such a file may be: for anybody first, and by the policy that is nearest to what it holds.

    roles         : of the columns
    people        : whose records they are; as many as records where no column says whose
    numbers_alone : whether the contract says that all are measured numbers
    """
    firms = numbers_alone or Role.CONTRIBUTOR in roles
    if people < _SMALL:
        return ("business", "small") if firms and people >= _BUSINESS else ("small",)
    synthetic = ("synthetic",) if people >= _SET_ASIDE else ()
    return ("business" if firms else "public", *synthetic, "perturbed", "scientific")


_KEEPING = ("synthetic", "perturbed")  # policies under which relations are kept, as no groups are asked for


def in_order_of_trial(uses: Sequence[str]) -> tuple[str, ...]:
    """Those first under which most is kept: what of the time is left then decides what others would keep."""
    return tuple(sorted(uses, key=lambda use: _KEEPING.index(use) if use in _KEEPING else len(_KEEPING)))


def families_of(use: str, uses: tuple[str, ...]) -> tuple[Family, ...]:
    """Which drafts are tried: values drawn anew are judged against people set aside wherever that is possible."""
    if use == "perturbed" and "synthetic" in uses:
        return ("perturbed",)
    return ("groups", "mixture", "perturbed", "synthetic")


def chosen_use(plans: Mapping[str, FirstPlan]) -> str:
    """The plan that is taken: of those that pass and anybody may have, the one that keeps most; else that for
    researchers; else the one that came nearest.

    plans : by use, at least one
    """
    passing = {use: plan.as_tried for use, plan in plans.items() if plan.passes}
    for researchers in (False, True):
        keeps = {use: each.worth for use, each in passing.items() if each and USES[use].researchers == researchers}
        if keeps:
            return min(keeps, key=lambda use: keeps[use])
    return min(plans, key=lambda use: breach(plans[use]))


def breach(plan: FirstPlan) -> float:
    """How far it is from what the policy asks; 0 where nothing was tried."""
    return 0.0 if plan.outcome is None else plan.outcome.breach
