"""Resampling. The references print no figures of it; the exact expectation is computed from the binomial law."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import binom

from sluice.errors import PlanError
from sluice.masking.synthesis.resampling import Resampling, ranking, resample
from sluice.variables import Kind, Variable
from tests.golden import golden

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, nullable=True),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south")),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = pd.array(rng.integers(18, 91, n), dtype="Int64")
    age[rng.random(n) < 0.2] = pd.NA
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(10, 1, n)),
            "age": age,
            "area": pd.Categorical.from_codes(rng.integers(0, 2, n), categories=["north", "south"]),
        },
        index=rng.permutation(n),
    )


def expected_order_statistics(ranked: np.ndarray) -> np.ndarray:
    """E of the j-th value of a bootstrap sample: it is at most the i-th original value if at least j of n draws are,
    each with probability i / n."""
    n = len(ranked)
    i, j = np.meshgrid(np.arange(n + 1), np.arange(1, n + 1))
    at_most = binom.sf(j - 1, n, i / n)
    return np.asarray(np.diff(at_most, axis=1) @ ranked)


def test_many_samples_give_the_expected_order_statistics() -> None:
    values = np.array([3.0, 1.0, 10.0, 4.0, 100.0, 4.0])
    masked = resample(values, 40_000, np.random.default_rng(1))
    expected = expected_order_statistics(np.sort(values))
    assert np.sort(masked) == pytest.approx(expected, rel=0.02)
    assert masked[[1, 0, 2, 4]] == pytest.approx(expected[[0, 1, 4, 5]], rel=0.02)


def test_one_sample_follows_the_law_of_the_bootstrap() -> None:
    """The largest value is in a sample of n with probability 1 - (1 - 1/n)^n, 63 % for large n."""
    rng = np.random.default_rng(0)
    values = np.arange(50.0)
    tops = [resample(values, 1, rng)[49] == 49.0 for _ in range(4000)]
    assert np.mean(tops) == pytest.approx(1 - (1 - 1 / 50) ** 50, abs=0.03)


@given(
    values=st.lists(st.one_of(st.floats(-1e12, 1e12), st.just(np.nan), st.integers(0, 3).map(float)), max_size=60),
    samples=st.integers(1, 7),
    seed=st.integers(0, 1000),
)
def test_order_range_and_gaps_stay(values: list[float], samples: int, seed: int) -> None:
    original = np.array(values, dtype=float)
    masked = resample(original, samples, np.random.default_rng(seed))
    present = ~np.isnan(original)
    assert np.isnan(masked).tolist() == (~present).tolist()
    order = np.argsort(original[present], kind="stable")
    before, after = original[present][order], masked[present][order]
    rises = before[1:] > before[:-1]
    assert (after[1:][rises] >= after[:-1][rises]).all()
    if present.any():
        assert after.min() >= before.min()
        assert after.max() <= before.max()
    if samples == 1:
        assert set(after) <= set(before)


def test_ties_are_ranked_at_random() -> None:
    rng = np.random.default_rng(0)
    values = np.array([5.0, 1.0, 5.0, 5.0])
    seen = [tuple(ranking(values, rng)) for _ in range(3000)]
    assert {order[0] for order in seen} == {1}
    counts = [seen.count(order) for order in set(seen)]
    assert len(counts) == 6
    assert min(counts) > 400


def test_refusals() -> None:
    with golden.raises(ValidationError):
        Resampling(columns=("income",), samples=0)
    alone = survey(5).assign(income=[1.0, np.nan, np.nan, np.nan, np.nan])
    with golden.raises(PlanError):
        Resampling(columns=("income",), samples=1).mask(alone, VARIABLES, np.random.default_rng(0))


def test_the_description_does_not_tell_the_number_of_samples() -> None:
    assert "17" not in Resampling(columns=("income",), samples=17).describe()
