from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.risk.classes.delta_disclosure import log_ratios
from sluice.risk.classes.equivalence_classes import category_codes, classes_of, equivalence_classes

codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25).map(np.array)


@pytest.mark.parametrize(
    ("keys", "sensitive", "delta"),
    [
        (["sex", "race"], "occupation", 3.132721992807618),
        (["sex", "race"], "age", 2.868920576218943),
        (["sex", "race", "workclass"], "education", 4.651377652784684),
    ],
)
def test_adult_as_pycanon_measures_it(reference_data: Path, keys: list[str], sensitive: str, delta: float) -> None:
    """pycanon 1.3.6, delta_disclosure on ARX's adult.csv, which leaves out values that a class lacks."""
    frame = pd.read_csv(reference_data / "adult" / "arx" / "adult.csv.gz", sep=";").astype("category")
    classes, values = classes_of(frame, keys), category_codes(frame[sensitive])
    assert log_ratios(classes, values, absent=False).max() == pytest.approx(delta, rel=1e-12)
    assert log_ratios(classes, values).max() == np.inf  # by the definition no delta is kept


@given(codes)
def test_agrees_with_the_definition(pairs: np.ndarray) -> None:
    ratios = [
        (pairs[pairs[:, 0] == holder, 1] == value).mean() / (pairs[:, 1] == value).mean()
        for holder in set(pairs[:, 0])
        for value in set(pairs[:, 1])
    ]
    classes, sensitive = equivalence_classes([pairs[:, 0]]), pairs[:, 1]
    assert log_ratios(classes, sensitive, absent=False).max() == pytest.approx(
        max(abs(np.log(ratio)) for ratio in ratios if ratio)
    )
    assert np.isinf(log_ratios(classes, sensitive).max()) == (0 in ratios)


def test_an_example_by_hand_and_extremes() -> None:
    # Values 0 0 0 1: in the class with one of each 3/4 falls to 1/2 and 1/4 rises to 1/2, a factor of 2.
    classes = equivalence_classes([np.array([0, 0, 1, 1])])
    assert_allclose(log_ratios(classes, np.array([0, 0, 0, 1]), absent=False), [np.log(4 / 3), np.log(2)])
    assert log_ratios(classes, np.array([0, 0, 0, 1])).tolist() == [np.inf, np.log(2)]
    assert log_ratios(classes, np.zeros(4, dtype=np.int64)).tolist() == [0, 0]
