from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.utility.subsample_equivalent import subsample_equivalent
from tests.golden import golden


def by_theory(rows: IntArray, records: int = 10_000) -> float:
    """The standard error of the mean of a sample without replacement, up to a factor."""
    share = len(rows) / records
    return sqrt((1 - share) / share)


@given(st.floats(0.0015, 0.99))
def test_a_loss_that_falls_as_theory_says_is_found_again(share: float) -> None:
    observed = sqrt((1 - share) / share)
    found = subsample_equivalent(by_theory, 10_000, observed, np.random.default_rng(0), draws=2)
    assert found.share == pytest.approx(share, rel=1e-6)
    assert found.interval == pytest.approx((share, share), rel=1e-6)
    assert not found.at_most


def test_the_loss_of_a_subsample_is_found_to_be_that_of_a_subsample() -> None:
    """The mean of a normal variable, whose error in a tenth of the records is known."""
    values = np.random.default_rng(1).normal(size=4_000)

    def loss(rows: IntArray) -> float:
        parts = values[rows].reshape(-1)
        return float(np.mean([abs((parts > cut).mean() - (values > cut).mean()) for cut in np.linspace(-2, 2, 21)]))

    rng = np.random.default_rng(2)
    observed = float(np.mean([loss(rng.choice(4_000, 400, replace=False)) for _ in range(200)]))
    found = subsample_equivalent(loss, 4_000, observed, rng, draws=10)
    assert found.interval[0] <= 0.1 <= found.interval[1]
    assert 0.05 < found.share < 0.2


def test_nothing_lost_is_all_records_and_all_lost_is_fewer_than_any() -> None:
    rng = np.random.default_rng(0)
    whole = subsample_equivalent(by_theory, 10_000, 0.0, rng)
    assert (whole.share, whole.interval, whole.at_most) == (1.0, (1.0, 1.0), False)
    none = subsample_equivalent(by_theory, 10_000, 1e6, rng)
    assert none.share == pytest.approx(0.001)
    assert none.at_most


def test_the_same_generator_gives_the_same_and_larger_sizes_are_not_tried_in_vain() -> None:
    tried: list[int] = []

    def loss(rows: IntArray) -> float:
        tried.append(len(rows))
        return by_theory(rows) + 0.001 * float(rows[:5].sum() % 7)

    one, two = (subsample_equivalent(loss, 10_000, 5.0, np.random.default_rng(4)) for _ in range(2))
    assert one == two
    assert max(tried) == 500  # at 5 % the loss is 4.4


def test_what_is_unknown_or_too_small_has_no_equivalent() -> None:
    rng = np.random.default_rng(0)
    assert subsample_equivalent(by_theory, 10_000, float("nan"), rng) is None
    assert subsample_equivalent(by_theory, 2, 0.5, rng) is None


def test_refusals() -> None:
    rng = np.random.default_rng(0)
    golden.refused(DataError, subsample_equivalent, by_theory, 100, 0.5, rng, draws=1)
    for fractions in ((0.5, 0.1), (0.0, 0.5), (0.5, 0.5)):
        golden.refused(DataError, subsample_equivalent, by_theory, 100, 0.5, rng, fractions=fractions)
