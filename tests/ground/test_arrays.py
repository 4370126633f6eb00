import numpy as np
import pytest

from sluice.ground.arrays import behind


def test_how_many_stand_behind_a_variation() -> None:
    assert behind(np.r_[np.zeros(50), np.ones(50)]) == pytest.approx(100)
    assert behind(np.r_[np.zeros(999), 1.0]) == pytest.approx(1, abs=0.01)
    assert behind(np.array([1e300, 3e300])) == pytest.approx(2)
    assert behind(np.zeros(5)) == 0
