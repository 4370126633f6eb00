"""What holds for every method of clustering: clusters of k, true generalised values, refusals, descriptions."""

from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking import Step
from sluice.masking.microaggregation.clustering import KMemberClustering
from sluice.masking.microaggregation.clustering_step import ClusteringStep
from tests.golden import golden
from tests.masking.survey import drawn

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
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=99),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=SIZES),
    "area": Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, hierarchy=AREAS),
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
    "health": Variable(name="health", kind=Kind.CONTINUOUS),
}
COLUMNS = ("income", "age", "size", "area", "sex")
METHODS: list[type[ClusteringStep]] = [method for method in get_args(Step) if issubclass(method, ClusteringStep)]


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed)


def masked(
    frame: pd.DataFrame, k: int, seed: int = 1, method: type[ClusteringStep] = KMemberClustering, **options: Any
) -> pd.DataFrame:
    return method(columns=COLUMNS, k=k, **options).mask(frame, VARIABLES, np.random.default_rng(seed))


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
def test_records_without_a_value_are_clustered_by_pattern(method: type[ClusteringStep]) -> None:
    frame = survey(24)
    frame.iloc[:5, 1] = pd.NA
    frame.iloc[:5, 3] = np.nan
    frame.iloc[5:9, :5] = pd.NA
    result = masked(frame, 4, method=method, missing="by_pattern", representative="generalised")
    assert result.isna().equals(frame.isna())
    assert result.groupby(list(COLUMNS), observed=True, dropna=False).size().min() >= 4
    frame = survey(24)
    frame.iloc[0, :5] = pd.NA
    with golden.raises(PlanError):
        masked(frame, 2, method=method, missing="by_pattern")  # one record without any value is alone with that


@pytest.mark.parametrize("method", METHODS)
def test_a_category_that_the_hierarchy_lacks_is_refused(method: type[ClusteringStep]) -> None:
    incomplete = {"area": VARIABLES["area"].model_copy(update={"hierarchy": Hierarchy(rows={"Bonn": ("West",)})})}
    with golden.raises(PlanError):
        method(columns=("area",), k=2).mask(survey(9)[["area"]], incomplete, np.random.default_rng(0))
