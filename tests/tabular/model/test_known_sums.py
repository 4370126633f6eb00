"""Bounds that the sums between cells make tighter."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sluice.tabular.model.known_sums import determined, propagated_bounds

TREE = csr_array(np.array([[1, -1, -1, 0, 0], [0, 1, 0, -1, -1]], dtype=float))  # x0 = x1 + x2, x1 = x3 + x4


def test_lower_bounds_add_up_and_what_is_left_of_a_sum_bounds_its_parts() -> None:
    lower, upper = propagated_bounds(TREE, np.ones(5), np.array([5.0, *[np.inf] * 4]))
    assert lower.tolist() == [3, 2, 1, 1, 1]
    assert upper.tolist() == [5, 4, 3, 3, 3]


def test_without_a_bound_nothing_is_bounded() -> None:
    lower, upper = propagated_bounds(TREE, np.full(5, -np.inf), np.full(5, np.inf))
    assert np.isinf(lower).all()
    assert np.isinf(upper).all()


def test_one_part_without_a_bound_leaves_its_sum_without_one() -> None:
    _, upper = propagated_bounds(TREE, np.zeros(5), np.array([np.inf, np.inf, 2, np.inf, 1]))
    assert upper.tolist() == [np.inf, np.inf, 2, np.inf, 1]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=5, max_size=5))
def test_no_table_is_left_out(ends: list[tuple[int, int]]) -> None:
    lower, upper = (np.array([side(pair) for pair in ends], dtype=float) for side in (min, max))
    fitting = [
        table
        for table in product(*(range(int(low), int(high) + 1) for low, high in zip(lower, upper, strict=True)))
        if not (TREE @ np.array(table, dtype=float)).any()
    ]
    if fitting:
        low, high = propagated_bounds(TREE, lower, upper)
        assert (low <= np.min(fitting, axis=0)).all()
        assert (high >= np.max(fitting, axis=0)).all()
        assert (low >= lower).all()
        assert (high <= upper).all()


def test_what_the_equations_tell_together_is_known_or_said_to_be_undecided() -> None:
    """x0 + x1, x1 + x2 and x0 + x2 are known: no sum by itself tells a cell, all three tell each."""
    around = csr_array(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=float))
    free = np.ones(3, dtype=bool)
    assert [each.tolist() for each in determined(around, free)] == [[True] * 3, [False] * 3]
    assert [each.tolist() for each in determined(around, free, most=2)] == [[False] * 3, [True] * 3]
    assert not any(each.any() for each in determined(around[:2], free))
