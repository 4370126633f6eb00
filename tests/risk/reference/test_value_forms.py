"""A form is what a value shows beside its size; only what masking changed for some, and not for all, is one."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from sluice.risk.reference.value_forms import Form, forms_of, grain_of

N = 200
RNG = np.random.default_rng(7)
PAY = pd.Series(RNG.integers(1_000, 9_000, N).astype(float))
SOME = np.arange(N) % 4 == 0
UNITS = [Fraction(text) for text in (
    "0.0001", "0.001", "0.01", "0.1", "0.5", "1", "2", "5", "10", "20", "25", "50", "100", "250", "500", "1000",
)]  # fmt: skip


def forms(before: pd.Series, after: pd.Series) -> dict[str, Form]:
    return {form.what: form for form in forms_of({"pay": before}, {"pay": after})}


def test_the_grain_is_the_largest_unit_that_divides() -> None:
    def by_hand(number: Fraction) -> int:
        return max((place for place, unit in enumerate(UNITS, 1) if (number / unit).denominator == 1), default=0)

    sizes = RNG.integers(-40, 40, 300) * 10 ** RNG.integers(0, 5, 300)
    numbers = [
        Fraction(int(size), 10 ** int(places)) for size, places in zip(sizes, RNG.integers(0, 6, 300), strict=True)
    ]
    numbers += [Fraction(1, 10**7), Fraction(10**9 + 1), Fraction(12_345_678_901, 100)]
    assert grain_of(np.array([*map(float, numbers), np.nan])).tolist() == [*map(by_hand, numbers), 0]


def test_rounding_of_some() -> None:
    found = forms(PAY, (PAY / 5).round() * 5)
    assert {"altered", "grain", "digit"} == set(found)  # everybody's ends in 0 or 5, in one of the grains from 5 on
    found = forms(PAY, PAY.where(~SOME, (PAY / 5).round() * 5))
    assert ((found["grain"].state != found["grain"].before) <= SOME).all()
    assert set(found["digit"].state[SOME]) == {0, 5}
    assert (found["altered"].before == 0).all()


@pytest.mark.parametrize(("after", "expected"), [(PAY, set()), (PAY + 0.5, {"digit"}), (PAY * 0 + 7, {"altered"})])
def test_what_is_the_same_for_everybody_is_no_form(after: pd.Series, expected: set[str]) -> None:
    assert set(forms(PAY, after)) <= expected


def test_blank_and_equal() -> None:
    blank = forms(PAY, PAY.where(~SOME))["blank"]
    assert (blank.state == SOME).all()
    assert not blank.before.any()
    tax = PAY * 0.3
    found = forms_of({"pay": PAY, "tax": tax}, {"pay": PAY - 1, "tax": tax.where(~SOME, PAY - 1)})
    equal = next(form for form in found if form.what == "equal")
    assert equal.columns == ("pay", "tax")
    assert (equal.state == SOME).all()


def test_dates() -> None:
    day = pd.Series(pd.date_range("2021-01-02 05:00", periods=N, freq="31h"))
    heaped = day.where(~SOME, day.dt.to_period("M").dt.start_time)
    start = forms(day, heaped)["start"]
    assert (start.state[SOME] >= 2).all()
    assert start.state[~SOME].max() == 1
    assert start.state.max() == 3


def test_texts_and_numbers_are_not_compared() -> None:
    assert not forms(PAY, pd.Series(pd.Categorical(np.where(SOME, "low", "high"))))
    assert not forms_of({}, {"new": PAY})
