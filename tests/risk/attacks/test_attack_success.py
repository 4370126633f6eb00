"""Shares of right guesses, and the risk that a control leaves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.attacks.attack_success import (
    AttackSuccess,
    ControlledAttack,
    adjusted_cases,
    excess_of_participants,
    looks,
    without_luck,
)


def attack(main: float, control: float, n: int, baseline: float = 0.0) -> ControlledAttack:
    return ControlledAttack(AttackSuccess(n, n, main), AttackSuccess(n, n, control), baseline)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_published(successes: int, n: int, low: float, high: float) -> None:
    """R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17, 1998,
    Table I, method 3 (score, no continuity correction)."""
    centre, half = AttackSuccess(n, n, successes).wilson()
    assert (centre - half, centre + half) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_the_exact_interval_as_published(successes: int, n: int, low: float, high: float) -> None:
    """Newcombe as above, Table I, method 5 (Clopper-Pearson)."""
    assert AttackSuccess(n, n, successes).exact() == pytest.approx((low, high), abs=5e-5)
    assert AttackSuccess(n, n, n - successes).exact() == pytest.approx((1 - high, 1 - low), abs=5e-5)


@pytest.mark.parametrize(
    ("main", "control", "n", "value", "low", "high"),
    [
        (849, 70, 3000, 0.26569613297719286, 0.2486912730018781, 0.2827009929525076),
        (2499, 2342, 3000, 0.23790736220740136, 0.1583696938906941, 0.3174450305241086),
        (447, 4, 3000, 0.14776908397011965, 0.13494183274505842, 0.16059633519518088),
    ],
)
def test_risk_as_anonymeter_has_it(main: int, control: int, n: int, value: float, low: float, high: float) -> None:
    """anonymeter 1.1.0, EvaluationResults(n_attacks=n, n_success=main, n_control=control).risk()."""
    measured = attack(main, control, n).risk()
    assert measured.value == pytest.approx(value, abs=1e-12)
    assert measured.interval == pytest.approx((low, high), abs=1e-12)
    assert (measured.attempted, measured.completed, measured.worse) == (n, n, "higher")


@given(n=st.integers(2, 500), data=st.data())
def test_order_and_bounds(n: int, data: st.DataObject) -> None:
    low, high = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    control = data.draw(st.integers(0, n))
    assert attack(low, control, n).risk().value <= attack(high, control, n).risk().value <= 1
    assert attack(high, low, n).risk().value >= attack(high, high, n).risk().value == pytest.approx(0, abs=1e-12)
    baseline = low / n
    measured = attack(high, control, n, baseline)
    assert measured.informative == (high > low)  # beats guessing, and not: equals it
    assert measured.risk().baseline == pytest.approx((baseline - _centre(control, n)) / (1 - _centre(control, n)))


def _centre(successes: int, n: int) -> float:
    return AttackSuccess(n, n, successes).wilson()[0]


def test_the_denominator_is_what_was_completed() -> None:
    """A published tool divides by the guesses asked for: 40 right of 50 made of 2,000 asked would be a share of .02."""
    few = AttackSuccess(attempted=2000, completed=50, successes=40)
    assert few.share == 0.8
    measured = ControlledAttack(few, AttackSuccess(2000, 50, 0), 0.0).risk()
    assert measured.value > 0.7
    assert (measured.attempted, measured.completed) == (2000, 50)


def test_an_attack_worse_than_guessing_is_told_so() -> None:
    """A published tool reports a risk of 0 with a tight interval here."""
    bad = attack(10, 40, 1000, baseline=0.2)
    assert not bad.informative
    assert bad.worse_than_guessing
    assert not attack(199, 40, 1000, baseline=0.2).worse_than_guessing  # within chance
    measured = bad.risk()
    assert measured.value < 0  # not cut off
    assert measured.interval[1] < measured.baseline


def test_extremes() -> None:
    for successes in (0, 1):
        one = attack(successes, successes, 1).risk()
        assert one.value == pytest.approx(0)
        assert one.interval[0] < -0.5
        assert one.interval[1] > 0.5
    total = attack(10**6, 0, 10**6).risk()
    assert total.value == pytest.approx(1, abs=1e-5)
    assert attack(10**6, 10**6, 10**6).risk().value == pytest.approx(0)
    none = ControlledAttack(AttackSuccess(10, 0, 0), AttackSuccess(10, 10, 0), 0.0)
    assert not none.completed
    assert not none.informative


def test_what_would_be_right_anyway_is_taken_off_and_the_gain_stays() -> None:
    """Of 400 and 100 people who are guessed easily or hardly, participants by .1 more. The interval holds the gain as
    often as it says, and the figure varies by less than half of its variance."""
    raw, less, held = [], [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        easy = [rng.beta(0.2, 0.3, n) * 0.9 for n in (400, 100)]
        right = [
            (rng.random(len(each)) < each + more)[:, None] * 1.0 for each, more in zip(easy, (0.1, 0), strict=True)
        ]
        one, other = without_luck(right, [np.stack([each, each**2], axis=1)[:, None] for each in easy])
        assert one.mean() == pytest.approx(right[0].mean())
        found = excess_of_participants(one.T, other.T, (np.arange(400), np.arange(100))).beyond_baseline()
        raw.append(right[0].mean() - right[1].mean())
        less.append(found.value)
        held.append(found.interval[0] <= 0.1 <= found.interval[1])
    assert np.mean(less) == pytest.approx(0.1, abs=0.01)
    assert np.var(less) < np.var(raw) / 2
    assert np.mean(held) > 0.91


def test_figures_that_explain_nothing_change_nothing() -> None:
    rng = np.random.default_rng(0)
    right = [rng.random((n, 2)).round() for n in (50, 30)]
    same = without_luck(right, [np.ones((len(each), 2, 3)) for each in right])
    assert all(np.allclose(*pair) for pair in zip(right, same, strict=True))


def test_cases_are_worth_more_by_what_is_known_but_not_without_end() -> None:
    success, units = np.array([0.0, 1.0] * 50), np.arange(100)
    assert adjusted_cases(100, success, success / 2 + 0.25, units) == 400
    assert adjusted_cases(100, success, np.full(100, 0.5), units) == 400
    assert adjusted_cases(100, np.zeros(100), np.zeros(100), units) == 100


def test_where_a_first_look_takes_everybody_there_is_one() -> None:
    assert [*looks(2_000, 0.1, (2_000, 500))] == [(0.95, 2_000)]
    assert [*looks(2_000, None, (9_000, 500))] == [(0.95, 2_000)]
    assert [*looks(2_000, 0.1, (2_001, 500))] == [(0.99, 2_000), (0.96, 8_000)]
