import pytest

from policies.rules.near_limit import if_near
from sluice.verdict import Verdict


def test_a_figure_that_cannot_decide_says_so() -> None:
    assert if_near(Verdict.REVIEW) == " That is too near the limit to rule out chance, so a person must decide."


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN])
def test_one_that_decides_adds_nothing(verdict: Verdict) -> None:
    assert if_near(verdict) == ""
