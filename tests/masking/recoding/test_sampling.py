"""sluice.masking.recoding.sampling. Torra (2013) gives no figures; the laws of simple random sampling do."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.recoding.sampling import Sampling, sample, scaled_weights
from tests.golden import golden

VARIABLES = {
    "household": Variable(name="household", kind=Kind.TEXT, role=Role.HOUSEHOLD),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "weight": Variable(name="weight", kind=Kind.INTEGER, role=Role.WEIGHT, minimum=1, maximum=900),
}


def people(records: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "household": pd.Series([f"h{i // 3}" for i in range(records)], dtype="str"),
            "age": pd.array(range(records), dtype="Int64"),
            "weight": pd.array([1 + i % 7 for i in range(records)], dtype="Int64"),
        }
    ).set_axis(np.arange(records) * 10)


def drawn(step: Sampling, frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    before = frame.copy()
    sampled = step.mask(frame, VARIABLES, np.random.default_rng(seed))
    pd.testing.assert_frame_equal(frame, before)
    assert list(sampled) == list(step.released(VARIABLES))
    return sampled


def test_every_sample_is_equally_likely() -> None:
    # Without replacement there are C(6, 2) = 15 samples of 2 out of 6, each of probability 1 / 15.
    rng = np.random.default_rng(1)
    counts = np.zeros((6, 6))
    for _ in range(6000):
        one, other = sample(np.arange(6), 2, rng.permutation(6))
        counts[one, other] += 1
    seen = counts[np.triu_indices(6, 1)]
    assert seen.sum() == 6000
    assert math.comb(6, 2) == len(seen)
    assert chisquare(seen).pvalue > 0.001


@given(st.integers(1, 200), st.floats(0.01, 0.99), st.integers(0, 2**32 - 1))
def test_records_are_left_out_and_nothing_else(records: int, fraction: float, seed: int) -> None:
    frame = people(records)
    sampled = drawn(Sampling(fraction=fraction), frame, seed)
    assert len(sampled) == max(1, math.floor(fraction * records + 0.5))
    assert sampled.index.is_unique
    assert sampled.index.is_monotonic_increasing
    pd.testing.assert_frame_equal(sampled, frame.loc[sampled.index])


@given(st.integers(1, 200), st.floats(0.01, 0.99), st.sampled_from(["record", "household"]))
def test_the_weighted_total_is_kept(records: int, fraction: float, unit: str) -> None:
    frame = people(records)
    step = Sampling.model_validate({"fraction": fraction, "weight": "weight", "unit": unit})
    sampled = drawn(step, frame)
    assert sampled["weight"].dtype == "float64"
    assert sampled["weight"].sum() == pytest.approx(float(frame["weight"].sum()), rel=1e-12)
    released = step.released(VARIABLES)["weight"]
    assert (released.kind, released.minimum, released.maximum) == (Kind.CONTINUOUS, None, None)
    ratios = sampled["weight"] / frame.loc[sampled.index, "weight"].astype(float)
    np.testing.assert_allclose(ratios, ratios.iloc[0])


def test_equal_weights_are_multiplied_by_n_over_m() -> None:
    frame = people(100).assign(weight=pd.array([4] * 100, dtype="Int64"))
    assert drawn(Sampling(size=25, weight="weight"), frame)["weight"].tolist() == [16.0] * 25


@given(st.integers(1, 100), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_households_stay_together(records: int, fraction: float, seed: int) -> None:
    frame = people(records)
    sampled = drawn(Sampling(fraction=fraction, unit="household"), frame, seed)
    kept = set(sampled["household"])
    assert sampled.index.tolist() == frame.index[frame["household"].isin(kept)].tolist()
    assert len(kept) == max(1, math.floor(fraction * frame["household"].nunique() + 0.5))


def test_records_without_a_household_are_drawn_one_by_one() -> None:
    frame = people(9).assign(household=pd.Series([None] * 9, dtype="str").set_axis(people(9).index))
    assert len(drawn(Sampling(size=4, unit="household"), frame)) == 4


def test_extremes() -> None:
    assert len(drawn(Sampling(fraction=0.5), people(0))) == 0
    assert len(drawn(Sampling(fraction=0.01), people(1))) == 1
    pd.testing.assert_frame_equal(drawn(Sampling(size=9), people(9)), people(9))
    missing = people(5).assign(weight=pd.array([None] * 5, dtype="Int64"))
    assert drawn(Sampling(size=2, weight="weight"), missing)["weight"].isna().all()


def test_weights_that_cannot_be_scaled() -> None:
    with golden.raises(PlanError):
        scaled_weights(np.array([0.0, 3.0, np.nan]), np.array([0, 2]))
    negative = people(3).assign(weight=pd.array([1, -1, 2], dtype="Int64"))
    with golden.raises(PlanError):
        drawn(Sampling(size=2, weight="weight"), negative)
    np.testing.assert_allclose(scaled_weights(np.array([1.0, 2.0, np.nan, 3.0]), np.array([1, 2])), [6.0, np.nan])


def test_samples_larger_than_the_file_are_refused() -> None:
    for more in ({}, {"unit": "household", "strata": ("age",)}):
        with golden.raises(PlanError):
            drawn(Sampling.model_validate({"size": 5, **more}), people(3))
