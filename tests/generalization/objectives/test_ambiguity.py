import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.generalization.objectives.ambiguity import Ambiguity

REGION = Key("region", np.array([[0, 1, 2, 3], [0, 0, 0, 1], [0, 0, 0, 0]]))
SEX = Key("sex", np.array([[0, 1], [0, 0]]))


def test_a_worked_example():
    node, _ = bottom([REGION, SEX], [np.array([0, 1, 3]), np.array([0, 0, 1])], {})
    measure = Ambiguity().of(node)
    coarser, into = node.at([1, 1])
    nobody = np.zeros(len(coarser.sizes), dtype=bool)
    # Two records of three regions and two sexes, one of one region and two sexes.
    assert measure.value(coarser, nobody) == (6 + 6 + 2) / 3
    last = np.arange(len(coarser.sizes)) == into[np.argmax(node.shown(0))]
    assert measure.value(coarser, last) == (6 + 6 + 8) / 3


def test_the_original_and_the_whole():
    node, _ = bottom([REGION, SEX], [np.array([0, 1, 3]), np.array([0, 0, 1])], {})
    measure = Ambiguity().of(node)
    top, _ = node.at([2, 1])
    assert measure.value(node, np.zeros(3, dtype=bool)) == 1
    assert measure.value(top, np.zeros(1, dtype=bool)) == measure.value(node, np.ones(3, dtype=bool)) == 8
