"""Gower points and the loops over them."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Variable
from sluice.risk.distances.gower import gower_points
from sluice.risk.distances.gower_kernel import nearest, right_among_nearest
from tests.golden import golden

NOBODY = np.empty(0, np.int64), np.empty(0, np.int64)  # is passed over
VARIABLES = {
    "income": Variable(name="income", kind="continuous", nullable=True),
    "health": Variable(name="health", kind="ordinal", categories=("bad", "fair", "good")),
    "born": Variable(name="born", kind="date"),
    "area": Variable(name="area", kind="nominal"),
    "note": Variable(name="note", kind="text"),
}


def frame(income: list[float], health: list[str | None], born: list[str], area: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "income": np.array(income, dtype=np.float64),
            "health": pd.Categorical(health, categories=["bad", "fair", "good"], ordered=True),
            "born": pd.to_datetime(born).astype("datetime64[us]"),
            "area": pd.Categorical(area),
        }
    )


ORIGINAL = frame([10, 30, 20], ["bad", "good", "fair"], ["2000-01-01", "2000-01-11", "2000-01-06"], ["n", "s", None])
OTHER = frame([20, np.nan], ["fair", None], ["2000-01-01", "2000-01-21"], ["s", None])
NAMES = ["income", "health", "born", "area"]


def distances(names: list[str], one: pd.DataFrame, two: pd.DataFrame) -> np.ndarray:
    _, left, right = gower_points(names, VARIABLES, ORIGINAL, one, two)
    distance, index = nearest(left.numbers, left.categories, right.numbers, right.categories, len(two), *NOBODY)
    table = np.empty(distance.shape)
    np.put_along_axis(table, index, distance, axis=1)
    return table


def test_worked_by_hand() -> None:
    """The original's ranges: 20 of income, 2 of health, 10 days. Missing to missing is 0, to any other value 1."""
    table = distances(NAMES, ORIGINAL, OTHER)
    np.testing.assert_allclose(
        table,
        [
            [10 / 20 + 1 / 2 + 0 + 1, 1 + 1 + 20 / 10 + 1],
            [10 / 20 + 1 / 2 + 1 + 0, 1 + 1 + 10 / 10 + 1],
            [0 + 0 + 5 / 10 + 1, 1 + 1 + 15 / 10 + 0],
        ],
    )


def test_the_originals_range_holds_for_every_file() -> None:
    """A published tool scales each pair of files by their own range: one far record would move all distances."""
    far = frame([20, np.nan, 1e6], ["fair", None, "bad"], ["2000-01-01", "2000-01-21", "2090-01-01"], ["s", None, "n"])
    np.testing.assert_array_equal(distances(NAMES, ORIGINAL, far)[:, :2], distances(NAMES, ORIGINAL, OTHER))


@given(seed=st.integers(0, 2**32), k=st.integers(1, 5))
def test_nearest_is_the_plain_search(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)

    def some(n: int) -> pd.DataFrame:
        return frame(
            np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 4, n)).tolist(),
            rng.choice(["bad", "fair", "good"], n).tolist(),
            rng.choice(["2000-01-01", "2000-01-03"], n).tolist(),
            rng.choice(["n", "s", "w"], n).tolist(),
        )

    one, two = some(6), some(9)
    _, left, right = gower_points(NAMES, VARIABLES, ORIGINAL, one, two)
    both = np.isnan(left.numbers)[:, None] & np.isnan(right.numbers)
    apart = np.abs(left.numbers[:, None] - right.numbers)
    plain = np.where(both, 0, np.where(np.isnan(apart), 1, apart)).sum(axis=2)
    plain += (left.categories[:, None] != right.categories).sum(axis=2)
    distance, index = nearest(left.numbers, left.categories, right.numbers, right.categories, k, *NOBODY)
    order = np.argsort(np.round(plain, 9), axis=1, kind="stable")[:, :k]
    np.testing.assert_allclose(distance, np.take_along_axis(plain, order, axis=1), atol=1e-12)
    assert (distance[:, :1] <= plain).all()
    assert all(len(set(row)) == k for row in index.tolist())


@given(seed=st.integers(0, 2**32))
def test_a_random_order_depends_on_the_records_alone(seed: int) -> None:
    shuffled = ORIGINAL.sample(frac=1, random_state=np.random.default_rng(seed))
    drawn = [
        rows.iloc[gower_points(NAMES, VARIABLES, rows)[0].in_random_order(np.random.default_rng(1))]
        for rows in (ORIGINAL, shuffled)
    ]
    pd.testing.assert_frame_equal(drawn[0].reset_index(drop=True), drawn[1].reset_index(drop=True))


def test_ordinal_positions_are_the_declared_ones() -> None:
    unused = ORIGINAL.assign(health=ORIGINAL["health"].cat.remove_categories(["fair"]))
    np.testing.assert_array_equal(distances(["health"], unused, ORIGINAL)[:2, :2], [[0, 1], [1, 0]])


def test_ties_share_the_guess() -> None:
    none = np.zeros((1, 0), dtype=np.int32)
    points = np.array([[1.0], [1.0], [3.0], [1.0]])
    secrets, guesses = np.array([100.0]), np.array([96.0, 105.0, 100.0, 110.0])
    share = right_among_nearest(
        np.array([[2.0]]), none, secrets, points, np.zeros((4, 0), dtype=np.int32), guesses, 0.05
    )
    assert share[0] == 3 / 4  # all four lie 1 away


def test_extremes() -> None:
    constant = frame([5], ["bad"], ["2000-01-01"], ["n"])
    (points, away) = gower_points(NAMES, VARIABLES, constant, frame([7], ["bad"], ["2000-01-01"], ["x"]))
    assert np.abs(points.numbers - away.numbers).sum() == 2  # a constant has no range; its unit stays
    assert points.categories[0, 0] != away.categories[0, 0]


def test_refusals() -> None:
    golden.refused(DataError, gower_points, ["aera"], VARIABLES, ORIGINAL)
    golden.refused(DataError, gower_points, ["note"], VARIABLES, ORIGINAL.assign(note="x"))
    golden.refused(DataError, gower_points, [], VARIABLES, ORIGINAL)
