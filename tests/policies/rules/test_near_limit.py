"""What is said where the interval lies on both sides of the limit."""

import pytest

from sluice.ground.sentence import text_of
from sluice.ground.verdict import Verdict
from sluice.risk.measurement import if_near
from tests.golden import golden


def test_it_is_the_interval_that_crosses_and_the_sentence_says_on_which_side_the_figure_is() -> None:
    golden(text_of(if_near(Verdict.REVIEW, 0.04, 0.05, ("3.0 %", "6.0 %"))))
    golden.words(text_of(if_near(Verdict.REVIEW, 0.06, 0.05)))


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN])
def test_one_that_decides_adds_nothing(verdict: Verdict) -> None:
    assert if_near(verdict, 0.04, 0.05) == ()
