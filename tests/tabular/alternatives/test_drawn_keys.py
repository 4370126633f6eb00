"""Keys that come with data: those that were drawn are taken, and those that somebody could guess are not."""

import numpy as np
import pytest

from sluice.tabular.alternatives.drawn_keys import not_drawn


def keys_of(values: np.ndarray, decimals: int) -> np.ndarray:
    return np.array([int(round(each, decimals) % 1 * 2**64) for each in values.tolist()], dtype=np.uint64)


def cells(records: int) -> np.ndarray:
    return np.repeat(np.arange(40), records // 40)[:, None].astype(np.int32)


@pytest.mark.parametrize("decimals", [2, 3, 8, 15])
@pytest.mark.parametrize("alike", [1, 4])
def test_drawn_keys_are_taken_whoever_shares_them(decimals: int, alike: int) -> None:
    for seed in range(20):
        values = np.repeat(np.random.default_rng(seed).random(400 // alike), alike)
        assert not_drawn(keys_of(values, decimals), decimals, cells(400)) == ""


def test_keys_that_say_more_than_that_a_record_is_another_are_refused() -> None:
    drawn = np.random.default_rng(1).random(400)
    for values, decimals in (
        (np.zeros(400), 0),
        (np.full(400, 0.5), 1),
        (np.arange(400) % 7 / 7, 5),  # of a published variable
        (drawn / 10, 8),
        (0.6 + drawn / 3, 8),
    ):
        assert not_drawn(keys_of(values, decimals), decimals)
    place = keys_of((np.arange(400) + 0.5) / 400, 6)
    assert not_drawn(place, 6, cells(400)), "the place of a record in a file that is in order"
    assert not_drawn(place, 6) == "", "of which nothing is known here"
