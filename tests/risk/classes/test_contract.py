"""What all measures of a sensitive value in equivalence classes have in common. A new one is added to `MEASURES`."""

from collections.abc import Callable
from dataclasses import replace
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
from sluice.risk.classes.t_closeness import equal_distance, hierarchical_distance, ordered_distance
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


NO, YES = 0, 1


def beside_harmless(measure: Callable[[ClassValues], Any], groups: Any, sensitive: Any, *codes: int) -> np.ndarray:
    found = class_values(equivalence_classes([np.array(groups)]), np.array(sensitive))
    return np.asarray(measure(replace(found, harmless=np.isin(found.value, codes))), dtype=float)


@pytest.mark.parametrize(
    ("measure", "figures"),
    [  # of a class of nine "no", of ten with a "yes", of ten with as many, of one with a "no", and of five "yes"
        (distinct_values, [np.inf, 2, 2, 2, 1]),
        (effective_values, [np.inf, 2, 2, np.exp(-0.8 * np.log(0.8) - 0.2 * np.log(0.2)), 1]),
        (partial(recursive_ratio, l=2), [0, 1 / 9, 1, 4, np.inf]),
        (largest_share, [0, 0.1, 0.5, 0.8, 1]),
        (largest_gain, [0, 0, 0.25, 1, 1.5]),
        (log_ratios, [0, 0, np.log(1.25), np.log(2), np.log(2.5)]),
        (equal_distance, [0, 0, 0.1, 0.4, 0.6]),
        (ordered_distance, [0, 0, 0.1, 0.4, 0.6]),
        (partial(hierarchical_distance, levels=np.array([[0, 1]])), [0, 0, 0.1, 0.4, 0.6]),
    ],
    ids=lambda given: getattr(getattr(given, "func", given), "__name__", "figures"),
)
def test_nobody_is_told_of_by_a_harmless_value(measure: Callable[[ClassValues], Any], figures: list[float]) -> None:
    classes = [(9, 0), (9, 1), (5, 5), (1, 4), (0, 5)]
    counts = np.array([*classes, (0, 1)])  # with one more "yes" the file has two of them in five
    groups = np.repeat(np.arange(len(counts)), counts.sum(axis=1))
    sensitive = np.concatenate([np.repeat([NO, YES], each) for each in counts])
    assert_allclose(beside_harmless(measure, groups, sensitive, NO)[:5], figures, atol=1e-12)


@pytest.mark.parametrize("name", MEASURES)
@given(pairs=people, codes=st.sets(st.integers(0, 4)))
def test_what_is_harmless_makes_no_class_worse(name: str, pairs: np.ndarray, codes: set[int]) -> None:
    measure = {
        "distinct values": distinct_values,
        "effective values": effective_values,
        "recursive ratio": partial(recursive_ratio, l=2),
        "largest share": largest_share,
        "largest gain": largest_gain,
        "largest gain, bounded": largest_bounded_gain,
        "logarithms of ratios": log_ratios,
        "logarithms of ratios of the values there": partial(log_ratios, absent=False),
        "equal distance": equal_distance,
        "ordered distance": ordered_distance,
    }[name]
    groups, sensitive = pairs.T
    plain, beside = (beside_harmless(measure, groups, sensitive, *each) for each in ((), codes))
    better = beside >= plain - 1e-9 if name in ("distinct values", "effective values") else beside <= plain + 1e-9
    assert better.all()


@given(pairs=people, codes=st.sets(st.integers(0, 4)))
def test_of_harmless_records_as_many_count_as_leave_most_doubt(pairs: np.ndarray, codes: set[int]) -> None:
    """Against all numbers of them that may be left out."""
    sensitive = pairs[:, 1]
    (found,) = beside_harmless(effective_values, np.zeros(len(pairs), int), sensitive, *codes)
    counts = np.bincount(sensitive, minlength=5)
    if not counts[[code for code in range(5) if code not in codes]].any():
        assert found == np.inf
        return
    caps = np.linspace(0, counts.max(), 201)[:, None]
    left = np.where(np.isin(np.arange(5), list(codes)), np.minimum(counts, caps), counts)
    shares = left / left.sum(axis=1, keepdims=True)
    entropy = -np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1)), 0).sum(axis=1)
    assert found >= np.exp(entropy).max() - 1e-9
    assert found == pytest.approx(np.exp(entropy).max(), rel=0.01)
