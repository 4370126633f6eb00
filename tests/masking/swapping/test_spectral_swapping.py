"""Spectral swapping. Published figures: tests/published/test_lasko_vinterbo_masking.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.swapping.spectral_swapping import SpectralSwapping, spectral_swap
from tests.golden import golden
from tests.masking.survey import drawn


@given(
    n=st.integers(2, 200), m=st.integers(1, 8), seed=st.integers(0, 1000), shape=st.sampled_from(["full", "constant"])
)
def test_each_spectral_coordinate_keeps_its_values_and_the_means_stay(n: int, m: int, seed: int, shape: str) -> None:
    """Against NumPy's own SVD: on every axis of V, the released coordinates are the original ones in another order."""
    rng = np.random.default_rng(seed)
    coded = rng.normal(size=(n, m)) * np.arange(1, m + 1) + 3.0  # distinct singular values
    if shape == "constant":
        coded[:, 0] = 0.1
    swapped = spectral_swap(coded, rng)
    assert swapped.mean(axis=0) == pytest.approx(coded.mean(axis=0), abs=1e-12)
    if shape == "constant":
        assert swapped[:, 0] == pytest.approx(0.1, abs=1e-12)
    centred = coded - coded.mean(axis=0)
    _, singular_values, axes = np.linalg.svd(centred, full_matrices=False)
    before, after = centred @ axes.T, (swapped - coded.mean(axis=0)) @ axes.T
    well_determined = singular_values > 1e-6
    if len(singular_values) > 1:
        gaps = np.abs(np.subtract.outer(singular_values, singular_values)) + np.diag(
            np.full(len(singular_values), np.inf)
        )
        well_determined &= gaps.min(axis=1) > 0.05
    for axis in np.flatnonzero(well_determined):
        assert np.sort(after[:, axis]) == pytest.approx(np.sort(before[:, axis]), abs=1e-8)


def test_covariances_are_kept_and_records_are_not() -> None:
    rng = np.random.default_rng(0)
    coded = rng.normal(size=(20_000, 4)) @ rng.normal(size=(4, 4))
    swapped = spectral_swap(coded, rng)
    scale = np.sqrt(np.outer(coded.var(axis=0), coded.var(axis=0)))
    assert (np.cov(swapped.T) - np.cov(coded.T)) / scale == pytest.approx(0, abs=0.03)
    # A record has nothing to do with the one in its place.
    same_place = [np.corrcoef(coded[:, j], swapped[:, j])[0, 1] for j in range(4)]
    assert same_place == pytest.approx([0] * 4, abs=0.03)


def test_one_column_is_permuted() -> None:
    values = np.random.default_rng(0).normal(size=(50, 1))
    swapped = spectral_swap(values, np.random.default_rng(1))
    assert np.sort(swapped[:, 0]) == pytest.approx(np.sort(values[:, 0]))
    assert not np.allclose(swapped, values)


# --- the step -------------------------------------------------------------------------------------------------------

VARIABLES = {
    "id": Variable(name="id", kind=Kind.TEXT, role=Role.IDENTIFIER),
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=1, maximum=500),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=("none", "small", "medium", "large"), nullable=True),
    "area": Variable(
        name="area",
        kind=Kind.NOMINAL,
        role=Role.QUASI_IDENTIFIER,
        categories=("north", "west", "south", "sea"),
        labels={"north": "the North"},
    ),
    "smoker": Variable(name="smoker", kind=Kind.BINARY, categories=("no", "yes")),
}
ALL = ("income", "age", "size", "area", "smoker")


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=n)
    age = np.clip(50 + 15 * trait + rng.normal(0, 5, n), 18, 90).astype(int)
    return drawn(VARIABLES, n, seed).assign(
        income=np.exp(3 + 0.5 * trait + rng.normal(0, 0.3, n)).clip(1, 500),
        age=pd.array(age, dtype="Int64"),
        area=pd.Categorical.from_codes(rng.integers(0, 3, n), categories=["north", "west", "south", "sea"]),
        smoker=pd.Categorical.from_codes((trait + rng.normal(size=n) > 0).astype(int), categories=["no", "yes"]),
    )


@given(n=st.integers(2, 80), seed=st.integers(0, 1000), log=st.sampled_from([(), ("income",)]))
def test_probabilities_and_logarithms_stay_possible(n: int, seed: int, log: tuple[str, ...]) -> None:
    frame = survey(n, seed)
    step = SpectralSwapping(columns=ALL, categories="probabilities", log=log)
    masked = step.mask(frame, VARIABLES, np.random.default_rng(seed))
    assert not log or (masked["income"] > 0).all()
    parts = masked[["area=north", "area=west", "area=south", "area=sea"]]
    assert parts.sum(axis=1).to_numpy() == pytest.approx(1)
    assert parts.min(axis=None) >= 0
    assert (parts["area=sea"] == 0).all()  # no record has it


def test_associations_survive_and_means_are_kept() -> None:
    frame = survey(4000)
    masked = SpectralSwapping(columns=ALL, log=("income",)).mask(frame, VARIABLES, np.random.default_rng(1))
    assert masked["age"].mean() == pytest.approx(frame["age"].mean(), abs=0.05)
    assert np.log(masked["income"]).mean() == pytest.approx(np.log(frame["income"]).mean(), abs=1e-12)
    for data in (frame, masked):
        assert np.corrcoef(np.log(data["income"]), data["age"].astype(float))[0, 1] == pytest.approx(0.8, abs=0.06)
    by_smoking = [data.groupby("smoker", observed=True)["age"].mean() for data in (frame, masked)]
    assert by_smoking[1]["yes"] - by_smoking[1]["no"] == pytest.approx(
        by_smoking[0]["yes"] - by_smoking[0]["no"], abs=4
    )


def test_released_descriptions() -> None:
    released = SpectralSwapping(columns=ALL, categories="probabilities").released(VARIABLES)
    assert list(released) == [
        "id", "income", "age", "size", "area=north", "area=west", "area=south", "area=sea", "smoker"
    ]  # fmt: skip
    north = released["area=north"]
    assert (north.kind, north.role, north.minimum, north.maximum) == (Kind.CONTINUOUS, Role.QUASI_IDENTIFIER, 0, 1)
    assert north.description == "probability that area is the North"
    assert (released["income"].minimum, released["income"].maximum) == (None, None)
    assert released["age"].kind is Kind.INTEGER
    assert not released["age"].nullable
    assert SpectralSwapping(columns=ALL, clip=True).released(VARIABLES)["age"].maximum == 90


def test_logarithms_are_of_numbers_above_zero() -> None:
    zeros = survey(20).assign(income=[0.0, -1.0, *range(1, 19)])
    with golden.raises(PlanError):
        SpectralSwapping(columns=("income",), log=("income",)).mask(zeros, VARIABLES, np.random.default_rng(0))
