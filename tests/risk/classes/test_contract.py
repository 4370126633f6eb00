"""What all measures of a sensitive value in equivalence classes have in common. A new one is added to `MEASURES`."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.ground.errors import DataError
from sluice.risk.classes.alpha_k import largest_share
from sluice.risk.classes.beta_likeness import largest_bounded_gain, largest_gain
from sluice.risk.classes.class_values import ClassValues, class_values
from sluice.risk.classes.delta_disclosure import log_ratios
from sluice.risk.classes.equivalence_classes import category_codes, classes_of, equivalence_classes
from sluice.risk.classes.l_diversity import distinct_values, effective_values, recursive_ratio
from sluice.risk.classes.t_closeness import equal_distance, ordered_distance
from tests.golden import golden

Measure = Callable[..., Any]


# Each with what it is of one record alone.
def of_values(measure: Callable[[ClassValues], Any]) -> Measure:
    return lambda classes, sensitive: measure(class_values(classes, sensitive))


MEASURES: dict[str, tuple[Measure, float]] = {
    "distinct values": (of_values(distinct_values), 1),
    "effective values": (of_values(effective_values), 1),
    "recursive ratio": (of_values(partial(recursive_ratio, l=2)), np.inf),
    "largest share": (of_values(largest_share), 1),
    "largest gain": (of_values(largest_gain), 0),
    "largest gain, bounded": (of_values(largest_bounded_gain), 0),
    "logarithms of ratios": (of_values(log_ratios), 0),
    "logarithms of ratios of the values there": (of_values(partial(log_ratios, absent=False)), 0),
    "equal distance": (of_values(equal_distance), 0),
    "ordered distance": (of_values(ordered_distance), 0),
}
WITHIN_CLASSES = ("distinct values", "effective values", "recursive ratio", "largest share")  # whatever the file holds

people = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25).map(np.array)
# pycanon 1.3.6 on ARX's adult.csv, which leaves out values that a class lacks and rounds the effective values down. Its
# enhanced beta, min(beta, max -ln q), is another, and its recursive ratio sorts the counts the wrong way.
PYCANON: list[tuple[str, list[str], str, float]] = [
    ("distinct values", ["sex", "race"], "occupation", 10),
    ("effective values", ["sex", "race"], "occupation", 7),
    ("largest share", ["sex", "race"], "occupation", 0.2789115646258503),
    ("largest share", ["sex", "race"], "age", 0.08045977011494253),
    ("largest share", ["sex", "race", "workclass"], "education", 1),
    ("largest gain", ["sex", "race"], "occupation", 17.722532588454378),
    ("largest gain", ["sex", "race"], "age", 16.61799065420561),
    ("largest gain", ["sex", "race", "workclass"], "education", 103.72916666666667),
    ("logarithms of ratios of the values there", ["sex", "race"], "occupation", 3.132721992807618),
    ("logarithms of ratios of the values there", ["sex", "race"], "age", 2.868920576218943),
    ("logarithms of ratios of the values there", ["sex", "race", "workclass"], "education", 4.651377652784684),
    ("logarithms of ratios", ["sex", "race"], "occupation", np.inf),  # by the definition no delta is kept
    ("equal distance", ["sex", "race"], "occupation", 0.3249624441807344),
    ("ordered distance", ["sex", "race"], "age", 0.09193571485872032),
]

each_measure = pytest.mark.parametrize(("measure", "alone"), MEASURES.values(), ids=MEASURES)


def of_each_record(measure: Measure, groups: np.ndarray, sensitive: np.ndarray) -> np.ndarray:
    """What the measure says of the class of each record."""
    classes = equivalence_classes([groups])
    found = measure(classes, sensitive)
    assert found.shape == classes.sizes.shape
    return np.asarray(found[classes.labels], dtype=float)


@cache
def adult(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "adult" / "arx" / "adult.csv.gz", sep=";").astype("category")


@pytest.mark.parametrize(("name", "keys", "sensitive", "worst"), PYCANON)
def test_adult_as_pycanon_measures_it(
    reference_data: Path, name: str, keys: list[str], sensitive: str, worst: float
) -> None:
    frame = adult(reference_data)
    found = MEASURES[name][0](classes_of(frame, keys), category_codes(frame[sensitive]))
    smallest = {"distinct values": found.min(), "effective values": int(found.min())}
    assert smallest.get(name, found.max()) == pytest.approx(worst, rel=1e-12)


@each_measure
@given(pairs=people, random=st.randoms())
def test_neither_the_order_of_the_records_nor_the_codes_of_the_groups_matter(
    measure: Measure, alone: float, pairs: np.ndarray, random: Random
) -> None:
    groups, sensitive = pairs.T
    order = list(range(len(pairs)))
    random.shuffle(order)
    expected = of_each_record(measure, groups, sensitive)[order]
    assert_allclose(of_each_record(measure, 7 - groups[order], sensitive[order]), expected, atol=1e-12)


@each_measure
@given(pairs=people)
def test_codes_that_nobody_has_change_nothing(measure: Measure, alone: float, pairs: np.ndarray) -> None:
    groups, sensitive = pairs.T
    expected = of_each_record(measure, groups, sensitive)
    assert_allclose(of_each_record(measure, groups, 3 * sensitive + 2), expected, atol=1e-12)


@each_measure
@given(pairs=people)
def test_everybody_twice_is_as_everybody_once(measure: Measure, alone: float, pairs: np.ndarray) -> None:
    """All are of shares; how many records a class has is another rule's."""
    expected = of_each_record(measure, *pairs.T)
    assert_allclose(of_each_record(measure, *np.repeat(pairs, 2, axis=0).T), np.repeat(expected, 2), atol=1e-12)


@each_measure
def test_a_missing_value_is_one_more_value(measure: Measure, alone: float) -> None:
    missing, told = (
        category_codes(pd.Series(["a", "b", each, "a"], dtype=pd.CategoricalDtype(["a", "b", "c"])))
        for each in (None, "c")
    )
    classes = equivalence_classes([np.array([0, 0, 1, 1])])
    assert_allclose(measure(classes, missing), measure(classes, told))


@each_measure
def test_one_record_alone_and_all_alike(measure: Measure, alone: float) -> None:
    for groups, sensitive in (([0], [0]), ([0], [5]), ([0, 0, 0], [3, 3, 3]), ([0, 1, 1], [2, 2, 2])):
        found = of_each_record(measure, np.array(groups), np.array(sensitive))
        assert found.tolist() == pytest.approx([alone] * len(groups))


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in WITHIN_CLASSES])
@given(sensitive=st.lists(st.integers(0, 4), min_size=1, max_size=25).map(np.array))
def test_a_class_that_is_the_file_tells_nothing(name: str, sensitive: np.ndarray) -> None:
    found = of_each_record(MEASURES[name][0], np.zeros(len(sensitive), dtype=np.int64), sensitive)
    assert_allclose(found, 0, atol=1e-12)


@each_measure
@pytest.mark.parametrize("values", [1, 3])
def test_values_of_other_records_are_refused(measure: Measure, alone: float, values: int) -> None:
    golden.refused(DataError, measure, equivalence_classes([np.array([0, 0])]), np.zeros(values, dtype=np.int64))


@each_measure
def test_nobody_is_refused(measure: Measure, alone: float) -> None:
    nobody = np.array([], dtype=np.int64)
    golden.refused(DataError, measure, equivalence_classes([nobody]), nobody)
