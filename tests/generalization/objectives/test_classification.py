import numpy as np
import pytest

from sluice.errors import DataError
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.generalization.objectives.classification import Classification
from tests.golden import golden

REGION = Key("region", np.array([[0, 1], [0, 0]]))


def base(values):
    return bottom([REGION], [np.array([0, 0, 0, 1, 1])], {"illness": np.array(values)})[0]


def test_a_worked_example():
    node = base([0, 0, 1, 1, 1])
    measure = Classification("illness").of(node)
    top, _ = node.at([1])
    assert measure.value(node, np.zeros(2, dtype=bool)) == pytest.approx(1 / 5)  # one of the first region
    assert measure.value(top, np.zeros(1, dtype=bool)) == pytest.approx(2 / 5)
    assert measure.value(node, node.shown(0) == 1) == pytest.approx(3 / 5)


def test_blanks_are_left_out():
    for values, share, suppressed in (([0, 0, 1, -1, -1], 1 / 3, 1), ([-1] * 5, 0, 0)):
        node = base(values)
        measure = Classification("illness").of(node)
        assert measure.value(node, np.zeros(2, dtype=bool)) == pytest.approx(share)
        assert measure.value(node, np.ones(2, dtype=bool)) == pytest.approx(suppressed)


def test_a_column_that_was_not_given_is_refused():
    with golden.raises(DataError):
        Classification("income").of(base([0, 0, 1, 1, 1]))
