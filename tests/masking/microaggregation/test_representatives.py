"""What stands for a group in each column: every statistic by its definition."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.masking.microaggregation.representatives import NUMBER, Scale, representatives, standardised

SCALES = (NUMBER, NUMBER, Scale("ordinal", 4), Scale("nominal", 4))


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def some_records(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.column_stack(
        [rng.normal(size=n), rng.integers(0, 5, n), rng.integers(0, 4, n), rng.integers(0, 4, n)]
    ).astype(float)


def some_groups(rng: np.random.Generator, n: int) -> np.ndarray:
    """Numbered without a gap, in no order."""
    return np.unique(rng.integers(0, max(1, n // 3), n), return_inverse=True)[1]


def test_mean_median_and_lower_median() -> None:
    records = np.array([[1.0, 1.0, 0.0], [5.0, 5.0, 3.0], [2.0, 2.0, 1.0], [9.0, 9.0, 2.0]])
    groups, scales = np.array([0, 0, 1, 1]), (NUMBER, NUMBER, Scale("ordinal", 4))
    assert representatives(records, groups, "mean", scales, generator())[:, 0].tolist() == [3.0, 3.0, 5.5, 5.5]
    three = representatives(records[[0, 1, 3]], np.zeros(3, dtype=int), "median", scales, generator())
    assert three.tolist() == [[5.0, 5.0, 2.0]] * 3
    assert representatives(records, groups, "median", scales, generator())[:, 2].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_a_mean_does_not_leave_its_group_by_rounding() -> None:
    tenth = np.full((3, 1), 0.1)  # 0.1 + 0.1 + 0.1 is more than 3 * 0.1 in floating point
    assert (representatives(tenth, np.zeros(3, dtype=int), "mean", (NUMBER,), generator()) == 0.1).all()


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60))
def test_each_statistic_by_its_definition(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    records, groups = some_records(rng, n), some_groups(rng, n)
    found = {of: representatives(records, groups, of, SCALES, rng) for of in ("mean", "median", "mode", "random")}
    for group in range(groups.max() + 1):
        rows = groups == group
        members = records[rows]
        stands = {of: values[rows] for of, values in found.items()}
        assert all((values == values[0]).all() for values in stands.values())
        modes = [
            {v for v, times in Counter(c).items() if times == max(Counter(c).values())} for c in members.T.tolist()
        ]
        assert stands["mean"][0, :2] == pytest.approx(members[:, :2].mean(axis=0))
        assert stands["median"][0, :2] == pytest.approx(np.median(members[:, :2], axis=0))
        for of in ("mean", "median"):
            assert stands[of][0, 2] == np.sort(members[:, 2])[(len(members) - 1) // 2]
            assert stands[of][0, 3] in modes[3]
        assert all(stands["mode"][0, column] in modes[column] for column in range(4))
        assert stands["random"][0].tolist() in members.tolist()


def test_equally_frequent_modes_and_random_members_are_drawn_evenly() -> None:
    records, groups = np.tile([[0.0], [1.0], [1.0], [0.0]], (3000, 1)), np.repeat(np.arange(3000), 4)
    modes = representatives(records, groups, "mode", (Scale("nominal", 2),), generator())
    assert 0.46 < modes.mean() < 0.54  # 1/2, give or take four standard errors
    drawn = representatives(np.tile(np.arange(4.0), 3000)[:, None], groups, "random", (NUMBER,), generator())
    assert np.bincount(drawn[::4, 0].astype(int)) / 3000 == pytest.approx([0.25] * 4, abs=0.032)


def test_standardised_columns() -> None:
    columns = standardised(
        np.array([[1.0, 7.0, np.nan], [2.0, 7.0, np.nan], [np.nan, 7.0, np.nan], [6.0, 7.0, np.nan]])
    )
    known = columns[[0, 1, 3], 0]
    assert known.mean() == pytest.approx(0, abs=1e-15)
    assert known.std(ddof=1) == pytest.approx(1)
    assert (columns[:, 1] == 0).all()
    assert np.isnan(columns[:, 2]).all()
    assert np.isnan(columns[2, 0])
    beside_categories = standardised(np.array([[1.0, 1.0], [3.0, 3.0]]), (Scale("ordinal", 4), NUMBER))
    assert beside_categories.tolist()[0] == pytest.approx([1, -np.sqrt(0.5)])
