"""Multiple imputation. The regression is compared with the certified values of NIST."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.synthesis.multiple_imputation import MultipleImputation, predictors, regression_draws
from tests.golden import golden
from tests.masking.survey import drawn

# Longley 1967 as in NIST's Statistical Reference Datasets (longley.dat): employment on GNP deflator, GNP, unemployed,
# armed forces, population, year. Nearly collinear.
LONGLEY = np.array([
    [60323, 83.0, 234289, 2356, 1590, 107608, 1947], [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
    [60171, 88.2, 258054, 3682, 1616, 109773, 1949], [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
    [63221, 96.2, 328975, 2099, 3099, 112075, 1951], [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
    [64989, 99.0, 365385, 1870, 3547, 115094, 1953], [63761, 100.0, 363112, 3578, 3350, 116219, 1954],
    [66019, 101.2, 397469, 2904, 3048, 117388, 1955], [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
    [68169, 108.4, 442769, 2936, 2798, 120445, 1957], [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
    [68655, 112.6, 482704, 3813, 2552, 123366, 1959], [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
    [69331, 115.7, 518173, 4806, 2572, 127852, 1961], [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
])  # fmt: skip
# Certified: B0 to B6 and the residual standard deviation.
CERTIFIED = np.array([
    -3482258.63459582, 15.0618722713733, -0.0358191792925910, -2.02022980381683, -1.03322686717359,
    -0.0511041056535807, 1829.15146461355,
])  # fmt: skip
CERTIFIED_DEVIATION = 304.854073561965

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, nullable=True, max_missing_share=0.5),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
    "size": Variable(name="size", kind=Kind.CONTINUOUS, minimum=20, maximum=80, nullable=True),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south", "west"), nullable=True),
    "since": Variable(name="since", kind=Kind.DATE),
    "home": Variable(name="home", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed, 0.2)


class Still:
    """A generator that draws the centre of every law: what is left of a draw is the regression's value."""

    def standard_normal(self, size: int | None = None) -> np.ndarray:
        return np.zeros(size or 1)

    def chisquare(self, freedom: int) -> float:
        return float(freedom)


def test_the_regression_is_the_certified_one_of_nist() -> None:
    wanted = np.array([[100.0, 380_000, 3200, 2600, 117_000, 1954.5], [120.0, 560_000, 4000, 2900, 131_000, 1963.0]])
    drawn = regression_draws(LONGLEY[:, 1:], LONGLEY[:, 0], wanted, Still())  # type: ignore[arg-type]
    assert drawn == pytest.approx(CERTIFIED[0] + wanted @ CERTIFIED[1:], rel=1e-8)


def test_draws_follow_the_predictive_law() -> None:
    """(draw - prediction) / (s sqrt(1 + h)) is Student's t on n - 7 = 9 degrees of freedom, h the leverage of the new
    point; prediction and s from NIST's certified values."""
    rng = np.random.default_rng(0)
    point = np.array([[118.0, 530_000, 4300, 2900, 130_500, 1962.5]])
    design = np.column_stack([np.ones(16), (LONGLEY[:, 1:] - LONGLEY[:, 1:].mean(axis=0)) / LONGLEY[:, 1:].std(axis=0)])
    at = np.append(1.0, (point[0] - LONGLEY[:, 1:].mean(axis=0)) / LONGLEY[:, 1:].std(axis=0))
    leverage = at @ np.linalg.solve(design.T @ design, at)
    draws = np.array([regression_draws(LONGLEY[:, 1:], LONGLEY[:, 0], point, rng)[0] for _ in range(2000)])
    prediction = CERTIFIED[0] + point[0] @ CERTIFIED[1:]
    scaled = (draws - prediction) / (CERTIFIED_DEVIATION * np.sqrt(1 + leverage))
    assert stats.kstest(scaled, stats.t(9).cdf).pvalue > 1e-3


def test_draws_at_one_regression_share_its_parameters() -> None:
    """Parameters are drawn once: two draws at one point have covariance s^2 h, not 0, and variance s^2 (1 + h),
    apart from the factor 9 / 7 of the chi-square."""
    rng = np.random.default_rng(1)
    point = np.repeat(LONGLEY[:1, 1:], 2, axis=0)
    draws = np.array([regression_draws(LONGLEY[:, 1:], LONGLEY[:, 0], point, rng) for _ in range(3000)])
    design = np.column_stack([np.ones(16), LONGLEY[:, 1:]])
    leverage = (np.linalg.qr(design / design.std(axis=0).clip(1))[0] ** 2).sum(axis=1)[0]
    covariance = np.cov(draws.T) / CERTIFIED_DEVIATION**2 * 7 / 9
    assert covariance[0, 1] == pytest.approx(leverage, rel=0.15)
    assert covariance[0, 0] == pytest.approx(1 + leverage, rel=0.08)


def test_simulated_columns_keep_means_variances_and_relations() -> None:
    rng = np.random.default_rng(2)
    n = 40_000
    size, group = rng.normal(50, 10, n), rng.integers(0, 3, n)
    income = 1000 + 20 * size + np.array([0.0, 300.0, -200.0])[group] + rng.normal(0, 150, n)
    debt = 5 + 0.3 * income - 4 * size + rng.normal(0, 60, n)
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("income", "debt", "size")}
    variables["area"] = Variable(name="area", kind=Kind.NOMINAL, categories=("a", "b", "c"))
    frame = pd.DataFrame(
        {
            "income": income,
            "debt": debt,
            "size": size,
            "area": pd.Categorical.from_codes(group, categories=["a", "b", "c"]),
        }
    )
    masked = MultipleImputation(columns=("income", "debt")).mask(frame, variables, rng)
    assert (masked["income"] != frame["income"]).all()
    names = ["income", "debt", "size"]
    assert masked[names].mean().to_list() == pytest.approx(frame[names].mean().to_list(), rel=0.01)
    assert np.cov(masked[names].T) == pytest.approx(np.cov(frame[names].T), rel=0.05)
    before, after = (each.groupby("area", observed=True)["income"].mean() for each in (frame, masked))
    assert after.to_numpy() == pytest.approx(before.to_numpy(), abs=10)
    # Drawn on the predictors: what the regression does not explain is new.
    left = [each["income"] - 20 * size - np.array([0.0, 300.0, -200.0])[group] for each in (frame, masked)]
    assert np.corrcoef(*left)[0, 1] == pytest.approx(0, abs=0.03)


def test_missing_values_are_filled_without_the_bias_of_leaving_them_out() -> None:
    """Values are missing where the predictor is high: the mean of those left is wrong by far, the filled one is not."""
    rng = np.random.default_rng(3)
    n = 20_000
    size = rng.normal(0, 1, n)
    income = 100 + 10 * size + rng.normal(0, 3, n)
    gaps = rng.random(n) < 1 / (1 + np.exp(-2 * size))
    frame = pd.DataFrame({"income": np.where(gaps, np.nan, income), "size": size})
    variables = {"income": VARIABLES["income"], "size": Variable(name="size", kind=Kind.CONTINUOUS)}
    filled = MultipleImputation(columns=("income",), what="missing").mask(frame, variables, rng)["income"]
    assert abs(frame["income"].mean() - income.mean()) > 3
    assert filled.mean() == pytest.approx(income.mean(), abs=0.3)
    assert filled.std() == pytest.approx(income.std(), rel=0.03)
    assert filled[~gaps].tolist() == frame["income"][~gaps].tolist()


def test_columns_with_gaps_are_filled_on_each_other() -> None:
    rng = np.random.default_rng(4)
    pair = rng.multivariate_normal([0, 5], [[1, 0.9], [0.9, 1]], 20_000)
    gaps = rng.random(pair.shape) < 0.3
    frame = pd.DataFrame(np.where(gaps, np.nan, pair), columns=["a", "b"])
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, nullable=True) for name in ("a", "b")}
    swept = MultipleImputation(columns=("a", "b"), what="missing").mask(frame, variables, rng)
    for part in (gaps[:, 0] & ~gaps[:, 1], ~gaps[:, 0] & gaps[:, 1], gaps.all(axis=1)):
        assert np.corrcoef(swept[part].T)[0, 1] == pytest.approx(0.9, abs=0.03)
    once = MultipleImputation(columns=("a", "b"), what="missing", sweeps=0).mask(frame, variables, rng)
    part = gaps[:, 0] & ~gaps[:, 1]
    assert np.corrcoef(once[part].T)[0, 1] == pytest.approx(0, abs=0.05)  # a was drawn before b was looked at


@given(n=st.integers(30, 60), seed=st.integers(0, 1000), share=st.sampled_from([1.0, 0.4]))
def test_so_many_values_are_drawn_anew_and_all_gaps_filled(n: int, seed: int, share: float) -> None:
    frame, rng = survey(n, seed), np.random.default_rng(seed)
    there = frame["income"].notna()
    for step, drawn_anew in (
        (MultipleImputation(columns=("income", "age"), share=share), np.rint(share * there.sum())),
        (MultipleImputation(columns=("income", "age"), what="missing"), 0),
    ):
        masked, released = step.mask(frame, VARIABLES, rng), step.released(VARIABLES)
        assert masked[["income", "age"]].notna().all(axis=None)
        assert (released["income"].nullable, released["income"].max_missing_share) == (False, None)
        assert (masked["income"] != frame["income"])[there].sum() == drawn_anew


def test_default_predictors_are_named_by_the_fitted_step() -> None:
    step = MultipleImputation(columns=("income",))
    fitted = step.fit(survey(30), VARIABLES)[0]
    assert fitted.given == ("age", "size", "area")  # neither the date nor the household's number
    assert fitted.parameters() == {"what": "all", "share": 1.0, "given": ["age", "size", "area"], "imputations": 1}
    assert "age, size, area" in fitted.describe()


def test_predictors_are_dummies_and_gaps_are_categories() -> None:
    frame = survey(3).assign(
        size=[1.0, np.nan, 4.0], area=pd.Categorical(["west", None, "north"], categories=["north", "south", "west"])
    )
    coded = predictors(frame, ["size", "area"])
    # size, its dummy, then "north" and "west"; the missing category comes first and is the base
    assert coded.tolist() == [[1.0, 0.0, 0.0, 1.0], [2.5, 1.0, 0.0, 0.0], [4.0, 0.0, 1.0, 0.0]]


def test_collinear_predictors_are_counted_once() -> None:
    """A total beside its parts, and one part twice in another unit: the draws are those without the surplus."""
    rng = np.random.default_rng(5)
    parts = rng.lognormal(3, 1, (50, 2))
    response = parts @ [2.0, -1.0] + rng.normal(0, 1, 50)
    surplus = np.column_stack([parts, parts.sum(axis=1), 1e6 * parts[:, 0], np.full(50, 7.0)])
    plain = regression_draws(parts, response, parts, Still())  # type: ignore[arg-type]
    assert regression_draws(surplus, response, surplus, Still()) == pytest.approx(plain, rel=1e-6)  # type: ignore[arg-type]


def test_without_predictors_and_without_anything_to_predict() -> None:
    rng = np.random.default_rng(0)
    frame = survey(30)
    # No predictors: draws from a normal distribution with the posterior's mean and variance.
    alone = MultipleImputation(columns=("size",), given=()).mask(frame, VARIABLES, rng)["size"]
    assert alone.notna().all()
    assert abs(alone.mean() - 50) < 12
    complete = frame.assign(size=np.arange(30.0))
    untouched = MultipleImputation(columns=("size",), what="missing").mask(complete, VARIABLES, rng)
    assert untouched["size"].tolist() == complete["size"].tolist()
    blank = frame.assign(size=np.nan)  # a predictor without any value tells nothing
    assert MultipleImputation(columns=("income",)).mask(blank, VARIABLES, rng)["income"].notna().all()


TOLD = survey(50).assign(size=np.arange(50.0), income=3.0 * np.arange(50.0) + 1)  # exactly, by the size


@pytest.mark.parametrize(
    ("step", "frame"),
    [
        ({}, survey(4).assign(income=[1.0, 2, 3, 4], size=[1.0, 3, 2, 5])),
        ({"what": "missing"}, survey(4).assign(income=[1.0, np.nan, np.nan, np.nan])),
        ({"given": ("size",)}, TOLD),
        ({"columns": ("size",), "given": ()}, survey(50).assign(size=np.geomspace(1e300, 1.7e308, 50))),
    ],
)
def test_refusals(step: dict[str, object], frame: pd.DataFrame) -> None:
    with golden.raises(PlanError):
        MultipleImputation.model_validate({"columns": ("income",)} | step).mask(
            frame, VARIABLES, np.random.default_rng(0)
        )


def test_a_gap_whose_value_is_told_exactly_has_that_value() -> None:
    told = TOLD.copy()
    told.iloc[3, 0] = np.nan
    step = MultipleImputation(columns=("income",), given=("size",), what="missing")
    assert step.mask(told, VARIABLES, np.random.default_rng(0))["income"].iloc[3] == pytest.approx(10.0)
