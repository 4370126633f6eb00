"""k-member clustering. The published distances and losses are in tests/published/test_xiong_k_member.py."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.errors import PlanError
from sluice.generalization.hierarchy import Hierarchy
from sluice.generalization.taxonomy import taxonomy_of
from sluice.masking.microaggregation.k_member_clustering import (
    Domain,
    KMemberClustering,
    domain,
    k_member_groups,
)
from sluice.variables import Kind, Role, Variable

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


def masked(frame: pd.DataFrame, k: int, seed: int = 1, **options: Any) -> pd.DataFrame:
    step = KMemberClustering(columns=COLUMNS, k=k, **options)
    return step.mask(frame, VARIABLES, np.random.default_rng(seed))


def loss(records: Domain, members: list[int]) -> float:
    """IL(e), each pair of records compared."""
    widths = [max(column[members]) - min(column[members]) for column in records.numbers.T]
    heights = [
        weight * (len(set(column[members])) > 1)
        for column, weight in zip(records.nodes.T, records.weights, strict=True)
    ]
    return len(members) * (sum(widths) + sum(heights))


def naive_groups(records: Domain, k: int, order: np.ndarray) -> list[set[int]]:
    """Greedy k-member clustering by its pseudo-code; "at random" is: first in `order`."""
    left, clusters, first = [int(record) for record in order], [], int(order[0])

    def take(record: int) -> None:  # the last one moves to its place
        left[left.index(record)] = left[-1]
        left.pop()

    while len(left) >= k:
        first = max(left, key=lambda record: loss(records, [record, first]))
        members = [first]
        take(first)
        while len(members) < k:
            best = min(left, key=lambda record: loss(records, [*members, record]) - loss(records, members))
            members.append(best)
            take(best)
        clusters.append(members)
    for record in left:
        best = min(clusters, key=lambda members: loss(records, [*members, record]) - loss(records, members))
        best.append(record)
    return [set(members) for members in clusters]


@pytest.mark.slow
@settings(max_examples=30)
@given(n=st.integers(2, 40), k=st.integers(2, 6), p=st.integers(1, 3), seed=st.integers(0, 10_000))
def test_clusters_are_those_of_the_definition(n: int, k: int, p: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    halves = Hierarchy(rows={leaf: levels[1:] for leaf, levels in AREAS.rows.items()})
    trees = [taxonomy_of(list(AREAS.rows), halves), taxonomy_of(list("xyz"), None)]
    # All parts are multiples of 1/64, so that equal losses are equal in both calculations.
    table = np.column_stack([rng.integers(0, 64, (n, p)) / 64, rng.integers(0, 5, n), rng.integers(0, 3, n)])
    records = domain(table, [None] * p + trees, [1.0] * (p + 2))
    if n < k:
        with pytest.raises(PlanError, match=f"needs at least k = {k} records; there are {n}"):
            k_member_groups(records, k, rng)
        return
    groups = k_member_groups(records, k, np.random.default_rng(seed))
    order = np.random.default_rng(seed).permutation(n)  # the order in which equal costs are decided
    found = [set(np.flatnonzero(groups == group).tolist()) for group in range(groups.max() + 1)]
    assert found == naive_groups(records, k, order)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    n=st.integers(7, 60),
    k=st.integers(2, 7),
    seed=st.integers(0, 1000),
    representative=st.sampled_from(["generalised", "mean", "median", "mode", "random"]),
    block_size=st.none() | st.integers(7, 20),
)
def test_every_combination_is_shared_by_k_records_and_the_frame_is_typed(
    n: int, k: int, seed: int, representative: str, block_size: int | None
) -> None:
    frame = survey(n, seed)
    before = frame.copy()
    result = masked(frame, k, seed, representative=representative, block_size=block_size)
    pd.testing.assert_frame_equal(frame, before)
    assert list(result) == list(frame)
    assert result.index.equals(frame.index)
    assert result["health"].equals(frame["health"])
    assert result.groupby(list(COLUMNS), observed=True, dropna=False).size().min() >= k
    released = KMemberClustering(columns=COLUMNS, k=k, representative=representative).released(VARIABLES)
    for name in COLUMNS:
        if released[name].kind.is_categorical:
            assert isinstance(result[name].dtype, pd.CategoricalDtype)
            assert result[name].dtype.ordered == (released[name].kind is Kind.ORDINAL)
        else:
            assert str(result[name].dtype) == ("Int64" if released[name].kind is Kind.INTEGER else "float64")
    if representative == "mean":
        assert result["income"].mean() == pytest.approx(frame["income"].mean())


@settings(max_examples=15)
@given(n=st.integers(5, 50), seed=st.integers(0, 1000))
def test_a_generalised_value_is_true(n: int, seed: int) -> None:
    frame = survey(n, seed)
    result = masked(frame, 4, seed, representative="generalised")
    for name in ("age", "size"):
        place = {str(value): at for at, value in enumerate(SIZES if name == "size" else range(100))}
        for value, text in zip(frame[name], result[name], strict=True):
            low, high = (place[end] for end in ([*text.split(" to "), text][:2] if " to " in text else [text, text]))
            assert low <= place[str(value)] <= high
    for value, text in zip(frame["area"], result["area"], strict=True):
        assert text in (value, *AREAS.rows[value], "*")
    for value, text in zip(frame["sex"], result["sex"], strict=True):
        assert text in (value, "*")


def test_generalised_values_by_hand() -> None:
    frame = survey(6).reset_index(drop=True)
    frame["income"] = [0.5, 1, 2, 100, 100, 100]
    frame["age"] = pd.array([20, 21, 25, 70, 70, 70], dtype="Int64")
    frame["size"] = pd.Categorical(["small", "medium", "medium"] + ["large"] * 3, categories=SIZES, ordered=True)
    frame["area"] = pd.Categorical(["Bonn", "Mainz", "Bonn", "Jena", "Halle", "Bonn"], categories=list(AREAS.rows))
    frame["sex"] = pd.Categorical(["f", "f", "f", "m", "m", "m"])
    result = masked(frame, 3, representative="generalised")
    assert result.loc[0, list(COLUMNS)].to_list() == ["0.5 to 2", "20 to 25", "small to medium", "Rhine", "f"]
    assert result.loc[5, list(COLUMNS)].to_list() == ["100", "70", "large", "*", "m"]
    assert result[list(COLUMNS)].drop_duplicates().shape[0] == 2


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


def test_taxonomies() -> None:
    areas = taxonomy_of(list(AREAS.rows), AREAS)
    assert areas.height == 3  # its widest groups are two, so that a root is put above them
    assert [areas.distance(0, other) for other in range(5)] == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    rooted = Hierarchy(rows={"a": ("ab", "*", "*"), "b": ("ab", "*", "*"), "c": ("c", "*", "*")})
    tree = taxonomy_of(["c", "a", "b"], rooted)
    assert tree.height == 2  # what lies above the root makes no tree higher
    assert [tree.distance(1, other) for other in range(3)] == [1, 0, 0.5]
    assert [names[0] for names in tree.names] == ["c", "c", "*"]
    assert taxonomy_of(["a"], None).distance(0, 0) == 0
    with pytest.raises(ValueError, match="lacks 1 of the 2 categories"):
        taxonomy_of(["a", "z"], rooted)


def test_extremes() -> None:
    frame = survey(9)
    together = masked(frame, 9)
    assert len(together[list(COLUMNS)].drop_duplicates()) == 1
    assert together["income"].iloc[0] == pytest.approx(frame["income"].mean())
    alike = pd.concat([frame.iloc[:1]] * 8)
    pd.testing.assert_frame_equal(masked(alike, 4, round=True), alike)
    lonely = KMemberClustering(columns=("sex",), k=2).mask(frame, VARIABLES, np.random.default_rng(0))
    assert lonely["sex"].value_counts().sum() == 9


def test_missing_values_are_refused_or_clustered_by_pattern() -> None:
    frame = survey(24)
    frame.iloc[:5, 1] = pd.NA
    frame.iloc[:5, 3] = np.nan
    frame.iloc[5:9, :5] = pd.NA
    with pytest.raises(PlanError, match=r"on 'income' takes no missing values; there are 4\. Use missing: by_pattern"):
        masked(frame, 4)
    for representative in ("mean", "generalised"):
        result = masked(frame, 4, missing="by_pattern", representative=representative)
        assert result.isna().equals(frame.isna())
        assert result.groupby(list(COLUMNS), observed=True, dropna=False).size().min() >= 4
    with pytest.raises(PlanError, match="fewer than k = 6 records miss the same columns"):
        masked(frame, 6, missing="by_pattern")


def test_refusals() -> None:
    with pytest.raises(ValidationError, match=r"k of k_member_clustering on 'age' must be at least 2; got 1\."):
        KMemberClustering(columns=("age",), k=1)
    with pytest.raises(
        ValidationError, match="block_size of k_member_clustering on 'age' must be at least k = 5; got 4"
    ):
        KMemberClustering(columns=("age",), k=5, block_size=4)
    for n in (0, 2):
        with pytest.raises(PlanError, match=f"needs at least k = 3 records; there are {n}"):
            masked(survey(n), 3)
    huge = survey(9).assign(income=1e200)
    with pytest.raises(PlanError, match=r"on 'income' takes numbers up to 1e\+150; some are larger"):
        masked(huge, 3)
    incomplete = {"area": VARIABLES["area"].model_copy(update={"hierarchy": Hierarchy(rows={"Bonn": ("West",)})})}
    with pytest.raises(PlanError, match="on 'area': the hierarchy lacks 4 of the 5 categories"):
        KMemberClustering(columns=("area",), k=2).mask(survey(9)[["area"]], incomplete, np.random.default_rng(0))
    with pytest.raises(PlanError, match="k_member_clustering on 'day' takes continuous"):
        KMemberClustering(columns=("day",), k=2).released({"day": Variable(name="day", kind=Kind.DATE)})


def test_descriptions() -> None:
    step = KMemberClustering(columns=("age", "sex"), k=5, representative="generalised")
    assert step.describe() == (
        "In age, sex, similar records were put into clusters of at least 5, and each value was replaced by the range, "
        "or the narrowest group, that holds all of its cluster."
    )
    assert "the mode of its cluster" in KMemberClustering(columns=("sex",), k=5, representative="mode").describe()
