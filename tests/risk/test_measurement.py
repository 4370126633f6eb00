"""A measurement: what a figure must hold, and its excess over the baseline."""

import pytest

from sluice.risk.measurement import Measurement


def test_the_excess_as_a_figure_of_its_own() -> None:
    higher = Measurement(0.5, 10, 10, interval=(0.4, 0.7), baseline=0.2).beyond_baseline()
    assert (higher.value, higher.baseline) == pytest.approx((0.3, 0.0))
    assert higher.interval == pytest.approx((0.2, 0.5))
    lower = Measurement(0.5, 10, 10, worse="lower", interval=(0.4, 0.7), baseline=0.6).beyond_baseline()
    assert lower.worse == "higher"
    assert lower.interval == pytest.approx((-0.1, 0.2))
    nothing = Measurement(0.0, 10, 0)
    assert nothing.beyond_baseline() is nothing
