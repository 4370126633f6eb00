"""Data distortion by probability distribution. The fits are in test_distribution_families.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from sluice.errors import PlanError
from sluice.masking.synthesis.data_distortion import DataDistortion, distorted, redrawn
from sluice.masking.synthesis.distribution_families import fitted_distribution, nearest_family
from sluice.variables import Kind, Variable
from tests.golden import golden

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=200_000, nullable=True),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south", "west"), nullable=True),
    "health": Variable(name="health", kind=Kind.ORDINAL, categories=("bad", "fair", "good"), nullable=True),
    "other": Variable(name="other", kind=Kind.CONTINUOUS),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = pd.array(rng.integers(18, 91, n), dtype="Int64")
    age[rng.random(n) < 0.2] = pd.NA
    codes = np.where(rng.random(n) < 0.1, -1, rng.choice(3, n, p=[0.6, 0.3, 0.1]))
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(10, 0.5, n)),
            "age": age,
            "area": pd.Categorical.from_codes(codes, categories=["north", "south", "west"]),
            "health": pd.Categorical.from_codes(codes[::-1], categories=["bad", "fair", "good"], ordered=True),
            "other": rng.normal(size=n),
        },
        index=rng.permutation(n),
    )


_amount = st.floats(-1e9, 1e9).map(lambda amount: round(amount, 6))


@given(
    values=st.lists(
        st.one_of(_amount, st.just(np.nan), st.integers(0, 4).map(float), st.floats(1e-6, 1.0)),
        min_size=2,
        max_size=50,
    ),
    seed=st.integers(0, 1000),
    by_rank=st.booleans(),
)
def test_draws_are_finite_and_follow_the_ranks(values: list[float], seed: int, by_rank: bool) -> None:
    original = np.array(values, dtype=float)
    present = np.isfinite(original)
    if len(set(original[present])) < 2:
        return
    masked = distorted(original, nearest_family(original), by_rank, np.random.default_rng(seed))
    assert (np.isnan(masked) == ~present).all()
    before, after = original[present], masked[present]
    assert np.isfinite(after).all()
    if by_rank:
        order = np.lexsort((after, before))
        assert (np.diff(after[order]) >= 0).all()


def test_in_random_order_the_ranks_are_lost() -> None:
    values = np.random.default_rng(0).normal(size=20_000)
    masked = distorted(values, "normal", False, np.random.default_rng(1))
    assert stats.spearmanr(values, masked).statistic == pytest.approx(0, abs=0.03)
    assert stats.kstest(masked, stats.norm(values.mean(), values.std()).cdf).pvalue > 1e-3


def test_categories_are_drawn_with_their_shares() -> None:
    codes = np.repeat([0, 1, 2, -1], [6000, 3000, 1000, 500])
    rng = np.random.default_rng(0)
    for by_rank in (True, False):
        drawn = redrawn(codes, by_rank, rng)
        assert (drawn[-500:] == -1).all()
        counts = np.bincount(drawn[:-500], minlength=3)
        assert stats.chisquare(counts, [6000, 3000, 1000]).pvalue > 1e-3
        assert (counts != [6000, 3000, 1000]).any()
        spearman = stats.spearmanr(codes[:-500], drawn[:-500]).statistic
        assert spearman > 0.9 if by_rank else abs(spearman) < 0.05


def test_the_fitted_step_names_the_families_and_masks_alike() -> None:
    frame = survey(500)
    step = DataDistortion(columns=("income", "age", "area"), distributions={"age": "normal"})
    assert step.fit(frame, VARIABLES)[0].parameters() == {"distributions": {"age": "normal", "income": "log_normal"}}
    assert step.parameters() == {"distributions": {"age": "normal"}}
    assert DataDistortion(columns=("area",)).fit(frame, VARIABLES)[0].parameters() == {}
    once = step.mask(frame, VARIABLES, np.random.default_rng(1))
    again = step.fit(frame, VARIABLES)[0].mask(frame, VARIABLES, np.random.default_rng(1))
    pd.testing.assert_frame_equal(once, again)


def test_no_draw_is_bound_to_the_extremes_of_the_file() -> None:
    """A uniform fitted by maximum likelihood would publish its smallest and largest value."""
    values = np.random.default_rng(0).uniform(0, 1, 300)
    low, high = fitted_distribution(values, "uniform").support()
    assert low != values.min()
    assert high != values.max()


def test_constants_empty_files_and_gaps_stay() -> None:
    rng = np.random.default_rng(0)
    step = DataDistortion(columns=("income", "age", "area"))
    same = survey(30).assign(income=0.1, area=pd.Categorical(["south"] * 30, categories=["north", "south", "west"]))
    masked = step.mask(same, VARIABLES, rng)
    assert (masked["income"] == 0.1).all()
    assert (masked["area"] == "south").all()
    assert step.fit(same, VARIABLES)[0].distributions.keys() == {"age"}
    assert len(step.mask(survey(3).iloc[:0], VARIABLES, rng)) == 0
    blank = survey(5).assign(income=np.nan, area=pd.Categorical([None] * 5, categories=["north", "south", "west"]))
    assert step.mask(blank, VARIABLES, rng)[["income", "area"]].isna().all(axis=None)


@pytest.mark.parametrize("family", [None, "gamma", "weibull", "log_normal", "triangular", "chi_square", "normal"])
@pytest.mark.parametrize("values", [[1.0, 1.0 + 2**-52], [5e-324, 1e-323], [1e-300, 1e300], [1e15, 1e15 + 1]])
def test_values_at_the_edge_of_arithmetic_are_fitted_or_refused(family: str | None, values: list[float]) -> None:
    frame = pd.DataFrame({"other": values})
    step = DataDistortion(columns=("other",), distributions={} if family is None else {"other": family})
    masked, refused = None, ""
    try:
        masked = step.mask(frame, VARIABLES, np.random.default_rng(0))["other"]
    except PlanError as error:
        refused = str(error)
    assert "too large" in refused if masked is None else np.isfinite(masked).all()


def test_refusals() -> None:
    rng = np.random.default_rng(0)
    with golden.raises(ValidationError):
        DataDistortion(columns=("income",), distributions={"incme": "normal"})
    with pytest.raises(ValidationError, match="distributions"):
        DataDistortion(columns=("income",), distributions={"income": "cauchy"})  # type: ignore[dict-item]
    with golden.raises(PlanError):
        DataDistortion(columns=("area",), distributions={"area": "normal"}).released(VARIABLES)
    one = survey(4).assign(income=[1.0, np.nan, np.nan, np.nan])
    with golden.raises(PlanError):
        DataDistortion(columns=("income",)).mask(one, VARIABLES, rng)
    for family, allowed in [
        ("poisson", "whole numbers from 0"),
        ("exponential", "values from 0"),
        ("gamma", "values greater than 0"),
        ("weibull", "values greater than 0"),
        ("log_normal", "values greater than 0"),
        ("chi_square", "values greater than 0"),
    ]:
        step = DataDistortion(columns=("other",), distributions={"other": family})
        with pytest.raises(PlanError, match=f"data_distortion on 'other': distribution {family} takes {allowed} only"):
            step.mask(survey(50), VARIABLES, rng)
    huge = survey(3).assign(other=[1e308, -1e308, 0.0])
    with golden.raises(PlanError):
        DataDistortion(columns=("other",)).mask(huge, VARIABLES, rng)


def test_the_description_tells_the_order() -> None:
    golden.words(DataDistortion(columns=("income",)).describe())
    golden.words(DataDistortion(columns=("income",), map_by_rank=False).describe())
