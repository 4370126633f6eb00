"""Random rounding: unbiased, to one of the two multiples around a value. The multiples are in test_rounding.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.random_rounding import RandomRounding, random_round
from sluice.masking.recoding.rounding import multiples_around
from tests.golden import golden


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


@given(
    value=st.floats(-1e6, 1e6), draw=st.floats(0, 1, exclude_max=True), base=st.sampled_from([0.1, 0.5, 7.0, 1000.0])
)
def test_a_value_goes_to_one_of_the_two_multiples_around_it(value: float, draw: float, base: float) -> None:
    (rounded,) = random_round(np.array([value]), base, np.array([draw]))
    assert rounded in np.concatenate(multiples_around(np.array([value]), base))


def test_a_number_too_large_for_its_multiples_is_refused() -> None:
    frame = pd.DataFrame({"age": pd.array([2**60, None], dtype="Int64")})
    with golden.raises(PlanError):
        RandomRounding(columns=("age",), base=10).mask(
            frame, {"age": Variable(name="age", kind=Kind.INTEGER)}, np.random.default_rng(0)
        )
