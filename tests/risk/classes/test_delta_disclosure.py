"""Delta-disclosure privacy as a rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.ground.verdict import Verdict
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.delta_disclosure import DeltaDisclosure, log_ratios
from sluice.risk.classes.equivalence_classes import equivalence_classes
from tests.golden import golden
from tests.risk.classes.ill_people import one, people

codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25).map(np.array)


@given(codes)
def test_agrees_with_the_definition(pairs: np.ndarray) -> None:
    ratios = [
        (pairs[pairs[:, 0] == holder, 1] == value).mean() / (pairs[:, 1] == value).mean()
        for holder in set(pairs[:, 0])
        for value in set(pairs[:, 1])
    ]
    classes, sensitive = equivalence_classes([pairs[:, 0]]), pairs[:, 1]
    assert log_ratios(class_values(classes, sensitive), absent=False).max() == pytest.approx(
        max(abs(np.log(ratio)) for ratio in ratios if ratio)
    )
    assert np.isinf(log_ratios(class_values(classes, sensitive)).max()) == (0 in ratios)


def test_an_example_by_hand_and_extremes() -> None:
    # Values 0 0 0 1: in the class with one of each 3/4 falls to 1/2 and 1/4 rises to 1/2, a factor of 2.
    classes = equivalence_classes([np.array([0, 0, 1, 1])])
    assert_allclose(log_ratios(class_values(classes, np.array([0, 0, 0, 1])), absent=False), [np.log(4 / 3), np.log(2)])
    assert log_ratios(class_values(classes, np.array([0, 0, 0, 1]))).tolist() == [np.inf, np.log(2)]
    assert log_ratios(class_values(classes, np.zeros(4, dtype=np.int64))).tolist() == [0, 0]


def test_delta_disclosure_is_strict_on_absent_values_unless_told() -> None:
    frame = people([30, 30, 40, 40], "aaaa", "cccf")
    finding = one(DeltaDisclosure(delta=5), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, None)
    golden(finding.says)
    assert one(DeltaDisclosure(delta=0.7, absent_values="ignore"), frame).verdict is Verdict.PASS  # ln 2 is 0.693
    ignoring = one(DeltaDisclosure(delta=0.69, absent_values="ignore"), frame)
    assert (ignoring.verdict, ignoring.observed) == (Verdict.FAIL, pytest.approx(np.log(2)))


def test_near_numbers_are_one_value_in_all_groups() -> None:
    frame = people([30, 30, 40, 40], "aaaa", weights=[1.0, 5.0, 1.001, 5.001])
    rule = DeltaDisclosure(delta=0.1, columns=("weight",))
    assert one(rule, frame).verdict is Verdict.PASS
    assert one(rule.model_copy(update={"near": 0.0}), frame).verdict is Verdict.FAIL
