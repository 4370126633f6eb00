"""Data distortion by probability distribution. The fits are in test_distribution_families.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.synthesis.data_distortion import DataDistortion, distorted, redrawn
from sluice.masking.synthesis.distribution_families import fitted_distribution, nearest_family
from tests.golden import golden
from tests.masking.survey import drawn

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=200_000, nullable=True),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south", "west"), nullable=True),
    "health": Variable(name="health", kind=Kind.ORDINAL, categories=("bad", "fair", "good"), nullable=True),
    "other": Variable(name="other", kind=Kind.CONTINUOUS),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    income = np.random.default_rng(seed).lognormal(10, 0.5, n)
    frame = drawn(VARIABLES, n, seed, 0.2)
    return frame.assign(income=frame["income"].where(frame["income"].isna(), income))


@given(
    values=st.lists(st.one_of(st.floats(-1e9, 1e9).map(lambda amount: round(amount, 6)), st.integers(0, 4).map(float),
                              st.floats(1e-6, 1.0)), min_size=2, max_size=50, unique=True),
    seed=st.integers(0, 1000),
)  # fmt: skip
def test_draws_are_finite_and_follow_the_ranks(values: list[float], seed: int) -> None:
    original = np.array(values, dtype=float)
    masked = distorted(original, nearest_family(original), True, np.random.default_rng(seed))
    assert np.isfinite(masked).all()
    assert (np.diff(masked[np.argsort(original)]) >= 0).all()


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


POSITIVE = ["gamma", "weibull", "log_normal", "chi_square"]


@pytest.mark.parametrize("family", [None, "poisson", "exponential", *POSITIVE])
def test_values_that_a_family_does_not_have_are_refused(family: str | None) -> None:
    huge, rest = [1e308, -1e308, 0.0], [-1.5, 2.0, 3.0]
    frame = pd.DataFrame({"other": rest if family else huge})
    with golden.raises(PlanError):
        DataDistortion.model_validate(
            {"columns": ("other",), "distributions": {"other": family} if family else {}}
        ).mask(frame, VARIABLES, np.random.default_rng(0))
