"""Points that are worked out when they are asked for, beside the same points as an array."""

import numpy as np
import pandas as pd
import pytest

from sluice.risk.coded_points import ByCategory, ByValue, Coded, CodedPoints, side_by_side

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
