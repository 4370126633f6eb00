"""Rounding: the rounding points and sets of attraction of Torra (2013), exactly; the decimals as they are written."""

from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.plan import apply_plan, apply_recodings
from sluice.masking.recoding.rounding import (
    Rounding,
    multiples_around,
    round_to_multiples,
    round_to_points,
    round_to_rows,
)
from tests.golden import golden
from tests.masking.survey import drawn

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=119, nullable=True),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
    "debt": Variable(name="debt", kind=Kind.CONTINUOUS),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south")),
}


def masked_by(step: Rounding, frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    return step.mask(frame, VARIABLES, np.random.default_rng(seed))


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed, 0.2)


def test_the_sets_of_attraction_of_the_slides() -> None:
    """Torra (2013), "Rounding": p_i = b i, here b = 10 and r = 4. [0, 15) to 10, [15, 25) to 20, [25, 35) to 30, and
    [35, V_max] to 40."""
    below = np.nextafter(np.array([15.0, 25.0, 35.0]), 0)
    values = [0.0, 4.0, 10.0, below[0], 15.0, 20.0, below[1], 25.0, below[2], 35.0, 44.0, 46.0, 119.0]
    expected = [10, 10, 10, 10, 20, 20, 20, 30, 30, 40, 40, 40, 40]
    frame = survey(len(values)).assign(income=values)
    step = Rounding(columns=("income",), base=10, multiples="positive", last=40)
    assert masked_by(step, frame)["income"].tolist() == expected
    released = step.released(VARIABLES)["income"]
    assert (released.minimum, released.maximum) == (10, 40)


def test_by_default_zero_and_negative_multiples_are_points() -> None:
    values = np.array([-16.0, -15.0, -5.0, -4.9, 0.0, 4.9, 5.0, 15.0, 1e6 + 4])
    assert round_to_multiples(values, 10.0).tolist() == [-20, -10, 0, 0, 0, 0, 10, 20, 1e6]
    released = Rounding(columns=("income", "debt"), base=30).released(VARIABLES)
    assert (released["income"].minimum, released["income"].maximum) == (0, 120)  # 119 is nearer to 120 than to 90
    assert (released["debt"].minimum, released["debt"].maximum) == (None, None)


def test_results_and_ties_are_decimals_as_written() -> None:
    assert round_to_multiples(np.array([0.3, 0.15, 0.25, 0.35, 0.7, 2.675]), 0.1).tolist() == [
        0.3, 0.2, 0.3, 0.4, 0.7, 2.7,
    ]  # fmt: skip
    assert round_to_multiples(np.array([1.005, 2.675, 1.015]), 0.01).tolist() == [1.01, 2.68, 1.02]
    assert round_to_points(np.array([0.15, 0.1499999999, 0.45]), (0.1, 0.2, 0.7)).tolist() == [0.2, 0.1, 0.7]


@given(n=st.integers(0, 40), seed=st.integers(0, 1000), base=st.sampled_from([0.5, 5.0, 7.0]))
def test_beyond_the_last_point_all_is_the_last_and_twice_is_once(n: int, seed: int, base: float) -> None:
    frame = survey(n, seed)
    step = Rounding(columns=("income", "age", "debt"), base=base, last=10 * base)
    masked = masked_by(step, frame)
    for name in step.columns:
        assert (masked[name][frame[name] > 10 * base].dropna() == 10 * base).all()
        assert masked[name].isna().equals(frame[name].isna())
    again = masked_by(step, masked.astype({"age": "Int64"}) if base.is_integer() else masked)
    assert again.equals(masked)


def test_points_of_your_own() -> None:
    step = Rounding(columns=("income",), points=[0, 10, 50])
    frame = survey(7).assign(income=[0.0, 4.9, 5.0, 29.9, 30.0, 100.0, np.nan])
    assert masked_by(step, frame)["income"].tolist()[:6] == [0, 0, 10, 10, 50, 50]
    assert (step.released(VARIABLES)["income"].minimum, step.released(VARIABLES)["income"].maximum) == (0, 50)
    assert step.released(VARIABLES)["debt"].maximum is None
    assert Rounding(columns=("debt",), points=[-1, 1]).released(VARIABLES)["debt"].minimum == -1
    assert Rounding(columns=("age",), points=[20, 62.5]).released(VARIABLES)["age"].kind is Kind.CONTINUOUS
    assert Rounding(columns=("age",), points=[20, 60]).released(VARIABLES)["age"].kind is Kind.INTEGER


def test_rows_of_points_attract_the_nearest_records() -> None:
    """Independent figure: distances written out. The third record misses a value, the fourth is midway."""
    values = np.array([[1.0, 100.0], [9.0, 0.0], [np.nan, 80.0], [5.0, 50.0], [np.nan, np.nan]])
    points = np.array([[0.0, 0.0], [0.0, 100.0], [10.0, 100.0]])
    rounded = round_to_rows(values, points, np.array([5.0, 50.0]))
    assert rounded[[0, 1]].tolist() == [[0, 100], [0, 0]]  # second: 1.8^2 + 0 < 0.2^2 + 2^2
    assert np.isnan(rounded[2, 0])
    assert rounded[2, 1] == 100
    assert rounded[3].tolist() == [0, 0]  # as near to all three; the first is taken
    assert np.isnan(rounded[4]).all()
    many = np.random.default_rng(0).normal(size=(20_000, 2))
    brute = ((many[:, None, :] - points[None]) ** 2 / np.array([1.0, 4.0]) ** 2).sum(axis=2).argmin(axis=1)
    assert (round_to_rows(many, points, np.array([1.0, 4.0])) == points[brute]).all()


def test_rows_are_rounded_alike_in_another_file() -> None:
    """The scales are those of the masked file, to two digits, also when the recoding is applied to other records."""
    step = Rounding(columns=("income", "debt"), points=[[20, 0], [60, -50], [60, 50], [100, 0]])
    frame = survey(300).reset_index(drop=True)
    masked, fitted = apply_plan([step], frame, VARIABLES, np.random.SeedSequence(0))
    spreads = [float(f"{np.nanstd(frame[name]):.2g}") for name in ("income", "debt")]
    assert fitted[0].scales == tuple(spreads)  # type: ignore[union-attr]
    some = frame.iloc[:20].assign(debt=frame["debt"].iloc[:20] * 1.0)
    pd.testing.assert_frame_equal(apply_recodings(fitted, some, VARIABLES), masked.iloc[:20])
    released = step.released(VARIABLES)
    assert (released["debt"].minimum, released["debt"].maximum) == (-50, 50)


def test_extremes() -> None:
    assert round_to_multiples(np.array([1e300, 3e17, np.nan]), 1e-300)[:2].tolist() == [1e300, 3e17]
    assert round_to_multiples(np.array([3.0, 0.0]), 1e9).tolist() == [0, 0]
    assert np.isnan(round_to_multiples(np.array([np.nan]), 1.0)).all()
    assert round_to_multiples(np.array([0.5, 1.0]), 1 / 3) == pytest.approx([2 / 3, 1.0], rel=1e-15)
    frame = pd.DataFrame({"age": pd.array([2**60, None], dtype="Int64")})
    with golden.raises(PlanError):
        masked_by(Rounding(columns=("age",), base=10), frame)


def test_refusals() -> None:
    with golden.raises(PlanError):
        masked_by(Rounding(columns=("debt",), base=1, multiples="positive"), survey(3).assign(debt=[-1.0, 1.0, -2.0]))


# Multiples of a decimal base, compared with exact decimal arithmetic.


@given(
    value=st.one_of(
        st.floats(-1e6, 1e6),
        st.decimals(-1000, 1000, places=3).map(float),
        st.integers(-4000, 4000).map(lambda number: number / 2 * 0.1),
    ),
    base=st.sampled_from([0.1, 0.01, 0.25, 0.3, 1.0, 2.5, 7.0, 100.0, 1e-3, 365.25]),
)
def test_multiples_agree_with_decimal_arithmetic(value: float, base: float) -> None:
    """An independent figure: the same rule in exact decimal arithmetic on the numbers as they are written."""
    exact, step = Decimal(repr(value)), Decimal(repr(base))
    number = (exact / step + Decimal("0.5")).to_integral_value(rounding=ROUND_FLOOR)
    assert round_to_multiples(np.array([value]), base)[0] == float(number * step)
    low, high = (float(end[0]) for end in multiples_around(np.array([value]), base))
    assert low == float((exact / step).to_integral_value(rounding=ROUND_FLOOR) * step)
    assert low <= value <= high
    assert high == low if value == low else float(Decimal(repr(high)) - Decimal(repr(low))) == pytest.approx(base)
