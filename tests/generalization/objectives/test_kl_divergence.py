import numpy as np
import pytest

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.generalization.objectives.kl_divergence import KLDivergence

REGION = Key("region", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))


def test_a_worked_example():
    node, _ = bottom([REGION], [np.array([0, 0, 0, 1])], {})
    measure = KLDivergence().of(node)
    middle, top = node.at([1])[0], node.at([2])[0]
    # Shares of 3/4 and 1/4, of which a reader must assume 1/2 each, and then 1/4 each.
    entropy = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert measure.value(middle, np.zeros(1, dtype=bool)) == pytest.approx(1 - entropy)
    assert measure.value(top, np.zeros(1, dtype=bool)) == pytest.approx(2 - entropy)
    assert measure.value(node, np.ones(2, dtype=bool)) == pytest.approx(2 - entropy)


def test_the_original_file_tells_all():
    node, _ = bottom([REGION], [np.array([0, 0, 3, 1])], {})
    assert KLDivergence().of(node).value(node, np.zeros(len(node.sizes), dtype=bool)) == 0


def test_an_even_file_loses_nothing():
    node, _ = bottom([REGION], [np.array([0, 1, 2, 3])], {})
    assert KLDivergence().of(node).value(node.at([2])[0], np.zeros(1, dtype=bool)) == pytest.approx(0)
