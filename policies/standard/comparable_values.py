"""Whether every released variable could be compared with the original one."""

import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.variables import GROUPS, Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.coding import Coding

_STAND_FOR_NOTHING = "stand for no original value that is known, so what they tell cannot be measured."
_SAYS = Sentences(
    "comparable_values",
    unread=f"Released labels {_STAND_FOR_NOTHING}",
    unread_of=f"Released labels of {{names:commas}} {_STAND_FOR_NOTHING}",
    unmeasured="The risk from these released variables is not measured: {unmeasured:commas}.",
    all="All released variables can be compared with the original ones.",
)
INCOMPARABLE = Sentence("comparable_values.none", "No released variable can be compared with the original data.")

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
        unread_of = coding.unread(masked)
        says = _SAYS.unread_of(names=unread_of) if unread_of else _SAYS.unread()
    elif unmeasured := list(dict.fromkeys([*coding.left_out, *passed_over])):
        verdict = Verdict.REVIEW
        says = _SAYS.unmeasured(unmeasured=unmeasured)
    else:
        verdict, says = Verdict.PASS, _SAYS.all()
    return Finding(
        rule="comparable_values", verdict=verdict, stage="reference", observed=unread / values,
        limit=_UNREAD_SHARE, attempted=values, completed=values - unread,
        **as_fields(says),
    )  # fmt: skip


def cannot_be_compared(rule: str) -> Finding:
    return Finding(rule=rule, verdict=Verdict.UNKNOWN, stage="reference", completed=0, **as_fields(INCOMPARABLE()))


def incomparable() -> Finding:
    return cannot_be_compared("comparable_values")


def unmeasured(standard: ReferenceStandard, released: Variables) -> list[str]:
    """Released variables that the comparison passes over: names of groups, and those that hardly weigh."""
    largest = max((standard.weights.get(name, 1.0) for name in released), default=1.0)
    return [
        name
        for name, variable in released.items()
        if variable.role in GROUPS or standard.weights.get(name, 1.0) < _LEAST_WEIGHT * largest
    ]
