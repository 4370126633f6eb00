from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.ground.errors import DataError
from sluice.risk.classes.class_values import class_values, knowing_others
from sluice.risk.classes.equivalence_classes import category_codes, classes_of, equivalence_classes
from sluice.risk.classes.l_diversity import distinct_values, effective_values, recursive_ratio
from tests.golden import golden

# Machanavajjhala et al. 2007, Figure 1: the condition of 12 inpatients, in order.
CONDITION = category_codes(
    pd.Series(
        [
            "Heart",
            "Heart",
            "Viral",
            "Viral",
            "Cancer",
            "Heart",
            "Viral",
            "Viral",
            "Cancer",
            "Cancer",
            "Cancer",
            "Cancer",
        ],
        dtype="category",
    )
)
FIGURE_2 = equivalence_classes([np.repeat([0, 1, 2], 4)])  # 4-anonymous
FIGURE_3 = equivalence_classes([np.array([0, 1, 1, 0, 2, 2, 2, 2, 0, 0, 1, 1])])  # 3-diverse


def test_the_inpatient_tables_of_the_paper() -> None:
    """Figure 2 is 4-anonymous and gives away that the third group has cancer; Figure 3 is 3-diverse."""
    assert sorted(distinct_values(class_values(FIGURE_2, CONDITION))) == [1, 2, 3]
    assert distinct_values(class_values(FIGURE_3, CONDITION)).tolist() == [3, 3, 3]
    # By hand: each group of Figure 3 holds one value twice and two once, an entropy of 1.5 bits.
    assert_allclose(effective_values(class_values(FIGURE_3, CONDITION)), 2**1.5)
    assert_allclose(sorted(effective_values(class_values(FIGURE_2, CONDITION))), [1, 2, 2**1.5])


def test_distinct_counts_of_sdcmicro_with_a_missing_key() -> None:
    """sdcMicro, tests/testthat/test_ldiversity.R, first test: 3 3 3 2 2 2 2, by record."""
    frame = pd.DataFrame(
        {
            "sex": ["female", "female", "female", "male", "male", "female", "female"],
            "occupation": [None, None, None, "teacher", "teacher", "nurse", "nurse"],
            "ethnicity": ["other"] * 5 + ["majority"] * 2,
        }
    ).astype("category")
    classes = classes_of(frame, list(frame))
    values = distinct_values(class_values(classes, np.array([1, 0, 2, 1, 0, 0, 1])))
    assert values[classes.labels].tolist() == [3, 3, 3, 2, 2, 2, 2]


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25).map(np.array)


@given(codes)
def test_bounds(pairs: np.ndarray) -> None:
    classes = equivalence_classes([pairs[:, 0]])
    distinct, effective = (
        distinct_values(class_values(classes, pairs[:, 1])),
        effective_values(class_values(classes, pairs[:, 1])),
    )
    assert (effective <= distinct + 1e-9).all()
    assert (effective >= 1 - 1e-9).all()
    assert (distinct <= classes.sizes).all()


def test_equally_frequent_values_count_fully() -> None:
    classes = equivalence_classes([np.zeros(50, dtype=np.int64)])
    assert_allclose(effective_values(class_values(classes, np.arange(50))), [50.0])


def test_recursive_diversity_by_hand() -> None:
    """Definition 4.2: r_1 < c (r_l + ... + r_m). Counts 4, 2, 1: 4 / (2 + 1) for l = 2, 4 / 1 for l = 3."""
    classes, sensitive = equivalence_classes([np.zeros(7, dtype=np.int64)]), np.array([2, 2, 2, 2, 0, 0, 1])
    assert_allclose(recursive_ratio(class_values(classes, sensitive), 2), [4 / 3])
    assert_allclose(recursive_ratio(class_values(classes, sensitive), 3), [4])
    assert recursive_ratio(class_values(classes, sensitive), 4).tolist() == [np.inf]  # three values only
    # A tool that sorts the counts rising divides the rarest by the most frequent, 1 / (2 + 4), and calls it safe.
    assert recursive_ratio(class_values(FIGURE_2, CONDITION), 2).max() == np.inf
    assert_allclose(recursive_ratio(class_values(FIGURE_3, CONDITION), 2), 1)  # one value twice, two once


@given(codes, st.integers(2, 5))
def test_recursive_ratio_agrees_with_sorted_counts(pairs: np.ndarray, l: int) -> None:  # noqa: E741
    classes = equivalence_classes([pairs[:, 0]])
    ratios = recursive_ratio(class_values(classes, pairs[:, 1]), l)
    for label in range(len(classes.sizes)):
        counts = sorted(np.bincount(pairs[classes.labels == label, 1]), reverse=True)
        rest = sum(counts[l - 1 :])
        assert ratios[label] == pytest.approx(counts[0] / rest if rest else np.inf)


def test_adult_with_education_known_as_pycanon_measures_it(reference_data: Path) -> None:
    """pycanon 1.3.6 on ARX's adult.csv, occupation by sex and race, `gen=False`: l 1."""
    frame = pd.read_csv(reference_data / "adult" / "arx" / "adult.csv.gz", sep=";").astype("category")
    known = knowing_others(classes_of(frame, ["sex", "race"]), [category_codes(frame["education"])])
    assert distinct_values(class_values(known, category_codes(frame["occupation"]))).min() == 1


def test_two_variables_can_be_diverse_alone_and_not_together() -> None:
    """Whoever learns one of the two of a person knows the other."""
    classes, one = equivalence_classes([np.zeros(4, dtype=np.int64)]), np.array([0, 0, 1, 1])
    other = one + 3
    assert distinct_values(class_values(classes, one)).tolist() == [2]
    assert distinct_values(class_values(knowing_others(classes, [other]), one)).tolist() == [1, 1]


def test_l_below_two_is_refused() -> None:
    golden.refused(DataError, recursive_ratio, class_values(FIGURE_2, CONDITION), 1)
