import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import wasserstein_distance

from sluice.errors import DataError
from sluice.risk.equivalence_classes import category_codes, equivalence_classes
from sluice.risk.t_closeness import equal_distance, ordered_distance

# Li, Li and Venkatasubramanian 2007, Table 3: salaries of nine people in thousands, by record.
SALARY = category_codes(pd.Series([3, 4, 5, 6, 11, 8, 7, 9, 10], dtype="Int64"))


def test_the_salaries_of_the_paper() -> None:
    """Section 4.2: D[{3k,4k,5k}, Q] = 0.375 and D[{6k,8k,11k}, Q] = 0.167."""
    classes = equivalence_classes([np.repeat([0, 1, 2], 3)])
    distances = ordered_distance(classes, SALARY)
    assert distances[0] == pytest.approx(0.375)
    assert distances[1] == pytest.approx(0.167, abs=5e-4)


def test_the_regrouped_salaries_of_the_paper() -> None:
    """Table 5 "has 0.167-closeness w.r.t. Salary". Its 0.278 for Disease needs a hierarchy and is not checked."""
    classes = equivalence_classes([np.array([0, 1, 0, 2, 2, 2, 1, 0, 1])])
    assert ordered_distance(classes, SALARY).max() == pytest.approx(0.167, abs=5e-4)


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=2, max_size=25).map(np.array)


@settings(max_examples=50, deadline=None)
@given(codes)
def test_agrees_with_scipys_wasserstein_distance_and_with_half_the_l1_norm(pairs: np.ndarray) -> None:
    classes, sensitive = equivalence_classes([pairs[:, 0]]), pairs[:, 1]
    occurs, rank = np.unique(sensitive, return_inverse=True)
    whole = np.bincount(rank) / len(rank)
    ordered, equal = ordered_distance(classes, sensitive), equal_distance(classes, sensitive)
    for label in range(len(classes.sizes)):
        inside = rank[classes.labels == label]
        expected = wasserstein_distance(inside, rank) / max(len(occurs) - 1, 1)
        assert ordered[label] == pytest.approx(expected, abs=1e-12)
        share = np.bincount(inside, minlength=len(occurs)) / len(inside)
        assert equal[label] == pytest.approx(np.abs(share - whole).sum() / 2, abs=1e-12)
    assert (ordered <= equal + 1e-12).all()  # no step is longer than 1


@settings(max_examples=30, deadline=None)
@given(codes, st.randoms())
def test_row_order_does_not_matter(pairs: np.ndarray, random: "np.random.Generator") -> None:
    order = list(range(len(pairs)))
    random.shuffle(order)
    moved, classes = equivalence_classes([pairs[order, 0]]), equivalence_classes([pairs[:, 0]])
    for distance in (equal_distance, ordered_distance):
        here, there = distance(classes, pairs[:, 1]), distance(moved, pairs[order, 1])
        assert_allclose(there[moved.labels], here[classes.labels][order], atol=1e-12)


def test_extremes() -> None:
    one_class = equivalence_classes([np.zeros(5, dtype=np.int64)])
    one_value = np.full(5, 3)
    two = equivalence_classes([np.array([0, 0, 1, 1])])
    for distance in (equal_distance, ordered_distance):
        assert_allclose(distance(one_class, np.array([0, 4, 2, 2, 1])), [0.0], atol=1e-12)  # the class is the file
        assert distance(one_class, one_value).tolist() == [0.0]
        assert distance(two, np.array([0, 0, 9, 9])).tolist() == [0.5, 0.5]  # two values, each in a class of its own


def test_a_missing_value_stands_last_in_the_order() -> None:
    column = pd.Series([1.0, 2.0, np.nan, np.nan])
    classes = equivalence_classes([np.array([0, 1, 2, 2])])
    # By hand, three values (1, 2, missing), Q = (1/4, 1/2, 1): the class of 1 has gaps 3/4, 1/2, 0.
    assert_allclose(ordered_distance(classes, category_codes(column)), [0.625, 0.375, 0.375])


def test_an_unused_category_changes_nothing() -> None:
    classes = equivalence_classes([np.array([0, 0, 1, 1])])
    spread = np.array([0, 5, 5, 9])
    assert_allclose(ordered_distance(classes, spread), ordered_distance(classes, np.array([0, 1, 1, 2])))


def test_codes_of_another_length_are_refused() -> None:
    with pytest.raises(DataError, match="one length"):
        ordered_distance(equivalence_classes([np.array([0, 0])]), np.array([0]))
    nobody = np.array([], dtype=np.int64)
    with pytest.raises(DataError, match="at least one record; got none"):
        equal_distance(equivalence_classes([nobody]), nobody)
