"""Data distortion by probability distribution: published fits, and scipy's own as independent ones."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from sluice.errors import PlanError
from sluice.masking.synthesis.data_distortion import (
    DataDistortion,
    distorted,
    fitted_distribution,
    kolmogorov_smirnov,
    nearest_family,
    redrawn,
)
from sluice.variables import Kind, Variable

BALL_BEARINGS = np.array([
    17.88, 28.92, 33.00, 41.52, 42.12, 45.60, 48.48, 51.84, 51.96, 54.12, 55.56, 67.80, 68.64, 68.64, 68.88, 84.12,
    93.12, 98.64, 105.12, 105.84, 127.92, 128.04, 173.40,
])  # fmt: skip
HORSE_KICKS = np.repeat(np.arange(5.0), [109, 65, 22, 3, 1])

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


def test_the_weibull_of_the_ball_bearings() -> None:
    """Lieblein and Zelen 1956; maximum likelihood 2.102 and 81.88 in Lawless, Statistical Models and Methods for
    Lifetime Data. The estimates are in the literature to these digits."""
    fit = fitted_distribution(BALL_BEARINGS, "weibull")
    assert fit.args[0] == pytest.approx(2.102, abs=5e-4)
    assert fit.kwds["scale"] == pytest.approx(81.88, abs=5e-3)


def test_deaths_by_horse_kick_are_poisson() -> None:
    """Bortkiewicz 1898: 122 deaths in 200 corps-years, mean 0.61, the text-book Poisson. Expected counts are 108.7,
    66.3, 20.2, 4.1 and 0.6, so the distribution functions differ most after 1: 174 / 200 against 0.8748."""
    assert nearest_family(HORSE_KICKS) == "poisson"
    fit = fitted_distribution(HORSE_KICKS, "poisson")
    assert fit.args == (0.61,)
    assert 200 * fit.pmf(np.arange(5)) == pytest.approx([108.7, 66.3, 20.2, 4.1, 0.6], abs=0.05)
    assert kolmogorov_smirnov(HORSE_KICKS, fit) == pytest.approx(abs(174 / 200 - 0.87479), abs=1e-4)


def test_maximum_likelihood_fits_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    for values in (BALL_BEARINGS, rng.gamma(0.3, 5, 400), rng.lognormal(8, 2, 400), 1000 + rng.random(50)):
        shape, _, scale = stats.gamma.fit(values, floc=0)
        assert (
            fitted_distribution(values, "gamma").args[0],
            fitted_distribution(values, "gamma").kwds["scale"],
        ) == pytest.approx((shape, scale), rel=1e-6)
        shape, _, scale = stats.weibull_min.fit(values, floc=0, method="MLE", optimizer=_fine)
        assert fitted_distribution(values, "weibull").args[0] == pytest.approx(shape, rel=1e-3)
        assert fitted_distribution(values, "weibull").kwds["scale"] == pytest.approx(scale, rel=1e-3)
        shape, _, scale = stats.lognorm.fit(values, floc=0)
        assert fitted_distribution(values, "log_normal").args[0] == pytest.approx(shape, rel=1e-3)
        assert fitted_distribution(values, "log_normal").kwds["scale"] == pytest.approx(scale, rel=1e-3)
        assert fitted_distribution(values, "normal").args == pytest.approx(stats.norm.fit(values))
        assert fitted_distribution(values, "exponential").kwds["scale"] == pytest.approx(
            stats.expon.fit(values, floc=0)[1]
        )


def _fine(function, start, args=(), disp=0):  # type: ignore[no-untyped-def]
    """scipy's default tolerance is too coarse to be compared with."""
    from scipy.optimize import fmin

    return fmin(function, start, args=args, disp=disp, xtol=1e-10, ftol=1e-10, maxiter=4000, maxfun=4000)


def test_fits_by_moments_have_the_moments() -> None:
    rng = np.random.default_rng(1)
    for mode in (0.0, 0.2, 0.5, 0.9):
        values = rng.triangular(3, 3 + 4 * mode, 7, 2000)
        skewness = np.clip(stats.skew(values), -0.4 * np.sqrt(2), 0.4 * np.sqrt(2))
        fit = fitted_distribution(values, "triangular")
        assert fit.stats("mvs") == pytest.approx((values.mean(), values.var(), skewness), rel=1e-5, abs=1e-5)
        assert (fit.support()[0], fit.support()[1]) == pytest.approx((3, 7), abs=0.4)
    values = rng.uniform(-2, 5, 2000)
    assert fitted_distribution(values, "uniform").stats("mv") == pytest.approx((values.mean(), values.var()))
    assert fitted_distribution(rng.chisquare(6, 2000), "chi_square").args[0] == pytest.approx(6, abs=0.2)


def test_the_distance_is_that_of_scipy_and_of_large_files_right_to_its_bound() -> None:
    rng = np.random.default_rng(2)
    for n in (1, 2, 57, 10_000, 34_567):
        ranked = np.sort(np.round(rng.normal(size=n), 2))  # with ties
        ours, theirs = kolmogorov_smirnov(ranked, stats.norm(0.1, 1)), stats.kstest(ranked, stats.norm(0.1, 1).cdf)
        assert ours == pytest.approx(theirs.statistic, abs=1e-12 if n <= 10_000 else 1e-4)
        assert ours <= theirs.statistic + 1e-12


@pytest.mark.parametrize(
    ("family", "values"),
    [
        ("poisson", stats.poisson(7)),
        ("normal", stats.norm(-3, 2)),
        ("gamma", stats.gamma(2.5, scale=3)),
        ("weibull", stats.weibull_min(3.5, scale=8)),
        ("log_normal", stats.lognorm(0.9, scale=5)),
        ("uniform", stats.uniform(-4, 9)),
        ("triangular", stats.triang(0.3, -1, 6)),
    ],
)
def test_each_family_is_found_again(family: str, values: stats.rv_continuous) -> None:
    drawn = values.rvs(size=20_000, random_state=np.random.default_rng(3)).astype(float)
    assert nearest_family(drawn) == family
    assert kolmogorov_smirnov(np.sort(drawn), fitted_distribution(drawn, family)) < 0.011  # type: ignore[arg-type]


def test_values_of_a_special_case_get_a_family_that_holds_it() -> None:
    """Gamma and Weibull contain the exponential, gamma the chi-square; with a parameter more they may be nearer."""
    drawn = np.random.default_rng(4).exponential(3, 5000)
    assert nearest_family(drawn) in ("exponential", "gamma", "weibull")
    assert nearest_family(np.random.default_rng(5).chisquare(5, 5000)) in ("chi_square", "gamma")
    assert nearest_family(np.append(drawn, 0.0)) == "exponential"


_amount = st.floats(-1e9, 1e9).map(lambda amount: round(amount, 6))


@settings(max_examples=60, deadline=None)
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


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("clip", [False, True])
def test_the_step_keeps_gaps_types_index_and_other_columns(whole: bool, clip: bool) -> None:
    frame = survey(300)
    kept = frame.copy()
    step = DataDistortion(columns=("income", "age", "area", "health"), round=whole, clip=clip)
    masked, released = step.mask(frame, VARIABLES, np.random.default_rng(1)), step.released(VARIABLES)
    pd.testing.assert_frame_equal(frame, kept)
    assert list(masked) == list(released) == list(frame)
    assert masked.index.equals(frame.index)
    assert masked.isna().equals(frame.isna())
    assert masked["other"].equals(frame["other"])
    assert released["age"].kind is (Kind.INTEGER if whole else Kind.CONTINUOUS)
    assert str(masked["age"].dtype) == ("Int64" if whole else "float64")
    assert masked["area"].dtype == frame["area"].dtype
    assert masked["health"].dtype == frame["health"].dtype
    assert (masked["income"].dropna() != frame["income"].dropna()).all()
    assert released["age"].maximum == (90 if clip else None)
    if clip:
        assert masked["age"].dropna().between(18, 90).all()


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
    with pytest.raises(ValidationError, match=r"names 'incme', which is not among its columns. Did you mean 'income'"):
        DataDistortion(columns=("income",), distributions={"incme": "normal"})
    with pytest.raises(ValidationError, match="distributions"):
        DataDistortion(columns=("income",), distributions={"income": "cauchy"})  # type: ignore[dict-item]
    with pytest.raises(PlanError, match=r"on 'area' is for numbers; it is nominal, and is drawn from the shares"):
        DataDistortion(columns=("area",), distributions={"area": "normal"}).released(VARIABLES)
    dated = VARIABLES | {"other": Variable(name="other", kind=Kind.DATE)}
    with pytest.raises(PlanError, match="data_distortion on 'other' takes continuous, integer, ordinal, nominal"):
        DataDistortion(columns=("other",)).released(dated)
    one = survey(4).assign(income=[1.0, np.nan, np.nan, np.nan])
    with pytest.raises(PlanError, match="data_distortion on 'income' needs at least 2 values to fit; it has 1"):
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
    with pytest.raises(PlanError, match="too large"):
        DataDistortion(columns=("other",)).mask(huge, VARIABLES, rng)


def test_the_description_tells_the_order() -> None:
    assert "in the order of the original values" in DataDistortion(columns=("income",)).describe()
    assert "in random order" in DataDistortion(columns=("income",), map_by_rank=False).describe()
