"""The spread of a variable, which a few values must not move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import RobustScaler

from sluice.risk.spread import spread

RNG = np.random.default_rng(4)
INCOME = np.exp(RNG.normal(10, 1, 5_000))
AGE = RNG.integers(17, 91, 5_000).astype(float)


def test_normal_values_have_the_spread_of_their_standard_deviation() -> None:
    values = RNG.normal(3, 7, 100_000)
    assert spread(values) == pytest.approx(7, rel=0.02)
    # Independent implementation: the range of the same quantiles in units of a normal standard deviation.
    scaler = RobustScaler(quantile_range=(10, 90), unit_variance=True).fit(values[:, None])
    assert spread(values) == pytest.approx(scaler.scale_[0], rel=1e-3)


@pytest.mark.parametrize("share", [0.0002, 0.01, 0.1, 0.4])
@pytest.mark.parametrize("values", [INCOME, AGE], ids=["income", "age"])
def test_a_sentinel_does_not_move_it_however_often_it_stands(values: np.ndarray, share: float) -> None:
    count = int(share * len(values))
    with_sentinel = np.append(values[count:], np.full(count, 999_999_999.0))
    assert 0.5 < spread(with_sentinel) / spread(values) < 2


def test_a_tenth_of_wild_values_that_all_differ_do_not_blind_it() -> None:
    wild = np.append(AGE[500:], 1e9 * RNG.random(400))
    assert spread(wild) < 3 * spread(AGE)


def test_where_nearly_all_are_equal_the_others_have_the_spread() -> None:
    amounts = np.append(np.zeros(45_000), INCOME)
    assert 0.3 < spread(amounts) / spread(INCOME) < 2
    wild = np.append(amounts, 1e12)
    assert 0.5 < spread(wild) / spread(INCOME) < 2
    assert spread(np.append(np.zeros(99), 1.0)) == pytest.approx(np.sqrt(0.01 * 0.99))


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 3)), min_size=1, max_size=40),
    st.floats(0.01, 100),
    st.floats(-1e6, 1e6),
)
def test_it_follows_the_unit_and_is_0_for_a_constant_alone(found: list[float], unit: float, shift: float) -> None:
    values = np.array(found)
    assert (spread(values) == 0) == (values.min() == values.max())
    assert spread(values * unit + shift) == pytest.approx(unit * spread(values), rel=1e-3, abs=1e-4)


def test_missing_values_have_no_spread() -> None:
    assert spread(np.array([np.nan, np.inf])) == spread(np.zeros(0)) == 0
    assert spread(np.append(INCOME, [np.nan, np.inf])) == spread(INCOME)
