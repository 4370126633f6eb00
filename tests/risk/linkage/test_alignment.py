"""Alignment: a changed scale is undone, noise is not."""

from collections.abc import Callable

import numpy as np
import pytest

from sluice.ground.arrays import FloatArray
from sluice.risk.linkage.number_patterns import aligned

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
