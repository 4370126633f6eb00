"""Points that are worked out when they are asked for, beside the same points as an array."""

import numpy as np
import pandas as pd
import pytest

from sluice.risk.coded_points import (
    ByCategory,
    ByValue,
    Coded,
    CodedPoints,
    are_finite,
    keys_of,
    label_centroids,
    labels_in_order,
    side_by_side,
)
from sluice.risk.row_groups import row_groups

RNG = np.random.default_rng(3)
TABLE = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [-1.0, -1.0]])  # three categories, and a missing value


def points() -> CodedPoints:
    """A category in two coordinates, a number in one, and two coordinates that stand there; of 50 records."""
    numbers = pd.Series(RNG.normal(size=50))
    return CodedPoints(
        [
            ByCategory(TABLE, RNG.integers(-1, 3, 50).astype(np.int8)),
            ByValue(numbers, lambda column: 2 * column.to_numpy()[:, None], 1),
            Coded(RNG.normal(size=(50, 2))),
        ],
        50,
    )


def test_a_missing_value_lies_where_the_last_row_says() -> None:
    coded = CodedPoints([ByCategory(TABLE, np.array([1, -1], np.int8))], 2)
    np.testing.assert_array_equal(coded[:], [[2, 3], [-1, -1]])


@pytest.mark.parametrize("chosen", [None, np.array([7, 7, 3, 49, 0])], ids=["everybody", "some, one of them twice"])
def test_read_like_an_array(chosen: np.ndarray | None) -> None:
    coded = points() if chosen is None else points().take(chosen)
    whole = coded[:]
    assert whole.shape == coded.shape == (len(coded), 5)
    some = np.array([4, 0, 0, 3])
    for rows in (some, some.reshape(2, 2), slice(1, 5, 2), whole[:, 0] > 0):
        np.testing.assert_array_equal(coded[rows], whole[rows])
    np.testing.assert_array_equal(np.column_stack([*coded.T]), whole)
    np.testing.assert_array_equal(coded.take(some, axis=0)[:], whole.take(some, axis=0))


@pytest.mark.parametrize("chosen", [None, np.array([7, 7, 3, 49, 0])], ids=["everybody", "some, one of them twice"])
def test_keys_group_and_order_as_the_coordinates_do(chosen: np.ndarray | None) -> None:
    codes = RNG.integers(-1, 4, (2, 50)).astype(np.int8)
    table = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 1.0], [-0.0, 1.0]])  # three categories at one place
    coded = CodedPoints([ByCategory(table, codes[0]), Coded(np.round(RNG.normal(size=(50, 1)))),
                         ByCategory(table, codes[1])], 50)  # fmt: skip
    coded = coded if chosen is None else coded.take(chosen)
    keys, coordinates = row_groups(keys_of(coded)), row_groups(coded.T)
    np.testing.assert_array_equal(keys.of, coordinates.of)
    np.testing.assert_array_equal(keys.first, coordinates.first)
    np.testing.assert_array_equal(row_groups(keys_of(coded[:])).of, coordinates.of)


def test_a_coordinate_is_infinite_only_where_a_record_has_it() -> None:
    table = np.array([[0.0], [np.inf], [np.nan]])
    of_nobody, of_one = (CodedPoints([ByCategory(table, np.array(each, np.int8))], 2) for each in ([0, 0], [0, 1]))
    assert are_finite(of_nobody)
    assert not are_finite(of_one)
    assert not are_finite(CodedPoints([Coded(np.array([[np.nan], [0.0]]))], 2))
    far = CodedPoints([Coded(np.array([[1e300], [0.0]]))], 2)
    assert are_finite(far)
    with np.errstate(over="ignore"):
        assert not are_finite(far.standardised(np.zeros(1), np.full(1, 1e-300)))


def test_variables_apart_and_beside_each_other() -> None:
    coded = points()
    apart = coded.by_variable()
    assert [part.shape for part in apart] == [(50, 2), (50, 1), (50, 2)]
    held, worked_out = (side_by_side(apart, at_once) for at_once in (250, 249))
    assert isinstance(held, np.ndarray)
    assert isinstance(worked_out, CodedPoints)
    np.testing.assert_array_equal(held, coded[:])
    np.testing.assert_array_equal(worked_out[:], coded[:])


def test_a_turn() -> None:
    coded, turn, centre = points(), RNG.normal(size=(5, 5)), RNG.normal(size=5)
    expected = (coded[:] - centre) @ turn
    turned = coded.turned(centre, turn)
    np.testing.assert_allclose(turned[:], expected, atol=1e-12)
    np.testing.assert_allclose(turned.take(np.array([3, 1]))[:], expected[[3, 1]], atol=1e-12)


# Label centroids: to the bit the means of the groups, however they are worked out.


_CODES = np.array([0, 1, -1, 0, 2, 1, 0, -1])


def _together(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The straightforward way, with all coordinates in one array."""
    present = _CODES >= 0
    by_label = pd.DataFrame(points[present]).groupby(_CODES[present]).mean().to_numpy()
    return by_label, points.mean(axis=0), points[~present].mean(axis=0)


@pytest.mark.parametrize("scale", [1.0, 0.1])  # whole coordinates are counted, others added up one by one
def test_they_are_the_means_of_the_groups(scale: float) -> None:
    column = ByCategory(
        scale * np.array([[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([0, 1, 1, 0, -1, 0, 1, 0], np.int8)
    )
    points = CodedPoints([column], 8)[:]
    for found, expected in zip(label_centroids(column, 8, _CODES, 3, False), _together(points), strict=True):
        assert found.tolist() == expected.tolist()


def test_of_an_ordered_variable_the_first_is_the_median() -> None:
    values = np.array([[5.0], [1.0], [0.0], [7.0], [2.0], [3.0], [60.0], [4.0]])
    by_label, overall, none = label_centroids(Coded(values), 8, _CODES, 3, True)
    assert by_label.tolist() == [[7.0], [2.0], [2.0]]
    assert overall.tolist() == [3.5]
    assert none.tolist() == [2.0]  # of the two without a label, the mean


def test_without_a_missing_label_its_place_is_that_of_all() -> None:
    column = ByCategory(np.array([[1.0], [-1.0], [9.0]]), np.array([0, 1, 1, 0], np.int8))
    by_label, overall, none = label_centroids(column, 4, np.array([0, 0, 1, 1]), 2, False)
    assert (by_label.tolist(), overall.tolist(), none.tolist()) == ([[0.0], [0.0]], [0.0], [0.0])


def test_labels_are_numbered_as_they_come_whatever_their_codes() -> None:
    texts = pd.Series(["south", np.nan, "north", "south", "east"])
    categories = texts.astype(pd.CategoricalDtype(["east", "north", "south", "west"]))
    for column in (texts, categories):
        codes, labels = labels_in_order(column)
        assert (codes.tolist(), labels.tolist()) == ([0, -1, 1, 0, 2], ["south", "north", "east"])
