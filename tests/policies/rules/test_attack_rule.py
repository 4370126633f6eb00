"""AttackRule: how a figure with its interval and baseline becomes a verdict."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from policies.rules.attack_rule import AttackRule
from sluice.ground.sentence import Sentence
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison
from tests.golden import golden

GUESSED = Sentence("test.guessed", "One in five is guessed.")


class Guessing(AttackRule):
    rule: Literal["guessing"] = "guessing"

    def find(self, attacked: Comparison) -> list[Finding]:
        return []

    def describe(self) -> str:
        return "guesses"


def judged(rule: dict[str, float], **measured: Any) -> Finding:
    figure = {"value": 0.2, "attempted": 100, "completed": 100} | measured
    return Guessing.model_validate(rule).judge(Measurement(**figure), GUESSED())


@pytest.mark.parametrize(
    ("rule", "measured", "verdict"),
    [
        ({"limit": 0.2}, {}, Verdict.PASS),
        ({"limit": 0.19}, {}, Verdict.FAIL),
        ({"limit": 0.2}, {"interval": (0.1, 0.3)}, Verdict.REVIEW),  # the sample cannot decide
        ({"limit": 0.3}, {"interval": (0.1, 0.3)}, Verdict.PASS),
        ({"limit": 0.09}, {"interval": (0.1, 0.3)}, Verdict.FAIL),
        ({"excess": 0.1}, {"baseline": 0.1}, Verdict.PASS),
        ({"excess": 0.05}, {"baseline": 0.1}, Verdict.FAIL),
        ({"excess": 0.05}, {}, Verdict.UNKNOWN),  # nothing to compare with
        ({"limit": 1, "excess": 0.05}, {"baseline": 0.1}, Verdict.FAIL),  # the stricter of both
        ({"limit": 1}, {"completed": 0}, Verdict.UNKNOWN),
        ({"limit": 1}, {"baseline": 0.5, "interval": (0.1, 0.3)}, Verdict.UNKNOWN),  # worse than guessing
        ({"limit": 1}, {"baseline": 0.25, "interval": (0.1, 0.3)}, Verdict.PASS),
        ({"limit": 0.1}, {"worse": "lower"}, Verdict.PASS),
        ({"limit": 0.3}, {"worse": "lower"}, Verdict.FAIL),
        ({"limit": 0.2}, {"worse": "lower", "interval": (0.1, 0.3)}, Verdict.REVIEW),
        ({"excess": 0.05}, {"worse": "lower", "baseline": 0.3}, Verdict.FAIL),
        ({"limit": 0}, {"worse": "lower", "baseline": 0.1}, Verdict.UNKNOWN),
    ],
)
def test_verdicts(rule: dict[str, float], measured: dict[str, Any], verdict: Verdict) -> None:
    assert judged(rule, **measured).verdict is verdict


@given(value=st.floats(0, 1), half=st.floats(0, 0.2), limit=st.floats(0, 1), worse=st.sampled_from(["higher", "lower"]))
def test_a_stricter_limit_never_gives_a_better_verdict(value: float, half: float, limit: float, worse: str) -> None:
    measured = {"value": value, "interval": (value - half, value + half), "worse": worse}
    stricter = limit - 0.1 if worse == "higher" else limit + 0.1
    assert judged({"limit": stricter}, **measured).verdict >= judged({"limit": limit}, **measured).verdict


def test_the_limit_is_told_in_the_unit_of_the_measure() -> None:
    found = judged({"limit": 0.3, "excess": 0.05}, baseline=0.1)
    assert found.limit == pytest.approx(0.15)
    golden(found.says)
    assert judged({"limit": 0.1}, worse="lower").limit == 0.1


def test_a_rule_that_could_not_fail_is_refused() -> None:
    golden.refused(ValidationError, Guessing)
    with pytest.raises(ValidationError, match="finite"):
        Guessing(limit=float("inf"))


def test_a_rule_that_does_not_decide_says_so() -> None:
    rule = Guessing(limit=0, binding=False)
    assert not rule.judge(Measurement(value=1, attempted=1, completed=1), GUESSED()).binding
    assert not rule.unknown(GUESSED()).binding
    assert rule.unknown(GUESSED()).verdict is Verdict.UNKNOWN
