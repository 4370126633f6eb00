"""Distribution families: published fits, and scipy's own as independent ones."""

import numpy as np
import pytest
from scipy import stats

from sluice.masking.synthesis.distribution_families import fitted_distribution, kolmogorov_smirnov, nearest_family

BALL_BEARINGS = np.array([
    17.88, 28.92, 33.00, 41.52, 42.12, 45.60, 48.48, 51.84, 51.96, 54.12, 55.56, 67.80, 68.64, 68.64, 68.88, 84.12,
    93.12, 98.64, 105.12, 105.84, 127.92, 128.04, 173.40,
])  # fmt: skip
HORSE_KICKS = np.repeat(np.arange(5.0), [109, 65, 22, 3, 1])


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


def _fine(function, start, args=(), disp=0):  # type: ignore[no-untyped-def]
    """scipy's default tolerance is too coarse to be compared with."""
    from scipy.optimize import fmin

    return fmin(function, start, args=args, disp=disp, xtol=1e-10, ftol=1e-10, maxiter=4000, maxfun=4000)


@pytest.mark.parametrize(
    ("family", "of_scipy", "options", "within"),
    [
        ("gamma", stats.gamma, {"floc": 0}, 1e-6),
        ("weibull", stats.weibull_min, {"floc": 0, "method": "MLE", "optimizer": _fine}, 1e-3),
        ("log_normal", stats.lognorm, {"floc": 0}, 1e-3),
        ("normal", stats.norm, {}, 1e-6),
        ("exponential", stats.expon, {"floc": 0}, 1e-6),
    ],
)
def test_maximum_likelihood_fits_are_those_of_scipy(family, of_scipy, options, within):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    for values in (BALL_BEARINGS, rng.gamma(0.3, 5, 400), rng.lognormal(8, 2, 400), 1000 + rng.random(50)):
        theirs, ours = of_scipy.fit(values, **options), fitted_distribution(values, family)
        assert of_scipy(*theirs).stats("mv") == pytest.approx(ours.stats("mv"), rel=max(100 * within, 1e-5))
        if family in ("gamma", "weibull", "log_normal"):
            assert (ours.args[0], ours.kwds["scale"]) == pytest.approx((theirs[0], theirs[2]), rel=within)


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
