"""Sums whose coefficients differ from class to class are found, and what only goes along with others makes none."""

import numpy as np
import pytest

from sluice.risk.reference.order_within_classes import Part
from sluice.risk.reference.sums_within_classes import sums_of

N = 1_500
RNG = np.random.default_rng(5)
AGE, OTHER, HOURS = RNG.uniform(20, 80, N), RNG.lognormal(3, 0.5, N), RNG.uniform(10, 60, N)
WORK, SEX = RNG.integers(0, 6, N), RNG.integers(0, 2, N)
CLASSES = [Part("work", WORK, 6, whole=True), Part("sex", SEX, 2, whole=True)]
AMOUNT, FACTOR = RNG.normal(0, 100, (6, 2))[WORK, SEX], RNG.uniform(0.3, 3, (6, 2))[WORK, SEX]


def sums(**numbers: np.ndarray) -> list[Part]:
    return sums_of(AGE, numbers, CLASSES, np.arange(N), np.random.default_rng(1))


@pytest.mark.parametrize(
    ("column", "as_logarithm"),
    [(AGE - OTHER + AMOUNT, False), (FACTOR * AGE - OTHER, False), (AGE * OTHER * FACTOR, True)],
)
def test_an_amount_a_factor_and_a_power_of_each_class(column: np.ndarray, as_logarithm: bool) -> None:
    found = sums(column=column, other=OTHER, hours=HOURS)
    assert all({"column", "other", "work", "sex"} == {*part.made_of} for part in found)
    ranks = AGE.argsort().argsort()
    near = [max(np.corrcoef(part.codes[of], ranks[of])[0, 1] for of in (WORK == 0, SEX == 1)) for part in found]
    assert max(near) > (0.97 if as_logarithm else 0.99)


def test_no_sum_is_made_of_what_goes_along() -> None:
    noisy = AGE + 25 * RNG.normal(size=N)
    assert not sums(noisy=noisy, other=OTHER)
    assert not sums(other=OTHER, hours=HOURS)
    assert not sums()
