"""The largest truth that passes: by simulation, by hand, and where nobody can pass."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from sluice.risk.attacks.attack_success import LOOKS
from sluice.risk.passing_truth import Look, can_pass, exact_ends, largest_difference, largest_share


def two_looks(cases: int) -> list[Look]:
    return [Look(cases, LOOKS[0]), Look(2 * cases, LOOKS[1])]


@pytest.mark.parametrize(("cases", "limit"), [(100, 0.05), (417, 0.01), (1000, 0.02), (2000, 0.09)])
def test_a_file_with_this_truth_passes_in_95_of_100_cases(cases: int, limit: float) -> None:
    """Of 4,000 simulated files; the error of their share is 0.34 %."""
    truth = largest_share(limit, two_looks(cases))
    rng, ends = np.random.default_rng(1), cache(exact_ends)
    first = rng.binomial(cases, truth, 4000)
    both = first + rng.binomial(cases, truth, 4000)
    passed = 0
    for some, every in zip(first.tolist(), both.tolist(), strict=True):
        low, high = ends(some, cases, LOOKS[0])
        passed += high <= limit or (low <= limit and ends(every, 2 * cases, LOOKS[1])[1] <= limit)
    assert passed / 4000 == pytest.approx(0.95, abs=0.012)


def test_of_one_look_it_is_the_lower_end_of_a_beta_law() -> None:
    """Of 1,000 cases 11 may be found where 2 % are allowed: with 12, the interval ends at 2.09 %."""
    assert exact_ends(11, 1000, 0.95)[1] <= 0.02 < exact_ends(12, 1000, 0.95)[1]
    assert largest_share(0.02, [Look(1000, 0.95)]) == pytest.approx(beta.ppf(0.05, 12, 989), abs=1e-8)


def test_a_limit_below_the_interval_of_nobody_lets_nothing_pass() -> None:
    assert not can_pass(0.01, two_looks(100))
    assert largest_share(0.01, two_looks(100)) is None
    assert can_pass(0.02, two_looks(100))  # of 200 people
    assert not can_pass(0.02, [])


@given(st.integers(20, 300), st.floats(0.01, 0.3))
def test_more_people_and_a_wider_limit_let_more_pass(cases: int, limit: float) -> None:
    few, more, wider = (
        largest_share(*each) or 0.0
        for each in ((limit, two_looks(cases)), (limit, two_looks(4 * cases)), (1.2 * limit, two_looks(cases)))
    )
    assert few <= limit
    assert few <= more + 1e-6
    assert few <= wider + 1e-6


def test_a_difference_by_the_normal_law() -> None:
    """Of 20,000 files whose difference is the largest that passes, 95 % pass."""
    half, level = 0.03, 0.96
    truth = largest_difference(0.1, half, level)
    error = half / 2.0537  # of which the interval is 96 %
    seen = truth + error * np.random.default_rng(2).normal(size=20_000)
    assert (seen + half <= 0.1).mean() == pytest.approx(0.95, abs=0.006)
    assert largest_difference(0.05, half, level) < 0
