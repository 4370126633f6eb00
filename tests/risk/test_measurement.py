"""A measurement: what a figure must hold, and its excess over the baseline.

What is said where the interval lies on both sides of the limit.
"""

import pytest

from sluice.ground.sentence import text_of
from sluice.ground.verdict import Verdict
from sluice.risk.measurement import Measurement, if_near
from tests.golden import golden


def test_the_excess_as_a_figure_of_its_own() -> None:
    higher = Measurement(0.5, 10, 10, interval=(0.4, 0.7), baseline=0.2).beyond_baseline()
    assert (higher.value, higher.baseline) == pytest.approx((0.3, 0.0))
    assert higher.interval == pytest.approx((0.2, 0.5))
    lower = Measurement(0.5, 10, 10, worse="lower", interval=(0.4, 0.7), baseline=0.6).beyond_baseline()
    assert lower.worse == "higher"
    assert lower.interval == pytest.approx((-0.1, 0.2))
    nothing = Measurement(0.0, 10, 0)
    assert nothing.beyond_baseline() is nothing


def test_an_intruder_who_is_wrong_beyond_chance_says_the_opposite() -> None:
    turned = Measurement(-0.2, 10, 10, interval=(-0.3, -0.1), baseline=0.0).either_way()
    assert (turned.value, turned.interval) == (0.2, (0.1, 0.3))
    by_chance = Measurement(-0.1, 10, 10, interval=(-0.3, 0.1), baseline=0.0)
    assert by_chance.either_way() is by_chance
    better = Measurement(0.2, 10, 10, interval=(0.1, 0.3), baseline=0.0)
    assert better.either_way() is better


def test_it_is_the_interval_that_crosses_and_the_sentence_says_on_which_side_the_figure_is() -> None:
    golden(text_of(if_near(Verdict.REVIEW, 0.04, 0.05, ("3.0 %", "6.0 %"))))
    golden.words(text_of(if_near(Verdict.REVIEW, 0.06, 0.05)))


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN])
def test_one_that_decides_adds_nothing(verdict: Verdict) -> None:
    assert if_near(verdict, 0.04, 0.05) == ()
