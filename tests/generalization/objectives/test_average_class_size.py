import numpy as np
import pytest

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.generalization.objectives.average_class_size import AverageClassSize

MISSING = 2
SEX = Key("sex", np.array([[0, 1, MISSING], [0, 0, 1]]), missing=MISSING)


@pytest.mark.parametrize(
    ("codes", "gone", "size"),
    [
        ([0, 0, 1, 1], [], 2),
        ([0, 0, 1, 1], [1], 2),  # the suppressed are a class
        ([0, 0, 1, MISSING], [1], 2),  # with the one that showed nothing anyway
        ([0, 0, 1, MISSING], [0, 1, MISSING], 4),
    ],
)
def test_suppressed_records_are_one_class(codes, gone, size):
    node, _ = bottom([SEX], [np.array(codes)], {})
    assert AverageClassSize().of(node).value(node, np.isin(node.shown(0), gone)) == size


def test_people_without_a_record_are_no_class():
    node, _ = bottom([SEX], [np.array([0, 0])], {}, [np.array([0, 0, 1])])
    assert AverageClassSize().of(node).value(node, np.zeros(2, dtype=bool)) == 2
