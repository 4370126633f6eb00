"""What holds for every method of clustering: clusters of k, true generalised values, refusals, descriptions."""

from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.errors import PlanError
from sluice.generalization.hierarchy import Hierarchy
from sluice.masking import Step
from sluice.masking.microaggregation.clustering_step import ClusteringStep
from sluice.masking.microaggregation.k_member_clustering import KMemberClustering
from sluice.variables import Kind, Role, Variable
from tests.golden import golden

AREAS = Hierarchy(
    rows={
        "Bonn": ("Rhine", "West"),
        "Mainz": ("Rhine", "West"),
        "Essen": ("Ruhr", "West"),
        "Halle": ("Saale", "East"),
        "Jena": ("Saale", "East"),
    }
)
SIZES = ("small", "medium", "large")
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, unit="EUR", minimum=0),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=0),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=SIZES),
    "area": Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, hierarchy=AREAS),
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
    "health": Variable(name="health", kind=Kind.CONTINUOUS),
}
COLUMNS = ("income", "age", "size", "area", "sex")
METHODS: list[type[ClusteringStep]] = [method for method in get_args(Step) if issubclass(method, ClusteringStep)]


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.lognormal(8, 1, n),
            "age": pd.Series(rng.integers(18, 90, n)).astype("Int64").to_numpy(),
            "size": pd.Categorical(rng.choice(SIZES, n), categories=SIZES, ordered=True),
            "area": pd.Categorical(rng.choice(list(AREAS.rows), n), categories=list(AREAS.rows)),
            "sex": pd.Categorical(rng.choice(["f", "m"], n), categories=["f", "m"]),
            "health": rng.normal(size=n),
        },
        index=rng.permutation(n) * 7,
    ).astype({"age": "Int64"})


def masked(
    frame: pd.DataFrame, k: int, seed: int = 1, method: type[ClusteringStep] = KMemberClustering, **options: Any
) -> pd.DataFrame:
    return method(columns=COLUMNS, k=k, **options).mask(frame, VARIABLES, np.random.default_rng(seed))


def test_all_methods_of_clustering_are_here() -> None:
    names = {method.model_fields["method"].default for method in METHODS}
    assert names == {
        "k_member_clustering",
        "k_nearest_clustering",
        "one_pass_k_means",
        "bottom_up_local_recoding",
        "mondrian",
    }


@given(
    method=st.sampled_from(METHODS),
    n=st.integers(7, 35),
    k=st.integers(2, 7),
    seed=st.integers(0, 1000),
    representative=st.sampled_from(["generalised", "mean", "median", "mode", "random"]),
    block_size=st.none() | st.integers(7, 20),
)
def test_every_combination_is_shared_by_k_records_and_the_frame_is_typed(
    method: type[ClusteringStep], n: int, k: int, seed: int, representative: str, block_size: int | None
) -> None:
    frame = survey(n, seed)
    blocks = {"block_size": block_size} if "block_size" in method.model_fields else {}
    result = masked(frame, k, seed, method, representative=representative, **blocks)
    assert result.groupby(list(COLUMNS), observed=True, dropna=False).size().min() >= k
    released = method(columns=COLUMNS, k=k, representative=representative).released(VARIABLES)
    for name in COLUMNS:
        if released[name].kind.is_categorical:
            assert isinstance(result[name].dtype, pd.CategoricalDtype)
            assert result[name].dtype.ordered == (released[name].kind is Kind.ORDINAL)
        else:
            assert str(result[name].dtype) == ("Int64" if released[name].kind is Kind.INTEGER else "float64")
    if representative == "mean":
        assert result["income"].mean() == pytest.approx(frame["income"].mean())


@given(method=st.sampled_from(METHODS), n=st.integers(5, 50), seed=st.integers(0, 1000))
def test_a_generalised_value_is_true(method: type[ClusteringStep], n: int, seed: int) -> None:
    frame = survey(n, seed)
    result = masked(frame, 4, seed, method, representative="generalised")
    for name in ("age", "size"):
        place = {str(value): at for at, value in enumerate(SIZES if name == "size" else range(100))}
        for value, text in zip(frame[name], result[name], strict=True):
            low, high = (place[end] for end in ([*text.split(" to "), text][:2] if " to " in text else [text, text]))
            assert low <= place[str(value)] <= high
    for value, text in zip(frame["area"], result["area"], strict=True):
        assert text in (value, *AREAS.rows[value], "*")
    for value, text in zip(frame["sex"], result["sex"], strict=True):
        assert text in (value, "*")


@pytest.mark.parametrize("method", METHODS)
def test_generalised_values_by_hand(method: type[ClusteringStep]) -> None:
    frame = survey(6).reset_index(drop=True)
    frame["income"] = [0.5, 1, 2, 100, 100, 100]
    frame["age"] = pd.array([20, 21, 25, 70, 70, 70], dtype="Int64")
    frame["size"] = pd.Categorical(["small", "medium", "medium"] + ["large"] * 3, categories=SIZES, ordered=True)
    frame["area"] = pd.Categorical(["Bonn", "Mainz", "Bonn", "Jena", "Halle", "Jena"], categories=list(AREAS.rows))
    frame["sex"] = pd.Categorical(["f", "f", "f", "m", "m", "m"])
    result = masked(frame, 3, 1, method, representative="generalised")
    assert result.loc[0, list(COLUMNS)].to_list() == ["0.5 to 2", "20 to 25", "small to medium", "Rhine", "f"]
    assert result.loc[5, list(COLUMNS)].to_list() == ["100", "70", "large", "Saale", "m"]
    assert result[list(COLUMNS)].drop_duplicates().shape[0] == 2


@pytest.mark.parametrize("method", METHODS)
def test_extremes(method: type[ClusteringStep]) -> None:
    frame = survey(9)
    together = masked(frame, 9, method=method)
    assert len(together[list(COLUMNS)].drop_duplicates()) == 1
    assert together["income"].iloc[0] == pytest.approx(frame["income"].mean())
    alike = pd.concat([frame.iloc[:1]] * 8)
    pd.testing.assert_frame_equal(masked(alike, 4, method=method, round=True), alike)
    lonely = method(columns=("sex",), k=2).mask(frame, VARIABLES, np.random.default_rng(0))
    assert lonely["sex"].value_counts().sum() == 9


def test_released_descriptions() -> None:
    generalised = KMemberClustering(columns=COLUMNS, k=3, representative="generalised").released(VARIABLES)
    assert {generalised[name].kind for name in COLUMNS} == {Kind.NOMINAL}
    assert generalised["area"].hierarchy is None
    assert generalised["area"].role is Role.QUASI_IDENTIFIER
    assert generalised["income"].minimum is None
    mean = KMemberClustering(columns=COLUMNS, k=3).released(VARIABLES)
    assert (mean["age"].kind, mean["area"]) == (Kind.CONTINUOUS, VARIABLES["area"])
    assert KMemberClustering(columns=COLUMNS, k=3, round=True).released(VARIABLES)["age"].kind is Kind.INTEGER
    assert (
        KMemberClustering(columns=("age",), k=3, representative="mode").released(VARIABLES)["age"].kind is Kind.INTEGER
    )


@pytest.mark.parametrize("method", METHODS)
def test_missing_values_are_refused_or_clustered_by_pattern(method: type[ClusteringStep]) -> None:
    frame = survey(24)
    frame.iloc[:5, 1] = pd.NA
    frame.iloc[:5, 3] = np.nan
    frame.iloc[5:9, :5] = pd.NA
    with golden.raises(PlanError):
        masked(frame, 4, method=method)
    for representative in ("mean", "generalised"):
        result = masked(frame, 4, method=method, missing="by_pattern", representative=representative)
        assert result.isna().equals(frame.isna())
        assert result.groupby(list(COLUMNS), observed=True, dropna=False).size().min() >= 4
    with golden.raises(PlanError):
        masked(frame, 6, method=method, missing="by_pattern")
    frame = survey(24)
    frame.iloc[0, :5] = pd.NA
    with golden.raises(PlanError):
        masked(frame, 2, method=method, missing="by_pattern")  # one record without any value is alone with that


@pytest.mark.parametrize("method", METHODS)
def test_refusals(method: type[ClusteringStep]) -> None:
    name = method.model_fields["method"].default
    for n in (0, 2):
        with golden.raises(PlanError):
            masked(survey(n), 3, method=method)
    huge = survey(9).assign(income=1e200)
    with golden.raises(PlanError):
        masked(huge, 3, method=method)
    incomplete = {"area": VARIABLES["area"].model_copy(update={"hierarchy": Hierarchy(rows={"Bonn": ("West",)})})}
    with golden.raises(PlanError):
        method(columns=("area",), k=2).mask(survey(9)[["area"]], incomplete, np.random.default_rng(0))
    if "block_size" in method.model_fields:
        with pytest.raises(ValidationError, match=f"block_size of {name} on 'age' must be at least k = 5; got 4"):
            method(columns=("age",), k=5, block_size=4)  # type: ignore[call-arg]


def test_descriptions() -> None:
    step = KMemberClustering(columns=("age", "sex"), k=5, representative="generalised")
    golden(step.describe())
    golden.words(KMemberClustering(columns=("sex",), k=5, representative="mode").describe())
