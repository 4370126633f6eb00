"""Whether every released variable could be compared with the original one."""

import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from sluice.risk.coding import Coding
from sluice.variables import GROUPS, Variables
from sluice.verdict import Finding, Verdict

ASKS = {
    "comparable_values": "Of every released variable it is known which original values a released one stands for.",
}
ADVICE = {
    "comparable_values": (
        "Say in the reference standard's weights that these variables count, or take them out of the release: of a "
        "free text or a number of a group nobody can measure what it tells."
    ),
}
UNMEASURED = {
    "comparable_values": (
        "Let every released label stand for original ones: recode by rules that the plan states or, where the file was "
        "masked elsewhere, by a hierarchy of the contract, or hand it in with its rows in the original order (paired). "
        "Release at least one variable that can be compared."
    ),
}

_LEAST_WEIGHT = 0.01  # of the largest; a variable that counts less is not compared in earnest
_UNREAD_SHARE = 0.001  # so few values that cannot be compared hide nobody; they count as if suppressed


def judge_reading(coding: Coding, masked: pd.DataFrame, unread: int, passed_over: list[str]) -> Finding:
    values = len(masked) * len(coding.names)
    if unread > _UNREAD_SHARE * values:
        verdict = Verdict.UNKNOWN
        of = ", ".join(coding.unread(masked))
        says = (
            f"Released labels{f' of {of}' if of else ''} stand for no original value that is known, so what they tell "
            "cannot be measured."
        )
    elif unmeasured := list(dict.fromkeys([*coding.left_out, *passed_over])):
        verdict = Verdict.REVIEW
        says = f"Nobody has measured what these released variables tell of a person: {', '.join(unmeasured)}."
    else:
        verdict, says = Verdict.PASS, "All released variables can be compared with the original ones."
    return Finding(
        rule="comparable_values", verdict=verdict, says=says, stage="reference", observed=unread / values,
        limit=_UNREAD_SHARE, attempted=values, completed=values - unread,
    )  # fmt: skip


def incomparable() -> Finding:
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
