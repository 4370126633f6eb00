"""Who is held out: whole households, about the share asked for, and somebody on either side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from tasks.release.intake.staging import choose
from tests.golden import golden


@given(st.lists(st.integers(0, 60), min_size=50, max_size=300), st.floats(0.2, 0.49), st.integers(0, 2**32))
def test_no_group_is_on_both_sides_and_the_share_is_never_exceeded(groups: list[int], share: float, seed: int) -> None:
    each = np.array(groups)
    try:
        chosen = choose(each, share, np.random.default_rng(seed))
    except DataError:
        assert np.unique(each, return_counts=True)[1].max() > share * len(each)  # only where a group is larger
        return
    assert not set(each[chosen]) & set(each[~chosen])
    assert 0 < chosen.sum() <= share * len(each)


def test_records_of_their_own_fill_the_share_exactly() -> None:
    chosen = choose(np.arange(1000), 0.3, np.random.default_rng(1))
    assert chosen.sum() == 300


def test_the_order_of_the_records_does_not_matter_to_the_groups_chosen() -> None:
    groups = np.random.default_rng(1).integers(0, 50, 200)
    moved = np.random.default_rng(2).permutation(200)
    first = choose(groups, 0.3, np.random.default_rng(3))
    second = choose(groups[moved], 0.3, np.random.default_rng(3))
    assert set(groups[first]) == set(groups[moved][second])


def test_every_group_is_as_likely_as_any_other() -> None:
    """20 groups of one size, of which 6 fit: each is chosen in 0.3 of 2,000 draws, within four standard errors."""
    groups = np.repeat(np.arange(20), 5)
    rng = np.random.default_rng(7)
    drawn = np.mean([choose(groups, 0.3, rng)[::5] for _ in range(2000)], axis=0)
    assert np.abs(drawn - 0.3).max() < 4 * np.sqrt(0.3 * 0.7 / 2000)


@pytest.mark.parametrize("groups", [np.zeros(100), np.array([1]), np.array([1, 1, 1, 2])], ids=["one", "single", "few"])
def test_a_side_without_anybody_is_refused(groups: np.ndarray) -> None:
    golden.refused(DataError, choose, groups, 0.2, np.random.default_rng(1))
