"""Univariate microaggregation, beside every partition of few values and exact arithmetic.

Torra (2013) gives the algorithm and no figures; what is checked is what it promises, the least sum of squared errors.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import zscore

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.ordered_microaggregation import (
    ProjectedMicroaggregation,
    UnivariateMicroaggregation,
    individual_ranking_groups,
    optimal_groups,
    projected_groups,
)
from tests.golden import golden

RNG = np.random.default_rng(0)  # means and medians draw nothing


def squared_error(values: Sequence[float], groups: Sequence[int]) -> Fraction:
    """Exact: within each group, sum of squares less squared sum over count."""
    total = Fraction(0)
    for group in set(groups):
        members = [Fraction(value) for value, of in zip(values, groups, strict=True) if of == group]
        total += sum(value * value for value in members) - sum(members) ** 2 / len(members)
    return total


def partitions(items: list[int], k: int) -> Iterator[list[list[int]]]:
    """Every partition into sets of at least k, whatever the order."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for mask in range(2 ** len(rest)):
        chosen = [item for bit, item in enumerate(rest) if mask >> bit & 1]
        if len(chosen) >= k - 1:
            left = [item for item in rest if item not in chosen]
            yield from ([[first, *chosen], *others] for others in partitions(left, k))


def least_error(values: Sequence[float], k: int) -> Fraction:
    """Of sorted values, by dynamic programming in exact arithmetic over runs of at least k, of any length."""
    ranked = [Fraction(value) for value in sorted(values)]
    sums = [Fraction(0), *accumulate(ranked)]
    squares = [Fraction(0), *accumulate(value * value for value in ranked)]
    best: list[Fraction | None] = [Fraction(0)]
    for end in range(1, len(ranked) + 1):
        found = [
            before + squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)
            for start in range(end - k + 1)
            if (before := best[start]) is not None
        ]
        best.append(min(found, default=None))
    assert best[-1] is not None
    return best[-1]


@given(values=st.lists(st.integers(-20, 20), min_size=2, max_size=7), k=st.integers(1, 4))
def test_no_partition_whatever_is_better(values: list[int], k: int) -> None:
    if len(values) < k:
        return
    groups = optimal_groups(np.array(values, dtype=float), k).tolist()
    assert min(groups.count(group) for group in set(groups)) >= k
    every = partitions(list(range(len(values))), k)
    best = min(sum(squared_error([values[i] for i in part], [0] * len(part)) for part in parts) for parts in every)
    assert squared_error(values, groups) == best


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    k=st.integers(1, 6),
    law=st.sampled_from(["normal", "lognormal", "few values", "far off", "far first value"]),
)
def test_the_error_is_the_least_and_never_above_individual_ranking(seed: int, n: int, k: int, law: str) -> None:
    rng = np.random.default_rng(seed)
    if n < k:
        n = k
    values = rng.integers(0, 4, n).astype(float) if law == "few values" else rng.normal(size=n)
    if law == "lognormal":
        values = np.exp(4 * values)
    elif law == "far off":
        values += 1e9
    elif law == "far first value":
        values[rng.integers(n)] = -1e3
    groups, ranking = optimal_groups(values, k), individual_ranking_groups(values, k)
    for found in (groups, ranking):
        counts = np.bincount(found)
        assert k <= counts.min() <= counts.max() <= 2 * k - 1
        assert (np.diff(found[np.argsort(values, kind="stable")]) >= 0).all()
    assert (np.bincount(ranking)[:-1] == k).all()
    error, least = squared_error(values.tolist(), groups.tolist()), least_error(values.tolist(), k)
    assert error <= least * (1 + Fraction(1, 10**9))
    assert least <= squared_error(values.tolist(), ranking.tolist())


def test_one_far_group_does_not_spoil_those_that_follow() -> None:
    """Its error is more than 1e16 times that of the others, which a float64 could not add to it."""
    triples = np.repeat(np.arange(100.0), 3) + np.tile([0, 0.01, 0.02], 100)
    groups = optimal_groups(np.concatenate([[-1e16, -1e15], triples]), 2)
    assert groups.tolist() == [0, 0, *np.repeat(np.arange(1, 101), 3)]


def test_an_offset_changes_nothing() -> None:
    values = np.random.default_rng(2).integers(0, 10**6, 500).astype(float)
    assert (optimal_groups(values, 3) == optimal_groups(values + 2.0**50, 3)).all()


def test_group_sizes_follow_the_gaps_and_equal_values_may_be_parted() -> None:
    values = np.array([1.0, 2, 3, 4, 101, 102, 103])
    assert optimal_groups(values, 3).tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert individual_ranking_groups(values, 3).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert optimal_groups(np.array([1.0, 5, 5, 5, 9, 9]), 3).tolist() == [0, 0, 0, 1, 1, 1]


# --- the step -------------------------------------------------------------------------------------------------------

VARIABLES = {
    "turnover": Variable(name="turnover", kind=Kind.CONTINUOUS),
    "staff": Variable(name="staff", kind=Kind.INTEGER),
    "rating": Variable(name="rating", kind=Kind.ORDINAL, categories=("poor", "fair", "good")),
}


def firms() -> pd.DataFrame:
    ratings = ["poor", "poor", "fair", "good", "good", "good"]
    frame = pd.DataFrame({"turnover": [1.0, 100, 2, 101, 3, 102]})
    return frame.assign(
        staff=pd.array([5, 4, 3, 2, 1, pd.NA], dtype="Int64"),
        rating=pd.Categorical(ratings, ["poor", "fair", "good"], ordered=True),
    )


def test_each_column_has_groups_of_its_own() -> None:
    columns = ("turnover", "staff", "rating")
    step = UnivariateMicroaggregation(columns=columns, k=2, missing="by_pattern")
    masked = step.mask(firms(), VARIABLES, RNG)
    assert masked["turnover"].to_list() == [2, 101, 2, 101, 2, 101]
    assert masked["staff"].to_list()[:5] == [4.5, 4.5, 2, 2, 2]
    assert np.isnan(masked["staff"].iloc[5])
    assert masked["rating"].to_list() == ["poor", "poor", "fair", "fair", "good", "good"]


def test_individual_ranking_cuts_at_k_whatever_the_gaps() -> None:
    step = UnivariateMicroaggregation(columns=("turnover",), k=2, algorithm="individual_ranking")
    assert step.mask(firms(), VARIABLES, RNG)["turnover"].to_list() == [1.5, 51.5, 1.5, 101.5, 51.5, 101.5]


def test_one_value_among_gaps_is_refused() -> None:
    frame = firms().assign(staff=pd.array([1, *[pd.NA] * 5], dtype="Int64"))
    with golden.raises(PlanError):
        UnivariateMicroaggregation(columns=("staff",), k=2, missing="by_pattern").mask(frame, VARIABLES, RNG)


# Projected microaggregation, beside every partition of few records into neighbours.


PROJECTIONS = ("first_principal_component", "sum_of_z_scores")


def scores(records: np.ndarray, projection: str) -> np.ndarray:
    if projection == "sum_of_z_scores":
        return zscore(records, ddof=1).sum(axis=1)
    centred = records - records.mean(axis=0)
    axis = np.linalg.svd(centred)[2][0]
    return centred @ (axis * np.sign(axis[np.abs(axis).argmax()]))


def joint_error(records: np.ndarray, groups: np.ndarray) -> float:
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in (records[groups == g] for g in np.unique(groups)))


def runs(n: int, k: int) -> Iterator[list[int]]:
    """Every way to cut n neighbours into runs of at least k: the sizes."""
    if n >= k:
        yield [n]
        for size in range(k, n - k + 1):
            yield from ([size, *rest] for rest in runs(n - size, k))


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 14),
    d=st.integers(1, 4),
    k=st.integers(2, 4),
    offset=st.sampled_from([0.0, 1e6]),
    projection=st.sampled_from(PROJECTIONS),
)
def test_no_other_cut_of_the_projection_is_better(
    seed: int, n: int, d: int, k: int, offset: float, projection: str
) -> None:
    records = np.random.default_rng(seed).normal(size=(max(n, k), d)) + offset
    groups = projected_groups(records, k, projection)
    counts = np.bincount(groups)
    assert k <= counts.min() <= counts.max() <= 2 * k - 1
    order = np.argsort(scores(records, projection))
    assert (np.diff(groups[order]) >= 0).all()
    errors = [joint_error(records[order], np.repeat(np.arange(len(run)), run)) for run in runs(len(records), k)]
    assert joint_error(records, groups) == pytest.approx(min(errors), rel=1e-6)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_of_one_column_it_is_the_optimal_univariate_one(projection: str) -> None:
    values = np.random.default_rng(3).lognormal(size=300)
    assert (projected_groups(values[:, None], 5, projection) == optimal_groups(values, 5)).all()


def test_the_projections_differ_where_columns_fall_against_each_other() -> None:
    """Twelve records on a falling line: their z-scores cancel out, their first component orders them."""
    line = np.arange(12.0)
    records = np.column_stack([line, -line])
    component = projected_groups(records, 3, "first_principal_component")
    assert component.tolist() in (np.repeat([0, 1, 2, 3], 3).tolist(), np.repeat([3, 2, 1, 0], 3).tolist())
    rising = np.column_stack([line, line + 0.1 * np.sin(line)])
    assert projected_groups(rising, 3, "sum_of_z_scores").tolist() == np.repeat([0, 1, 2, 3], 3).tolist()


# --- the step -------------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c")
WITH_AREA = {
    **{name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES},
    "area": Variable(name="area", kind=Kind.NOMINAL),
}


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_the_step_replaces_by_means_of_k_and_treats_sets_by_themselves(projection: str) -> None:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(90, 1)) + 0.2 * rng.normal(size=(90, 3)), columns=list(NAMES))
    step = ProjectedMicroaggregation(columns=NAMES, k=4, projection=projection)
    masked = step.mask(frame, WITH_AREA, RNG)
    assert masked.groupby(list(NAMES)).size().min() >= 4
    assert masked.mean().to_list() == pytest.approx(frame.mean().to_list(), abs=1e-12)
    groups = projected_groups(zscore(frame.to_numpy(), ddof=1), 4, projection)
    pd.testing.assert_frame_equal(masked, frame.groupby(groups).transform("mean"))
    sets = step.model_copy(update={"variable_groups": (("c", "a"), ("b",))}).mask(frame, WITH_AREA, RNG)
    assert sets.groupby(["a", "c"]).size().min() >= 4
    assert sets.groupby(list(NAMES)).size().min() < 4


def test_errors_of_columns_that_are_not_standardised_count_by_their_scale() -> None:
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3, 4, 5, 6], "b": [0.0, 0, 0, 0, 1000, 1000, 1000], "c": [0.0] * 7})
    step = ProjectedMicroaggregation(columns=NAMES, k=3, standardise=False, projection="sum_of_z_scores")
    assert step.mask(frame, WITH_AREA, RNG)["b"].to_list() == frame["b"].to_list()
