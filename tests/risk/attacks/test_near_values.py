"""Near values: by rank within the own file, and by equality."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.attacks.subset_inference import NearValues


def near(values: NearValues, within: float) -> list[list[int]]:
    """Of each person the records whose value is near."""
    first, last = values.window(within)
    return [
        np.flatnonzero(((values.codes >= a) & (values.codes <= b)) | (values.codes == own)).tolist()
        for a, b, own in zip(first, last, values.equal, strict=True)
    ]


def test_numbers_are_near_by_rank_and_missing_is_near_missing() -> None:
    file, people = np.array([30.0, 10.0, np.nan, 20.0, 40.0]), np.array([20.0, 25.0, np.nan])
    values = NearValues.of(file, people, np.array([10.0, 20.0, 25.0, 40.0]))
    assert near(values, 0.0) == [[3], [], [2]]
    # Ranks of the records' values: 0.625, 0.125, 0.375 and 0.875; of the people's 0.375 and 0.625.
    assert near(values, 0.2) == [[3], [0], [2]]
    assert near(values, 0.3) == [[0, 1, 3], [0, 3, 4], [2]]


@given(seed=st.integers(0, 2**20))
def test_no_change_of_scale_hides_a_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = rng.normal(size=20)
    values, moved = (NearValues.of(file, people, people) for file in (people[::-1], np.exp(people[::-1]) + 3))
    assert near(values, 0.1) == near(moved, 0.1)
    assert all(19 - at in records for at, records in enumerate(near(moved, 0.01)))


def test_labels_are_near_themselves_alone() -> None:
    file, people = np.array(["a", "b", np.nan], object), np.array(["b", "c", np.nan], object)
    values = NearValues.of(file, people, people)
    for within in (0.0, 0.5):
        assert near(values, within) == [[1], [], [2]]


@pytest.mark.parametrize("file", [np.full(3, np.nan), np.array([1.0, 1.0, 1.0])])
def test_a_variable_without_ranks_is_near_where_it_is_equal(file: np.ndarray) -> None:
    values = NearValues.of(file, np.array([1.0, np.nan, 5.0]), np.array([1.0, np.nan, 5.0]))
    held = [0, 1, 2]
    assert near(values, 0.0) == ([[], held, []] if np.isnan(file).all() else [held, [], []])
