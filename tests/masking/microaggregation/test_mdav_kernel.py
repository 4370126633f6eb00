"""Exact MDAV against a plain compiled one, which scans all records at every step (benchmarks/mdav.py).

That one is held to a pure Python oracle here, on few records; the published figures are in tests/published.
"""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mdav import factors, plain_mdav
from sluice.ground.errors import PlanError
from sluice.masking.microaggregation.mdav_kernel import (
    LANES,
    _scaled,
    farther_records,
    nearer_boxes,
    nearer_records,
    rim_of,
    tree_of,
)
from sluice.masking.microaggregation.microaggregation import mdav_groups
from sluice.masking.microaggregation.representatives import NUMBER
from tests.golden import golden
from tests.masking.microaggregation.test_microaggregation import naive_groups

LAWS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "few values": lambda rng, n, d: rng.integers(0, 3, size=(n, d)).astype(float),
    "grid": lambda rng, n, d: rng.integers(0, 12, size=(n, d)).astype(float),
    "one value": lambda rng, n, d: np.full((n, d), 0.1),
    "far off": lambda rng, n, d: rng.normal(size=(n, d)) + 1e9,
    "outlier": lambda rng, n, d: np.vstack([np.full((1, d), 1e12), rng.normal(size=(n - 1, d))]),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy(size=(n, d)) ** 3,
    "clusters": lambda rng, n, d: rng.integers(0, 4, size=(n, d)) + 1e-9 * rng.integers(0, 5, size=(n, d)),
    "sphere": lambda rng, n, d: (lambda x: x / np.sqrt((x**2).sum(axis=1, keepdims=True)))(rng.normal(size=(n, d))),
    "one axis": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** -np.arange(0, 3 * d, 3)[:d].clip(0, 100),
    "copies": lambda rng, n, d: np.repeat(rng.normal(size=(n // 7 + 1, d)), 7, axis=0)[:n],
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 1e150,
    "squares too small for a float": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-162,
    "near the smallest float": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-306,
}


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(7, 90), d=st.integers(1, 4), k=st.integers(1, 7))
@pytest.mark.parametrize("law", ["normal", "few values", "one value", "far off", "outlier", "copies"])
def test_the_plain_one_follows_the_definition(law: str, seed: int, n: int, d: int, k: int) -> None:
    records = LAWS[law](np.random.default_rng(seed), n, d)
    assert plain_mdav(records, k).tolist() == naive_groups(records.tolist(), [NUMBER] * d, k)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(7, 700), d=st.sampled_from([1, 2, 3, 7, 10]), k=st.integers(1, 7))
@pytest.mark.parametrize("law", LAWS)
def test_the_same_groups_as_the_plain_one(law: str, seed: int, n: int, d: int, k: int) -> None:
    records = LAWS[law](np.random.default_rng(seed), n, d)
    groups = mdav_groups(records, k)
    assert groups.tolist() == plain_mdav(records, k).tolist()
    assert k <= np.bincount(groups).min() <= np.bincount(groups).max() <= 2 * k - 1


def test_the_order_of_the_records_does_not_matter_without_ties() -> None:
    records = np.random.default_rng(3).normal(size=(400, 3))
    order = np.random.default_rng(4).permutation(400)
    assert (mdav_groups(records, 4)[order] == mdav_groups(records[order], 4)).all()


@pytest.mark.parametrize("law", ["normal", "grid", "heavy tails", "clusters", "copies"])
@pytest.mark.parametrize("d", [1, 3, 60])
def test_the_same_groups_over_all_levels_of_the_tree(law: str, d: int) -> None:
    """More than 16 x 16 x 16 records, so that boxes lie in boxes that lie in boxes; rebuilt ten times."""
    records = LAWS[law](np.random.default_rng(d), 4500, d)
    assert mdav_groups(records, 3).tolist() == plain_mdav(records, 3).tolist()


@pytest.mark.parametrize("n", [1, 2, 11, 15, 16, 17, 256, 257, 4097, 9000])
def test_numbers_of_records_that_just_fill_or_pass_a_block_and_factor_data(n: int) -> None:
    records = factors(n) if n == 9000 else np.random.default_rng(n).normal(size=(n, 2))
    for k in {1, min(n, 5), (n + 1) // 2, n} if n < 9000 else (2, 10):
        groups = mdav_groups(records, k)
        assert groups.tolist() == plain_mdav(records, k).tolist()
        assert k <= np.bincount(groups).min()
    with golden.raises(PlanError):
        mdav_groups(records, n + 1)


@numba.njit
def screened(points: np.ndarray, members: np.ndarray, place: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """The screens' squared distances between all records."""
    n = len(place)
    result, distances = np.empty((n, n), dtype=np.float32), np.empty(LANES, dtype=np.float32)
    for i in range(n):
        for j in range(n):
            nearer_records(tiles, place[j] // LANES, points[i], np.float32(8.0), distances)
            result[i, j] = distances[place[j] % LANES]
    return result


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), d=st.sampled_from([1, 2, 10, 60]))
@pytest.mark.parametrize("law", ["normal", "heavy tails", "one axis", "huge", "near the smallest float"])
def test_a_screened_distance_is_within_its_error(law: str, seed: int, n: int, d: int) -> None:
    records = LAWS[law](np.random.default_rng(seed), n, d)
    alive = np.arange(n)
    points, _, scale = _scaled(records, alive, 0.0)
    assert np.sqrt((points.astype(float) ** 2).sum(axis=1)).max() <= 1.0
    tree = tree_of(points, alive, n)
    scaled = records * scale.factor
    exact = np.sqrt(((scaled[:, None] - scaled) ** 2).sum(axis=2))
    found = np.sqrt(screened(points, tree.members, tree.place, tree.tiles).astype(float))
    assert np.abs(found - exact).max() <= scale.error


@numba.njit
def lanes_found(
    tiles: np.ndarray, low: np.ndarray, high: np.ndarray, point: np.ndarray, limit: float
) -> tuple[int, int, int]:
    distances = np.empty(LANES, dtype=np.float32)
    return (
        nearer_records(tiles, 0, point, np.float32(limit), distances),
        farther_records(tiles, 0, point, np.float32(limit), distances),
        nearer_boxes(low, high, 0, point, np.float32(limit), distances),
    )


def test_lanes_found() -> None:
    """Twenty records on a line: 16 in the first block, 4 in the second. A limit is found, an empty lane never."""
    points = np.arange(20, dtype=np.float32)[:, None]
    records, origin = np.arange(20), np.zeros(1, dtype=np.float32)
    tree = tree_of(points, records, 20)
    assert tree.members.tolist() == list(range(20))
    assert lanes_found(tree.tiles, tree.low, tree.high, origin, 9.0) == (0b1111, 0xFFF8, 0b01)
    assert lanes_found(tree.tiles, tree.low, tree.high, origin, 256.0) == (0xFFFF, 0, 0b11)
    assert lanes_found(tree.tiles[1:], tree.low, tree.high, origin, 17.0**2)[:2] == (0b0011, 0b1110)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 300), scale=st.sampled_from([1e-300, 1e-20, 1.0, 1e20]))
def test_the_rim_is_in_falling_order(seed: int, n: int, scale: float) -> None:
    distances = np.abs(np.random.default_rng(seed).standard_cauchy(n)) * scale
    rim = rim_of(np.zeros((n, 1), dtype=np.float32), np.arange(n), distances, n)
    assert sorted(rim.members) == list(range(n))
    assert (rim.members[rim.place] == np.arange(n)).all()
    farthest_of_the_rest = np.maximum.accumulate(distances[rim.members][::-1])[::-1]
    assert (rim.reach >= farthest_of_the_rest).all()
