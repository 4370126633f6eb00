"""Projected microaggregation, beside every partition of few records into neighbours.

Torra (2013) gives the algorithm and no figures; what is checked is what it promises.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import zscore

from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.ordered_microaggregation import (
    ProjectedMicroaggregation,
    optimal_groups,
    projected_groups,
)

RNG = np.random.default_rng(0)  # means draw nothing
PROJECTIONS = ("first_principal_component", "sum_of_z_scores")


def scores(records: np.ndarray, projection: str) -> np.ndarray:
    if projection == "sum_of_z_scores":
        return zscore(records, ddof=1).sum(axis=1)
    centred = records - records.mean(axis=0)
    axis = np.linalg.svd(centred)[2][0]
    return centred @ (axis * np.sign(axis[np.abs(axis).argmax()]))


def squared_error(records: np.ndarray, groups: np.ndarray) -> float:
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
    errors = [squared_error(records[order], np.repeat(np.arange(len(run)), run)) for run in runs(len(records), k)]
    assert squared_error(records, groups) == pytest.approx(min(errors), rel=1e-6)


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
VARIABLES = {
    **{name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES},
    "area": Variable(name="area", kind=Kind.NOMINAL),
}


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_the_step_replaces_by_means_of_k_and_treats_sets_by_themselves(projection: str) -> None:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(90, 1)) + 0.2 * rng.normal(size=(90, 3)), columns=list(NAMES))
    step = ProjectedMicroaggregation(columns=NAMES, k=4, projection=projection)
    masked = step.mask(frame, VARIABLES, RNG)
    assert masked.groupby(list(NAMES)).size().min() >= 4
    assert masked.mean().to_list() == pytest.approx(frame.mean().to_list(), abs=1e-12)
    groups = projected_groups(zscore(frame.to_numpy(), ddof=1), 4, projection)
    pd.testing.assert_frame_equal(masked, frame.groupby(groups).transform("mean"))
    sets = step.model_copy(update={"variable_groups": (("c", "a"), ("b",))}).mask(frame, VARIABLES, RNG)
    assert sets.groupby(["a", "c"]).size().min() >= 4
    assert sets.groupby(list(NAMES)).size().min() < 4


def test_errors_of_columns_that_are_not_standardised_count_by_their_scale() -> None:
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3, 4, 5, 6], "b": [0.0, 0, 0, 0, 1000, 1000, 1000], "c": [0.0] * 7})
    step = ProjectedMicroaggregation(columns=NAMES, k=3, standardise=False, projection="sum_of_z_scores")
    assert step.mask(frame, VARIABLES, RNG)["b"].to_list() == frame["b"].to_list()
