import numpy as np
import pytest

from sluice.risk.transparency.attack import paired_share


def test_only_people_in_whom_both_differ_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    without = (rng.random(1000) < 0.4).astype(float)
    same = paired_share(without, without, 5000)
    assert same.value == same.baseline == pytest.approx(0.4, abs=0.05)
    assert same.interval == pytest.approx((same.value - 0.001, same.value + 0.001))
    better = np.where(rng.random(1000) < 0.1, 1.0, without)
    measured = paired_share(better, without, 5000)
    half = measured.interval[1] - measured.value
    assert half == pytest.approx(1.96 * (better - without).std() / np.sqrt(1000) + 0.001, rel=1e-3)


def test_everybody_examined_is_exact_and_nobody_is_nothing() -> None:
    assert paired_share(np.ones(5), np.zeros(5), 5).interval is None
    assert paired_share(np.ones(0), np.zeros(0), 5).completed == 0
