"""Random rounding: unbiased, to one of the two multiples around a value. The multiples are in test_rounding.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import PlanError
from sluice.masking.recoding.random_rounding import RandomRounding, random_round
from sluice.variables import Kind, Variable
from tests.golden import golden
from tests.masking.survey import drawn

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=119, nullable=True),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed, 0.2)


def masked_by(step: RandomRounding, frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    return step.mask(frame, VARIABLES, np.random.default_rng(seed))


def test_it_is_unbiased_and_moves_less_than_a_base() -> None:
    rng = np.random.default_rng(0)
    values = np.repeat([0.0, 1.0, 2.5, 7.4, -3.3, 15.0, np.nan], 20_000)
    rounded = random_round(values, 5.0, rng.random(len(values))).reshape(7, -1)
    assert rounded.mean(axis=1)[:6] == pytest.approx([0, 1, 2.5, 7.4, -3.3, 15], abs=0.06)
    assert set(rounded[0]) == {0.0}
    assert set(rounded[3]) == {5.0, 10.0}
    assert set(rounded[5]) == {15.0}
    assert np.isnan(rounded[6]).all()
    tenths = np.array([0.3, 0.7, 2.1])
    assert random_round(tenths, 0.1, rng.random(len(tenths))).tolist() == tenths.tolist()


@given(n=st.integers(0, 40), seed=st.integers(0, 1000), base=st.sampled_from([0.1, 0.5, 7.0, 1000.0]))
def test_a_value_goes_to_one_of_the_two_multiples_around_it(n: int, seed: int, base: float) -> None:
    frame = survey(n, seed)
    step = RandomRounding(columns=("income", "age"), base=base)
    masked, released = masked_by(step, frame, seed), step.released(VARIABLES)
    assert masked.index.equals(frame.index)
    assert masked.isna().equals(frame.isna())
    for name in step.columns:
        after, before = (of[name].dropna().astype(float) for of in (masked, frame))
        assert ((after - before).abs() < base).all()
        assert np.allclose(after / base, (after / base).round())
        assert after.between(float(released[name].minimum), float(released[name].maximum)).all()


def test_refusals() -> None:
    frame = pd.DataFrame({"age": pd.array([2**60, None], dtype="Int64")})
    with golden.raises(PlanError):
        masked_by(RandomRounding(columns=("age",), base=10), frame)
