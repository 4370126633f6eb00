"""Digits that were kept are found, and digits that agree by chance or by closeness are not."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.arrays import FloatArray
from sluice.risk.linkage.number_patterns import aligned, kept_digits
from tests.golden import golden


def incomes(n: int = 3_000, seed: int = 0, decimals: int = 0) -> np.ndarray:
    return np.round(np.random.default_rng(seed).lognormal(10, 0.7, n), decimals)


@pytest.mark.parametrize("decimals", [0, 2])
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_last_digits_that_stay_while_the_rest_goes(decimals: int, share: float) -> None:
    rng = np.random.default_rng(1)
    before = incomes(decimals=decimals)
    unit = 10.0**-decimals
    last = np.round(before / unit) % 100 * unit
    kept = rng.permutation(np.floor(before / (100 * unit))) * 100 * unit + last
    after = np.where(rng.random(len(before)) < share, kept, rng.permutation(before))
    found = kept_digits(before, after)
    assert list(found) == ["last digits"]
    known, sent = found["last digits"]
    assert known == pytest.approx(np.round(before / unit) % 100)
    assert (known == sent).mean() > 0.9 * share


def test_some_computed_numbers_do_not_hide_the_last_digits() -> None:
    before = incomes()
    after = np.random.default_rng(1).permutation(before // 100) * 100 + before % 100
    before[::20] = before.mean() + np.arange(len(before[::20])) / 3
    known, sent = kept_digits(before, after)["last digits"]
    assert (known == sent).mean() > 0.9


def test_first_digits_that_stay_while_the_point_moves() -> None:
    before = incomes()
    after = before * 10.0 ** np.random.default_rng(2).integers(-2, 3, len(before))
    assert "first digits" in kept_digits(before, after)
    known, sent = kept_digits(-before, -after)["first digits"]
    assert (known == sent).all()
    assert ((known <= -10) & (known > -100)).all()


def test_the_time_of_day_that_stays_while_the_date_moves() -> None:
    rng = np.random.default_rng(3)
    before = np.round(rng.uniform(-500, 20_000, 3_000) * 86_400) / 86_400  # days, to the second
    before[:50] = np.nan
    found = kept_digits(before, before + rng.integers(-900, 900, 3_000))
    golden(list(found))
    known, sent = found["fraction or time of day"]
    assert (known == sent)[50:].mean() > 0.99
    assert known[50:] == pytest.approx(before[50:] % 1, abs=1e-6)
    assert kept_digits(before, rng.permutation(before)) == {}
    assert kept_digits(before, before + rng.normal(0, 100, 3_000)) == {}


@given(st.integers(0, 10_000), st.sampled_from(["permuted", "noise", "rounded", "swapped near", "as it was"]))
def test_what_agrees_by_chance_or_closeness_is_no_digit(seed: int, how: str) -> None:
    rng = np.random.default_rng(seed)
    before = np.where(rng.random(1_000) < 0.4, 0.0, incomes(1_000, seed, decimals=0).round(-2))  # heaps, even hundreds
    after = {
        "permuted": rng.permutation(before),
        "noise": before + rng.normal(0, 2_000, len(before)),
        "rounded": before.round(-3),
        "swapped near": np.sort(before)[np.clip(np.argsort(np.argsort(before)) + rng.integers(-20, 21, 1_000), 0, 999)],
        "as it was": before,
    }[how]
    after = np.where(rng.random(1_000) < 0.05, np.nan, after)
    assert kept_digits(before, after) == {}


def test_numbers_without_a_last_digit_have_none() -> None:
    before = np.random.default_rng(0).normal(size=500)
    assert kept_digits(before, before[::-1]) == {}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("pairs", [0, 1, 99])
def test_too_few_pairs_tell_nothing_and_raise_no_warning(pairs: int) -> None:
    before = incomes(500)
    after = np.where(np.arange(500) < pairs, before + 100, np.nan)  # all keep their last digits
    assert kept_digits(before, after) == {}


# Alignment: a changed scale is undone, noise is not.


RNG = np.random.default_rng(1)
INCOMES = np.exp(RNG.normal(10, 1, 2_000))
INCOMES[:200] = 0.0
INCOMES[200:240] = np.nan


@pytest.mark.parametrize(
    "change",
    [lambda x: 1.96 * x + 7, np.log1p, lambda x: -x, lambda x: 1e6 / (1 + x), lambda x: 100 - np.sqrt(x)],
    ids=["currency", "logarithm", "sign", "reciprocal", "falling root"],
)
def test_a_scale_that_keeps_or_reverses_the_order_is_undone(change: Callable[[FloatArray], FloatArray]) -> None:
    undone = aligned(INCOMES, change(INCOMES))
    assert (np.isnan(undone) == np.isnan(INCOMES)).all()
    known = ~np.isnan(INCOMES)
    assert undone[known] == pytest.approx(INCOMES[known])


@pytest.mark.parametrize(
    "after",
    [
        INCOMES,
        INCOMES + RNG.normal(0, 3e4, 2_000),
        RNG.permutation(INCOMES),
        np.round(INCOMES, -4),
        np.minimum(INCOMES, np.nanquantile(INCOMES, 0.9)),
    ],
    ids=["verbatim", "noise", "permutation", "rounding", "top coding"],
)
def test_values_on_their_own_scale_stay_as_they_are(after: FloatArray) -> None:
    np.testing.assert_array_equal(aligned(INCOMES, after), after)


def test_nothing_is_aligned_of_a_column_without_values() -> None:
    blank = np.full(4, np.nan)
    np.testing.assert_array_equal(aligned(blank, blank), blank)


DAYS = np.random.default_rng(5).integers(-5_000, 18_000, 1_500).astype(float)


@pytest.mark.parametrize(
    ("moved", "part"),
    [
        (lambda rng: DAYS + 7 * rng.integers(20, 300, len(DAYS)), "day of the week"),
        (lambda rng: _in_other_years(rng), "day of the year"),
    ],
    ids=["weeks", "years"],
)
def test_dates_that_were_moved_by_whole_weeks_or_years(
    moved: Callable[[np.random.Generator], FloatArray], part: str
) -> None:
    found = kept_digits(DAYS, moved(np.random.default_rng(6)), dates=True)
    assert list(found) == [part]
    known, sent = found[part]
    assert (known == sent).mean() > 0.95


def _in_other_years(rng: np.random.Generator) -> FloatArray:
    dates = DAYS.astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    moved = (months + 12 * rng.integers(1, 12, len(DAYS))).astype("datetime64[D]") + (
        dates - months.astype("datetime64[D]")
    )
    return moved.astype(np.int64).astype(float)


@pytest.mark.parametrize("most", [3, 40, 2_000])
@pytest.mark.parametrize("dates", [True, False])
def test_days_that_were_moved_by_any_number_keep_nothing(most: int, dates: bool) -> None:
    moved = DAYS + np.random.default_rng(7).integers(-most, most + 1, len(DAYS))
    assert kept_digits(DAYS, moved, dates) == {}


@pytest.mark.parametrize("cycle", [7, 12, 60])
def test_whole_numbers_that_were_moved_by_multiples(cycle: int) -> None:
    rng = np.random.default_rng(8)
    found = kept_digits(DAYS, DAYS + cycle * rng.integers(1, 90, len(DAYS)))
    assert list(found) == [f"remainder by {cycle}"]
