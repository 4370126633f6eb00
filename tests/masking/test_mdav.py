"""Microaggregation by MDAV. The published figures on Census are in tests/published/test_003_mdav.py."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.errors import PlanError
from sluice.generalization.hierarchy import Hierarchy
from sluice.masking.mdav import Microaggregation, mdav_groups, representatives, standardised
from sluice.variables import Kind, Variable

RNG = np.random.default_rng(0)  # microaggregation draws nothing


def naive_groups(records: np.ndarray, k: int) -> np.ndarray:
    """MDAV by its definition: scan all records at every step. Columns one after the other, centroid by exact sums."""
    groups = np.full(len(records), -1)
    left = list(range(len(records)))
    number = 0

    def distance(record: int, point: np.ndarray) -> float:
        total = 0.0
        for a, b in zip(records[record], point, strict=True):
            total += (a - b) * (a - b)
        return total

    while len(left) >= 2 * k:
        centroid = np.array([math.fsum(records[left, j]) / len(left) for j in range(records.shape[1])])
        seed = max(left, key=lambda record: (distance(record, centroid), -record))
        for side in range(2 if len(left) >= 3 * k else 1):
            if side == 1:
                seed = max(left, key=lambda record: (distance(record, records[seed]), -record))
            others = sorted((r for r in left if r != seed), key=lambda r: (distance(r, records[seed]), r))
            group = [seed, *others[: k - 1]]
            groups[group] = number
            number += 1
            left = [record for record in left if record not in group]
    groups[left] = number
    return groups


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 160),
    d=st.integers(1, 5),
    k=st.integers(1, 7),
    law=st.sampled_from(["normal", "few values", "one value", "far off", "outlier"]),
)
def test_groups_are_those_of_the_definition(seed: int, n: int, d: int, k: int, law: str) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, d))
    if law == "few values":
        records = rng.integers(0, 3, size=(n, d)).astype(float)
    elif law == "one value":
        records = np.full((n, d), 0.1)
    elif law == "far off":
        records += 1e9
    elif law == "outlier":
        records[0] = 1e12
    if n < k:
        with pytest.raises(PlanError, match=f"at least k = {k} records; there are {n}"):
            mdav_groups(records, k)
        return
    groups = mdav_groups(records, k)
    assert groups.tolist() == naive_groups(records, k).tolist()
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("columns", [2, 10])
def test_groups_are_those_of_the_definition_over_many_blocks(columns: int) -> None:
    """Enough records for wide boxes and for rebuilding; half of them duplicated, so that there are ties."""
    rng = np.random.default_rng(columns)
    factors = rng.normal(size=(700, 2)) @ rng.normal(size=(2, columns)) + 0.3 * rng.normal(size=(700, columns))
    records = np.round(np.vstack([factors, factors]), 1)
    assert mdav_groups(records, 5).tolist() == naive_groups(records, 5).tolist()


def test_the_order_of_the_records_does_not_matter_without_ties() -> None:
    records = np.random.default_rng(3).normal(size=(400, 3))
    order = np.random.default_rng(4).permutation(400)
    assert (mdav_groups(records, 4)[order] == mdav_groups(records[order], 4)).all()


def test_groups_of_one_and_of_all() -> None:
    records = np.random.default_rng(1).normal(size=(11, 2))
    assert sorted(mdav_groups(records, 1)) == list(range(11))
    assert mdav_groups(records, 11).tolist() == [0] * 11
    assert np.bincount(mdav_groups(records, 5)).tolist() == [5, 6]


def test_representatives_mean_median_and_lower_median() -> None:
    records = np.array([[1.0, 1.0, 0.0], [5.0, 5.0, 3.0], [2.0, 2.0, 1.0], [9.0, 9.0, 2.0]])
    groups = np.array([0, 0, 1, 1])
    ordinal = np.array([False, False, True])
    assert representatives(records, groups, "mean", ordinal)[:, 0].tolist() == [3.0, 3.0, 5.5, 5.5]
    three = representatives(records[[0, 1, 3]], np.zeros(3, dtype=int), "median", ordinal)
    assert three.tolist() == [[5.0, 5.0, 2.0]] * 3
    assert representatives(records, groups, "median", ordinal)[:, 2].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_a_mean_does_not_leave_its_group_by_rounding() -> None:
    tenth = np.full((3, 1), 0.1)  # 0.1 + 0.1 + 0.1 is more than 3 * 0.1 in floating point
    assert (representatives(tenth, np.zeros(3, dtype=int), "mean", np.array([False])) == 0.1).all()


def test_standardised_columns() -> None:
    columns = standardised(
        np.array([[1.0, 7.0, np.nan], [2.0, 7.0, np.nan], [np.nan, 7.0, np.nan], [6.0, 7.0, np.nan]])
    )
    known = columns[[0, 1, 3], 0]
    assert known.mean() == pytest.approx(0, abs=1e-15)
    assert known.std(ddof=1) == pytest.approx(1)
    assert (columns[:, 1] == 0).all()
    assert np.isnan(columns[:, 2]).all()
    assert np.isnan(columns[2, 0])


# --- the step -------------------------------------------------------------------------------------------------------

SIZES = ("none", "small", "medium", "large")
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=1e6, unit="EUR", missing_codes=("-9",)),
    "age": Variable(
        name="age", kind=Kind.INTEGER, minimum=0, maximum=120, hierarchy=Hierarchy(rows={"30": ("30-39",)})
    ),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=SIZES),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south")),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n).clip(0, 1e6),
            "age": pd.array(rng.integers(18, 90, n), dtype="Int64"),
            "size": pd.Categorical.from_codes(rng.integers(0, 4, n), categories=list(SIZES), ordered=True),
            "area": pd.Categorical.from_codes(rng.integers(0, 2, n), categories=["north", "south"]),
        },
        index=rng.permutation(n) * 7,
    )


@settings(max_examples=25, deadline=None)
@given(n=st.integers(8, 60), k=st.integers(2, 8), seed=st.integers(0, 1000), whole=st.booleans())
def test_every_combination_is_shared_by_k_records_and_the_frame_is_typed(
    n: int, k: int, seed: int, whole: bool
) -> None:
    frame = survey(n, seed)
    kept = frame.copy()
    step = Microaggregation(columns=("income", "age", "size"), k=k, round=whole)
    masked, released = step.mask(frame, VARIABLES, RNG), step.released(VARIABLES)
    pd.testing.assert_frame_equal(frame, kept)
    assert list(masked) == list(released) == list(frame)
    assert masked.index.equals(frame.index)
    assert masked.groupby(["income", "age", "size"], dropna=False, observed=True).size().min() >= k
    assert released["age"].kind is (Kind.INTEGER if whole else Kind.CONTINUOUS)
    assert str(masked["age"].dtype) == ("Int64" if whole else "float64")
    assert masked["size"].dtype == frame["size"].dtype
    assert masked["area"].equals(frame["area"])
    assert masked["income"].mean() == pytest.approx(frame["income"].mean())
    for name in ("income", "age"):
        assert masked[name].min() >= frame[name].min()
        assert masked[name].max() <= frame[name].max()


def test_any_index_gives_the_same_values() -> None:
    frame = survey(40)
    step = Microaggregation(columns=("income", "age"), k=3)
    plain = step.mask(frame.reset_index(drop=True), VARIABLES, RNG)
    twice = step.mask(frame.set_axis([0] * 40), VARIABLES, RNG)
    assert (
        plain["income"].to_list() == twice["income"].to_list() == step.mask(frame, VARIABLES, RNG)["income"].to_list()
    )


def test_released_descriptions() -> None:
    released = Microaggregation(columns=("income", "age"), k=3).released(VARIABLES)
    assert released["income"].maximum == 1e6
    assert released["income"].unit == "EUR"
    assert released["income"].missing_codes == ()
    assert (released["age"].minimum, released["age"].hierarchy) == (0, None)
    restored = Microaggregation(columns=("income",), k=3, restore_variance=True).released(VARIABLES)
    assert (restored["income"].minimum, restored["income"].maximum) == (None, None)
    assert restored["age"] is VARIABLES["age"]


def test_restored_means_and_variances_are_the_originals() -> None:
    frame = survey(100).assign(constant=1.5)
    variables = {**VARIABLES, "constant": Variable(name="constant", kind=Kind.CONTINUOUS)}
    step = Microaggregation(columns=("income", "age", "constant"), k=6, restore_variance=True)
    masked = step.mask(frame, variables, RNG)
    for name in ("income", "age"):
        assert masked[name].mean() == pytest.approx(frame[name].mean(), rel=1e-12)
        assert masked[name].std() == pytest.approx(frame[name].std(), rel=1e-12)
    assert (masked["constant"] == 1.5).all()


def test_without_standardising_the_largest_scale_decides() -> None:
    frame = pd.DataFrame({"income": [0.0, 1000, 1, 1001], "age": pd.Series([1, 2, 50, 60]).astype("Int64")})
    step = Microaggregation(columns=("income", "age"), k=2, standardise=False)
    assert step.mask(frame, VARIABLES, RNG)["income"].to_list() == [0.5, 1000.5, 0.5, 1000.5]


def test_k_of_all_records_gives_one_record() -> None:
    frame = survey(9)
    masked = Microaggregation(columns=("income", "age", "size"), k=9, representative="median").mask(
        frame, VARIABLES, RNG
    )
    assert len(masked[["income", "age", "size"]].drop_duplicates()) == 1
    assert masked["income"].iloc[0] == frame["income"].median()


def test_missing_values_are_refused_with_their_number() -> None:
    frame = survey(20)
    frame.iloc[[2, 5], 1] = pd.NA
    with pytest.raises(PlanError, match="microaggregation on 'age' takes no missing values; there are 2"):
        Microaggregation(columns=("income", "age"), k=3).mask(frame, VARIABLES, RNG)


def test_missing_by_pattern_groups_like_with_like() -> None:
    frame = survey(20)
    frame.iloc[:4, 1] = pd.NA
    for column in range(3):
        frame.iloc[4:8, column] = [np.nan, pd.NA, np.nan][column]
    columns = ("income", "age", "size")
    masked = Microaggregation(columns=columns, k=4, missing="by_pattern", round=True).mask(frame, VARIABLES, RNG)
    assert masked[list(columns)].isna().equals(frame[list(columns)].isna())
    assert masked.groupby(list(columns), dropna=False, observed=True).size().min() >= 4
    assert masked["age"].dtype == "Int64"
    with pytest.raises(
        PlanError, match="at least k = 5 records that miss the same columns; of one pattern there are 4"
    ):
        Microaggregation(columns=columns, k=5, missing="by_pattern").mask(frame, VARIABLES, RNG)


def test_refusals() -> None:
    with pytest.raises(ValidationError, match=r"k of microaggregation on 'age' must be at least 2; got 1\."):
        Microaggregation(columns=("age",), k=1)
    with pytest.raises(PlanError, match="microaggregation on 'area' takes continuous, integer, ordinal; it is nominal"):
        Microaggregation(columns=("area",), k=3).released(VARIABLES)
    for n in (0, 1, 2):
        with pytest.raises(PlanError, match=f"microaggregation on 'age' needs at least k = 3 records; there are {n}"):
            Microaggregation(columns=("age",), k=3).mask(survey(n), VARIABLES, RNG)
    with pytest.raises(PlanError, match="on 'income' needs groups that differ; with k = 5 they are alike"):
        Microaggregation(columns=("income",), k=5, restore_variance=True).mask(survey(9), VARIABLES, RNG)


def test_the_description_is_for_a_data_user() -> None:
    step = Microaggregation(columns=("income", "age"), k=3)
    assert step.describe() == (
        "In income, age, similar records were put into groups of at least 3, and each value was replaced by the mean "
        "of its group."
    )
