"""(alpha,k)-anonymity as a rule."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.classes.alpha_k import AlphaK, largest_share
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.equivalence_classes import category_codes, equivalence_classes
from sluice.risk.classes.l_diversity import effective_values
from tests.golden import golden
from tests.risk.classes.ill_people import VARIABLES, people

codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25).map(np.array)


@given(codes)
def test_no_entropy_is_smaller(pairs: np.ndarray) -> None:
    classes = equivalence_classes([pairs[:, 0]])
    shares = largest_share(class_values(classes, pairs[:, 1]))
    assert (
        1 / shares <= effective_values(class_values(classes, pairs[:, 1])) + 1e-9
    ).all()  # min-entropy is the smallest entropy


def test_named_values_and_extremes() -> None:
    classes, sensitive = equivalence_classes([np.array([0, 0, 0, 1])]), np.array([0, 0, 1, 0])
    assert_allclose(largest_share(class_values(classes, sensitive)), [2 / 3, 1])
    assert_allclose(largest_share(class_values(classes, sensitive), np.array([1])), [1 / 3, 0])
    assert_allclose(largest_share(class_values(classes, sensitive), np.array([], dtype=np.int64)), [0, 0])
    # All missing: one value, which everybody has.
    assert_allclose(largest_share(class_values(classes, category_codes(pd.Series([np.nan] * 4)))), [1, 1])


def test_alpha_k_judges_the_sizes_and_the_shares() -> None:
    frame = people([30, 30, 30, 40, 40, 40], "aaaaaa", "ccfcfg")
    size, share = AlphaK(alpha=0.7, k=3).find(frame, VARIABLES, "masked")
    assert (size.verdict, size.observed, share.verdict) == (Verdict.PASS, 3, Verdict.PASS)
    size, share = AlphaK(alpha=0.5, k=4).find(frame, VARIABLES, "masked")
    assert (size.verdict, share.verdict, share.observed) == (Verdict.FAIL, Verdict.FAIL, pytest.approx(2 / 3))
    _, gout = AlphaK(alpha=0.4, k=3, values=("gout",)).find(frame, VARIABLES, "masked")
    assert (gout.verdict, gout.observed) == (Verdict.PASS, pytest.approx(1 / 3))
    golden.refused(DataError, AlphaK(alpha=0.4, k=3, values=("plague",)).find, frame, VARIABLES, "masked")
    with golden.raises(DataError):
        AlphaK(alpha=0.4, k=3, values=("1",), columns=("weight",)).find(frame, VARIABLES, "masked")
