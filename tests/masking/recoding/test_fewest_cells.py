"""The fewest cells, beside all partitions of small files."""

from functools import cache

import numpy as np
import pytest

from sluice.ground.arrays import IntArray
from sluice.masking.recoding.fewest_cells import MOST_CHOICES
from sluice.masking.recoding.fewest_cells import fewest_cells as shown
from sluice.masking.recoding.unsafe_combinations import Pieces, hide_unsafe


def fewest_of_all(records: IntArray, k: int) -> int:
    """Cells that the best of all partitions into crowds of k or more loses: in a crowd, all keys that differ."""

    def cost(crowd: int) -> int:
        those = records[[at for at in range(len(records)) if crowd >> at & 1]]
        return int((those[:, (those != those[0]).any(axis=0)] > 0).sum())

    @cache
    def best(left: int) -> float:
        if not left:
            return 0
        first = left & -left
        found, rest = float("inf"), left ^ first
        part = rest
        while True:
            crowd = part | first
            if crowd.bit_count() >= k:
                found = min(found, cost(crowd) + best(left ^ crowd))
            if not part:
                return found
            part = (part - 1) & rest

    return int(best((1 << len(records)) - 1))


def fewest_cells(keys: IntArray, sizes: IntArray, k: int, ranks: list[int], most: int) -> Pieces | None:
    found = shown(keys, sizes, k, ranks, most)
    return None if found is None else Pieces(*found)


def lost(keys: IntArray, pieces: Pieces) -> IntArray:
    """Shape (p,), the cells that each key loses."""
    return np.asarray(pieces.sizes @ (pieces.keys != keys[pieces.origin]))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [2, 3])
def test_no_partition_loses_fewer(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    records = np.minimum(rng.geometric(0.5, (9, 3)), 3)
    if seed % 3 == 0:
        records[rng.random(records.shape) < 0.1] = 0  # missing at the source
    keys, sizes = np.unique(records, axis=0, return_counts=True)
    pieces = fewest_cells(keys, sizes, k, [1, 1, 1], most=27)
    assert pieces is not None
    assert lost(keys, pieces).sum() == fewest_of_all(records, k)
    assert np.array_equal(np.bincount(pieces.origin, pieces.sizes), sizes)
    assert np.array_equal(pieces.origin[: len(keys)], np.arange(len(keys)))
    _, crowd = np.unique(pieces.keys, axis=0, return_inverse=True)
    assert np.bincount(crowd, pieces.sizes).min() >= k


def test_what_is_important_is_kept_whatever_it_costs() -> None:
    rng = np.random.default_rng(3)
    records = np.minimum(rng.geometric(0.5, (30, 3)), [5, 3, 3])
    keys, sizes = np.unique(records, axis=0, return_counts=True)
    free = fewest_cells(keys, sizes, 3, [2, 2, 2], most=90)
    first = fewest_cells(keys, sizes, 3, [1, 2, 2], most=90)
    assert free is not None
    assert first is not None
    assert lost(keys, first)[0] < lost(keys, free)[0]
    assert lost(keys, first).sum() > lost(keys, free).sum()


def test_fewer_than_sets_of_keys_tried_from_the_cheapest_on() -> None:
    """Forty records with four keys, most of them without company."""
    rng = np.random.default_rng(5)
    records = np.minimum(rng.geometric(0.5, (40, 4)), 3)
    keys, sizes = np.unique(records, axis=0, return_counts=True)
    by_sets = hide_unsafe(keys, sizes, 3, [1] * 4, 4, all_counted=False)
    fewest = hide_unsafe(keys, sizes, 3, [1] * 4, 4)
    assert lost(keys, fewest).sum() < 0.9 * lost(keys, by_sets).sum()


def test_among_equals_the_key_with_most_categories_loses() -> None:
    keys = np.array([[1, 1], [1, 2], [2, 1], [2, 3]])
    pieces = fewest_cells(keys, np.ones(4, dtype=np.int64), 2, [1, 1], most=8)
    assert pieces is not None
    assert lost(keys, pieces).tolist() == [0, 4]


def test_too_many_choices_are_none() -> None:
    keys = np.unique(np.random.default_rng(1).integers(1, 4, (400, 6)), axis=0)
    assert len(keys) * 2 > MOST_CHOICES / 6
    assert fewest_cells(keys, np.ones(len(keys), dtype=np.int64), 2, [1] * 6, most=2400) is None
