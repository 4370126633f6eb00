"""IPSO. The published counts are in tests/published; here, estimates by NumPy's least squares."""

from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.synthesis.ipso import Ipso, ipso, regressors
from tests.golden import golden
from tests.masking.survey import drawn

FloatArray = npt.NDArray[np.float64]
RNG = np.random.default_rng(0)
VARIABLES = {
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=16, maximum=90),
    "rent": Variable(name="rent", kind=Kind.CONTINUOUS, minimum=0),
    "income": Variable(name="income", kind=Kind.CONTINUOUS),
    "illness": Variable(name="illness", kind=Kind.NOMINAL, categories=("a", "b", "c")),
}


def people(records: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, records, seed)


def estimates(y: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients (the shortest, if x is collinear) and the maximum likelihood covariance of the residuals."""
    design = np.column_stack([np.ones(len(x)), x])
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    residuals = y - design @ coefficients
    return coefficients, residuals.T @ residuals / len(x)


@given(
    st.integers(12, 60),
    st.integers(1, 3),
    st.integers(1, 4),
    st.sampled_from(["B", "C"]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_the_estimates_are_kept(
    records: int, columns: int, regressed: int, variant: Literal["B", "C"], collinear: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(records, regressed)) * 10.0 ** rng.integers(-3, 4, regressed)
    y = rng.normal(size=(records, columns)) + x[:, :1] / x[:, 0].std()
    if collinear:  # a total and its parts on either side, and a constant
        x = np.column_stack([x, x.sum(axis=1), np.full(records, 7.0)])
        y = np.column_stack([y, y.sum(axis=1)])
    masked = ipso(y, x, variant, np.random.default_rng(seed))
    (_, covariance), (_, again) = estimates(y, x), estimates(masked, x)
    design = np.column_stack([np.ones(records), x])
    # With collinear regressors the coefficients are not unique; what they predict is.
    fitted, fitted_again = (design @ np.linalg.pinv(design) @ values for values in (y, masked))
    np.testing.assert_allclose(fitted_again, fitted, atol=1e-9 * np.abs(y).max())
    if variant == "C":
        np.testing.assert_allclose(again, covariance, atol=1e-9 * np.abs(covariance).max())
        np.testing.assert_allclose(np.cov(masked.T), np.cov(y.T), atol=1e-9 * np.abs(y).max() ** 2)
    if collinear:
        np.testing.assert_allclose(masked[:, -1], masked[:, :-1].sum(axis=1), atol=1e-4 * np.abs(y).max())
    assert np.abs(masked - y).max() > 1e-3


def test_coefficients_through_the_frame() -> None:
    frame = people(400)
    before = frame.copy()
    step = Ipso(columns=("age", "rent"), given=("income", "illness"), variant="C")
    masked = step.mask(frame, VARIABLES, RNG)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(masked[["income", "illness"]], frame[["income", "illness"]])
    dummies = np.column_stack([frame["income"], frame["illness"] == "b", frame["illness"] == "c"]).astype(float)
    for one, other in zip(
        estimates(frame[["age", "rent"]].to_numpy(float), dummies),
        estimates(masked[["age", "rent"]].to_numpy(float), dummies),
        strict=True,
    ):
        np.testing.assert_allclose(other, one, rtol=1e-9)
    assert masked["age"].dtype == "float64"
    assert step.released(VARIABLES)["age"].kind is Kind.CONTINUOUS
    assert step.released(VARIABLES)["rent"].minimum is None


def test_a_keeps_the_estimates_but_for_chance_and_fitted_values_lie_on_the_plane() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50_000, 2))
    y = x @ np.array([[1.0, 2.0], [0.0, -1.0]]) + rng.normal(size=(50_000, 2)) @ np.array([[1.0, 0.5], [0.0, 2.0]])
    coefficients, covariance = estimates(y, x)
    drawn = ipso(y, x, "A", rng)
    again, covariance_again = estimates(drawn, x)
    # Standard errors are sqrt(4.25 / n) = .0092 and at most 4.25 sqrt(2 / n) = .0269: five of them.
    assert np.abs(again - coefficients).max() < 0.046
    assert np.abs(covariance_again - covariance).max() < 0.135
    assert np.abs(again - coefficients).max() > 1e-9
    fitted = ipso(y, x, "A", rng, errors=False)
    np.testing.assert_allclose(fitted, np.column_stack([np.ones(len(x)), x]) @ coefficients, atol=1e-10)


def test_missing_values() -> None:
    frame = people(300)
    frame.loc[frame.index[:40], "age"] = pd.NA
    frame.loc[frame.index[30:60], "income"] = np.nan
    frame.loc[frame.index[50:80], "illness"] = np.nan
    masked = Ipso(columns=("age", "rent"), given=("income", "illness")).mask(frame, VARIABLES, RNG)
    assert masked["age"].isna().tolist() == frame["age"].isna().tolist()
    assert masked["rent"].notna().all()
    assert not np.isclose(masked["rent"], frame["rent"]).any()
    complete = frame["age"].notna().to_numpy()
    x = regressors(frame, VARIABLES, ("income", "illness"))[complete]
    assert x.shape == (260, 6)  # income, its indicator, three categories, missing
    assert np.isfinite(x).all()
    both = [f.loc[complete, ["age", "rent"]].to_numpy(float) for f in (frame, masked)]
    for one, other in zip(*(estimates(y, x) for y in both), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)


def test_constants_and_huge_values() -> None:
    frame = people(50).assign(age=pd.array([40] * 50, dtype="Int64"), income=5.0)
    masked = Ipso(columns=("age",), given=("income",)).mask(frame, VARIABLES, RNG)
    np.testing.assert_allclose(masked["age"].to_numpy(), 40.0)
    huge = RNG.normal(size=(50, 2)) * 1e300
    masked_huge = ipso(huge, huge[:, ::-1] * 1e-5 + 1e295 * RNG.normal(size=(50, 2)), "C", RNG)
    assert np.isfinite(masked_huge).all()


def test_one_record_more_than_needed_is_enough() -> None:
    x, y = RNG.normal(size=(9, 3)), RNG.normal(size=(9, 2))
    with golden.raises(PlanError):
        ipso(y[:6], x[:6], "C", RNG)
    _, covariance = estimates(y[:7], x[:7])
    np.testing.assert_allclose(estimates(ipso(y[:7], x[:7], "C", RNG), x[:7])[1], covariance, atol=1e-9)


def test_a_column_that_given_determines_is_refused() -> None:
    frame = people(100)
    frame["rent"] = 2 * frame["income"] + 1
    step = Ipso(columns=("age", "rent"), given=("income",))
    with golden.raises(PlanError):
        step.mask(frame, VARIABLES, RNG)
    with golden.raises(PlanError):
        step.mask(people(1), VARIABLES, RNG)


def test_a_record_alone_in_its_category_is_refused() -> None:
    frame = people(100)
    frame["illness"] = pd.Categorical(["c"] + ["a", "b"] * 49 + ["a"], categories=["a", "b", "c"])
    for variant in ("B", "C"):
        step = Ipso.model_validate({"columns": ("age",), "given": ("illness",), "variant": variant})
        with golden.raises(PlanError):
            step.mask(frame, VARIABLES, RNG)
    by_chance = Ipso(columns=("age",), given=("illness",), variant="A").mask(frame, VARIABLES, RNG)
    assert abs(by_chance["age"].iloc[0] - frame["age"].iloc[0]) > 1e-3
    bare = Ipso(columns=("age",), given=("illness",), variant="A", errors="none")
    with golden.raises(PlanError):
        bare.mask(frame, VARIABLES, RNG)
