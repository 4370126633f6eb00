"""Group exchange: never worse than what it starts from, and on Census clearly better than MDAV."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.microaggregation import (
    Microaggregation,
    exchanged_groups,
    mdav_groups,
    squared_errors,
)
from sluice.masking.microaggregation.representatives import standardised
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import NearestCentre
from tests.red_team.files import CENSUS, census
from tests.reference_data import reference_path


def errors(records: np.ndarray, groups: list[list[int]]) -> float:
    """The sum of squared errors, of each group by itself."""
    return sum(float(((records[group] - records[group].mean(axis=0)) ** 2).sum()) for group in groups)


def as_lists(groups: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(groups == group).tolist() for group in range(groups.max() + 1)]


@given(n=st.integers(2, 120), k=st.integers(2, 6), d=st.integers(1, 4), ties=st.booleans(), seed=st.integers(0, 9999))
def test_groups_keep_k_and_lose_at_most_as_much(n: int, k: int, d: int, ties: bool, seed: int) -> None:
    n = max(n, k)
    rng = np.random.default_rng(seed)
    records = rng.integers(0, 4, (n, d)).astype(float) if ties else rng.lognormal(0, 1, (n, d))
    before = mdav_groups(records, k)
    after = exchanged_groups(records, before, k)
    sizes = np.bincount(after)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    assert errors(records, as_lists(after)) <= errors(records, as_lists(before)) * (1 + 1e-12)
    assert squared_errors(records, after) == pytest.approx(errors(records, as_lists(after)))
    assert np.array_equal(after, exchanged_groups(records, before, k))


@given(n=st.integers(6, 22), k=st.integers(2, 3), seed=st.integers(0, 9999))
def test_no_move_and_no_swap_is_left_that_gains(n: int, k: int, seed: int) -> None:
    # So few groups that each is a neighbour of all others.
    n = min(n, 9 * k)
    records = np.random.default_rng(seed).normal(size=(n, 2))
    groups = as_lists(exchanged_groups(records, mdav_groups(records, k), k))
    least = errors(records, groups) - 1e-6
    for one, other in combinations(groups, 2):
        rest = [group for group in groups if group is not one and group is not other]
        for x in one:
            for y in other:
                swapped = [[*(set(one) - {x}), y], [*(set(other) - {y}), x]]
                assert errors(records, [*rest, *swapped]) > least - 2e-4 * least
        for giver, taker in ((one, other), (other, one)):
            if len(giver) > k and len(taker) < 2 * k - 1:
                for x in giver:
                    moved = [list(set(giver) - {x}), [*taker, x]]
                    assert errors(records, [*rest, *moved]) > least - 2e-4 * least


def test_by_hand() -> None:
    line = np.array([[0.0], [1], [2], [10], [11], [12]])
    swapped = np.array([0, 0, 1, 0, 1, 1])  # 2 and 10 are in each other's place
    assert sorted(map(tuple, as_lists(exchanged_groups(line, swapped, 3)))) == [(0, 1, 2), (3, 4, 5)]
    pairs = np.array([[0.0], [0.1], [5], [5.1], [9], [9.1], [9.2], [9.3]])  # one group of 4 is parted by a fifth record
    three = np.array([0, 0, 1, 1, 2, 2, 2, 1])
    assert squared_errors(pairs, exchanged_groups(pairs, three, 2)) == pytest.approx(4 * 0.005)
    between = np.array([[0.0], [0.1], [0.2], [4], [6], [10], [10.1], [10.2]])  # the group in the middle is dissolved
    dissolved = exchanged_groups(between, np.array([0, 0, 0, 1, 1, 2, 2, 2]), 2)
    assert squared_errors(between, dissolved) <= squared_errors(between, np.array([0, 0, 0, 1, 1, 2, 2, 2]))


@pytest.mark.parametrize(("k", "mdav", "at_most"), [(3, 5.692, 5.3), (5, 9.088, 8.2), (10, 14.156, 12.4)])
def test_census(reference_data: object, k: int, mdav: float, at_most: float) -> None:
    # 100 SSE / SST, this program's own figures (consistency).
    records = standardised(pd.read_csv(reference_path("casc", "census.csv")).to_numpy(float))
    groups = mdav_groups(records, k)
    total = float((records**2).sum())
    assert 100 * squared_errors(records, groups) / total == pytest.approx(mdav, abs=1e-3)
    assert 100 * squared_errors(records, exchanged_groups(records, groups, k)) / total < at_most


def test_the_intruder_gains_no_more_than_one_in_k(reference_data: object) -> None:
    # Nearer centres find more of their members, up to the one in k that groups of k allow.
    frame, all_variables = census()
    columns = tuple(CENSUS)
    variables = {name: all_variables[name] for name in columns}
    found = []
    for improve in (False, True):
        step = Microaggregation(columns=columns, k=5, improve=improve)
        masked = step.mask(frame[list(columns)], variables, np.random.default_rng(0))
        assert masked.groupby(list(columns)).size().min() >= 5
        rows = np.arange(len(frame))
        pairs = Pairs(frame, variables, frame, masked, step.released(variables), rows, np.random.default_rng(0))
        identified, confident = NearestCentre(columns, 5).play(pairs)
        assert confident.measured.value == 0
        found.append(identified.measured.value)
    assert found[0] < found[1] <= 1 / 5


def test_blocks_are_exchanged_over_their_edges() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "ab"}
    lost = [
        ((step.mask(frame, variables, np.random.default_rng(0)) - frame) ** 2).to_numpy().sum()
        for step in (
            Microaggregation(columns=("a", "b"), k=3, block_size=20),
            Microaggregation(columns=("a", "b"), k=3, block_size=20, improve=True),
            Microaggregation(columns=("a", "b"), k=3),
        )
    ]
    assert lost[1] < lost[2] < lost[0]
