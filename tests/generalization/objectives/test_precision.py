import numpy as np
import pytest

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.generalization.objectives.precision import Precision

RACE = Key("race", np.array([[0, 1], [0, 0], [0, 0]]))
ZIP = Key("zip", np.array([[0, 1, 2], [0, 1, 1], [0, 0, 0], [0, 0, 0]]))


@pytest.mark.parametrize(("levels", "precision"), [((1, 0), 0.75), ((1, 1), 0.58), ((0, 2), 0.67), ((0, 1), 0.83)])
def test_the_published_example(levels, precision):
    """Sweeney (2002): race, of height 2, and ZIP code, of height 3; its tables have no suppressed record."""
    node, _ = bottom([RACE, ZIP], [np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])], {})
    measure = Precision().of(node)
    finer, _ = node.at(levels)
    assert 1 - measure.value(finer, np.zeros(len(finer.sizes), dtype=bool)) == pytest.approx(precision, abs=0.005)


def test_a_missing_value_loses_nothing_until_it_is_suppressed():
    key = Key("sex", np.array([[0, 1, 2], [0, 0, 1]]), missing=2)
    node, _ = bottom([key], [np.array([0, 2])], {})
    measure = Precision().of(node)
    top, _ = node.at([1])
    assert measure.value(top, np.zeros(2, dtype=bool)) == 0.5
    assert measure.value(top, np.ones(2, dtype=bool)) == 1
