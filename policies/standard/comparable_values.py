"""Whether every released variable could be compared with the original one."""

from policies.standard.reference_standard import ReferenceStandard
from sluice.risk.coding import Coding
from sluice.variables import GROUPS, Variables
from sluice.verdict import Finding, Verdict

ADVICE = {
    "comparable_values": (
        "Say in the reference standard's weights that these variables count, or take them out of the release: of a "
        "free text or a number of a group nobody can measure what it tells."
    ),
}
UNMEASURED = {
    "comparable_values": (
        "Recode by rules that the plan states, so that every released label stands for original ones; release at "
        "least one variable that can be compared, and a smaller file where it is too large to be judged."
    ),
}

_LEAST_WEIGHT = 0.01  # of the largest; a variable that counts less is not compared in earnest
_UNREAD_SHARE = 0.001  # so few values that cannot be compared hide nobody; they count as if suppressed


def judge_reading(coding: Coding, unread: int, values: int, passed_over: list[str]) -> Finding:
    if unread > _UNREAD_SHARE * values:
        verdict = Verdict.UNKNOWN
        says = "Released labels occur that stand for no original record, so what they tell cannot be measured."
    elif unmeasured := list(dict.fromkeys([*coding.left_out, *passed_over])):
        verdict = Verdict.REVIEW
        says = f"Nobody has measured what these released variables tell of a person: {', '.join(unmeasured)}."
    else:
        verdict, says = Verdict.PASS, "All released variables can be compared with the original ones."
    return Finding(
        rule="comparable_values", verdict=verdict, says=says, stage="reference", observed=unread / values,
        limit=_UNREAD_SHARE, attempted=values, completed=values - unread,
    )  # fmt: skip


def incomparable(coding: Coding) -> Finding:
    says = "The files are too large to be compared record by record."
    if not coding.dimensions:
        says = "No released variable can be compared with the original data."
    return Finding(rule="comparable_values", verdict=Verdict.UNKNOWN, says=says, stage="reference", completed=0)


def unmeasured(standard: ReferenceStandard, released: Variables) -> list[str]:
    """Released variables that the comparison passes over: names of groups, and those that hardly weigh."""
    largest = max((standard.weights.get(name, 1.0) for name in released), default=1.0)
    return [
        name
        for name, variable in released.items()
        if variable.role in GROUPS or standard.weights.get(name, 1.0) < _LEAST_WEIGHT * largest
    ]
