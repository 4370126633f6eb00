"""Beta-likeness as a rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.ground.verdict import Verdict
from sluice.risk.classes.beta_likeness import BetaLikeness, largest_bounded_gain, largest_gain
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.equivalence_classes import equivalence_classes
from tests.golden import golden
from tests.risk.classes.ill_people import one, people

codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25).map(np.array)


def test_an_example_by_hand() -> None:
    """Four records, values 0 0 0 1 (q = 3/4, 1/4); the class of the last two has one of each: 1/4 rises by 100 %."""
    classes, sensitive = equivalence_classes([np.array([0, 0, 1, 1])]), np.array([0, 0, 0, 1])
    assert_allclose(largest_gain(class_values(classes, sensitive)), [1 / 3, 1])
    # 3/4 may gain -ln 3/4 = 0.288 at most, and gains 1/3: certainty. 1/4 may gain 1.386.
    assert_allclose(largest_bounded_gain(class_values(classes, sensitive)), [1 / 3 / np.log(4 / 3), 1 / np.log(4)])


@given(codes)
def test_agrees_with_the_definition(pairs: np.ndarray) -> None:
    expected = 0.0
    for holder in set(pairs[:, 0]):
        for value in set(pairs[:, 1]):
            p, q = (pairs[pairs[:, 0] == holder, 1] == value).mean(), (pairs[:, 1] == value).mean()
            expected = max(expected, (p - q) / q)
    gains = largest_gain(class_values(equivalence_classes([pairs[:, 0]]), pairs[:, 1]))
    assert gains.max() == pytest.approx(expected)


def test_a_certain_value_breaks_the_enhanced_bound_unless_everybody_has_it() -> None:
    """1/q - 1 is above -ln q for every q below 1."""
    for common in range(1, 9):
        sensitive = np.array([0] * common + [1] * (10 - common))
        assert largest_bounded_gain(class_values(equivalence_classes([sensitive]), sensitive)).max() > 1
    one = class_values(equivalence_classes([np.array([0, 0, 1])]), np.zeros(3, dtype=np.int64))
    for measure in (largest_gain, largest_bounded_gain):
        assert measure(one).tolist() == [0, 0]  # all the same: nothing is learned


def test_beta_likeness_of_both_variants() -> None:
    frame = people([30, 30, 40, 40], "aaaa", "cccf")  # by hand: cold gains 1/3 in the first group, flu 1 in the second
    assert one(BetaLikeness(beta=1, variant="basic"), frame).verdict is Verdict.PASS
    basic = one(BetaLikeness(beta=0.5, variant="basic"), frame)
    assert (basic.verdict, basic.observed, basic.scope) == (Verdict.FAIL, 1, "illness by age, area")
    golden(basic.says)
    # 1/3 is more than -ln 3/4: a cold is certain in the first group.
    assert one(BetaLikeness(beta=1), frame).verdict is Verdict.FAIL
    assert one(BetaLikeness(beta=1), people([30, 30, 40, 40], "aaaa", "cfcf")).verdict is Verdict.PASS
