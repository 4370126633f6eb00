"""Recursive and spectral sanitization. Published figures: tests/published/test_lasko_vinterbo_histogram.py."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.histogram_sanitization import (
    RecursiveHistogramSanitization,
    SpectralHistogramSanitization,
    coded,
    histogram_cells,
    spectral_groups,
)
from sluice.masking.microaggregation.representatives import NUMBER, Scale
from tests.golden import golden
from tests.masking.survey import drawn

SPECTRAL_RNG = np.random.default_rng(0)
NUMBERS_AND_CATEGORIES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=("small", "medium", "large")),
    "area": Variable(name="area", kind=Kind.NOMINAL),
    "sex": Variable(name="sex", kind=Kind.BINARY),
}

RNG = np.random.default_rng(0)
VARIABLES = {"income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0)}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed)


def naive_cells(records: np.ndarray, rows: list[int], k: int, whole: bool) -> list[list[int]]:
    """By definition: one dictionary of signatures for each cell."""
    if len(rows) <= 2 * k:
        return [rows]
    parts: dict[tuple[bool, ...], list[int]] = {}
    columns = records[rows].T
    for row in rows:
        signature = []
        for column, value in zip(columns, records[row], strict=True):
            median = np.median(column)
            signature.append(bool(value >= median if median == column.max() else value > median))
        parts.setdefault(tuple(signature), []).append(row)
    if len(parts) == 1 or (whole and min(map(len, parts.values())) < k):
        return [rows]
    return [cell for part in parts.values() for cell in naive_cells(records, part, k, whole)]


@given(
    n=st.integers(1, 120),
    d=st.integers(1, 4),
    k=st.integers(1, 6),
    whole=st.booleans(),
    values=st.sampled_from([1, 2, 5, 1000]),
    seed=st.integers(0, 10_000),
)
def test_cells_are_those_of_the_definition(n: int, d: int, k: int, whole: bool, values: int, seed: int) -> None:
    records = np.random.default_rng(seed).integers(0, values, size=(n, d)).astype(np.float64)
    cells = histogram_cells(records, k, whole=whole)
    found = {tuple(np.flatnonzero(cells == cell).tolist()) for cell in range(cells.max() + 1)}
    assert found == {tuple(cell) for cell in naive_cells(records, list(range(n)), k, whole)}
    if whole:
        assert np.bincount(cells).min() >= min(k, n)


def test_one_column_by_hand() -> None:
    # More than 2k = 4: cut at the median 5 into the lower five and the upper four; the five again.
    records = np.arange(1.0, 10)[:, None]
    cells = histogram_cells(records, 2, whole=False)
    assert [sorted(records[cells == cell, 0]) for cell in np.unique(cells)] == [[6, 7, 8, 9], [1, 2, 3], [4, 5]]


def test_two_columns_are_cut_at_once() -> None:
    records = np.array([[x, y] for x in (0.0, 1.0) for y in (0.0, 1.0) for _ in range(3)])
    cells = histogram_cells(records, 3, whole=False)
    assert len(set(cells.tolist())) == 4
    assert (np.bincount(cells) == 3).all()


def test_categories_are_coded_as_minus_and_plus_one() -> None:
    records = np.array([[0.5, 0, 0, 1], [1.5, 1, 2, 0], [2.5, 2, 1, 1]])
    assert coded(records, [NUMBER, Scale("ordinal", 3), Scale("nominal", 3), Scale("nominal", 2)]).tolist() == [
        [0.5, -1, 1, -1, -1, 1],
        [1.5, 0, -1, -1, 1, -1],
        [2.5, 1, -1, 1, -1, 1],
    ]


def test_small_cells_are_refused_with_their_share() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 12)), columns=[f"x{at}" for at in range(12)])
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in frame}
    step: dict[str, Any] = {"columns": tuple(frame), "k": 5}
    with golden.raises(PlanError):
        RecursiveHistogramSanitization(**step).mask(frame, variables, RNG)
    whole = RecursiveHistogramSanitization(**step, small_cells="whole").mask(frame, variables, RNG)
    assert len(whole.drop_duplicates()) == 1  # the first cut already leaves records alone


def test_extremes() -> None:
    together = RecursiveHistogramSanitization(columns=("income",), k=12).mask(survey(12), VARIABLES, RNG)
    assert len(together["income"].unique()) == 1
    assert histogram_cells(np.zeros((1, 2)), 3, whole=False).tolist() == [0]


def survey_of_kinds(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(NUMBERS_AND_CATEGORIES, n, seed)


def naive_groups(records: np.ndarray, k: int) -> set[frozenset[int]]:
    """Figure 1 of Lasko and Vinterbo (2010) with the axes of numpy's singular value decomposition."""
    centred = records - records.mean(axis=0)
    u, d, _ = np.linalg.svd(centred, full_matrices=False)

    def spectral_rhs(table: np.ndarray, rows: np.ndarray) -> list[frozenset[int]]:
        if len(rows) <= 2 * k:
            return [frozenset(rows.tolist())]
        column = np.argmax(np.ptp(table[rows], axis=0))
        ranked = rows[np.argsort(table[rows, column])]
        half = len(rows) // 2
        return spectral_rhs(table, ranked[:half]) + spectral_rhs(table, ranked[half:])

    # An axis may point either way; an odd set gives its middle record to the upper half, so both ways are the same
    # only for even sets. The signs are those of the eigenvectors.
    _, basis = np.linalg.eigh(centred.T @ centred)
    signs = np.sign(((centred @ basis[:, ::-1])[:, : len(d)] * (u * d)).sum(axis=0))
    return set(spectral_rhs(u * d * signs, np.arange(len(records))))


@given(n=st.integers(10, 150), d=st.integers(1, 6), k=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_groups_are_those_of_figure_1(n: int, d: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=d)
    groups = spectral_groups(records, k)
    found = {frozenset(np.flatnonzero(groups == group).tolist()) for group in range(groups.max() + 1)}
    assert found == naive_groups(records, k)


@given(n=st.integers(5, 200), k=st.integers(2, 5), seed=st.integers(0, 1000))
def test_variances_are_restored_where_groups_differ(n: int, k: int, seed: int) -> None:
    frame = survey_of_kinds(n, seed)
    step = SpectralHistogramSanitization(columns=("income", "size", "area", "sex"), k=k, restore_variance=True)
    if n <= 2 * k:
        with pytest.raises(PlanError, match="restore_variance"):
            step.mask(frame, NUMBERS_AND_CATEGORIES, SPECTRAL_RNG)
        return
    masked = step.mask(frame, NUMBERS_AND_CATEGORIES, SPECTRAL_RNG)
    assert masked.groupby(["income", "size", "area", "sex"], observed=True).size().min() >= k
    assert masked["income"].mean() == pytest.approx(frame["income"].mean())
    assert masked["income"].std() == pytest.approx(frame["income"].std())


@pytest.mark.parametrize("values", [1, 2, 3])
def test_groups_hold_k_to_2k_records_whatever_the_ties(values: int) -> None:
    records = np.random.default_rng(4).integers(0, values, size=(501, 3)).astype(np.float64)
    sizes = np.bincount(spectral_groups(records, 4))
    assert sizes.min() >= 4
    assert sizes.max() <= 8


def test_the_widest_axis_is_halved_first() -> None:
    # The long direction is the diagonal: neither column alone tells the four pairs apart so well.
    along = np.array([0.0, 1, 10, 11, 20, 21, 30, 31])
    records = np.column_stack([along + 0.1, along - 0.1])
    groups = spectral_groups(records, 1)
    found = {frozenset(np.flatnonzero(groups == group).tolist()) for group in range(4)}
    assert found == {frozenset(pair) for pair in ((0, 1), (2, 3), (4, 5), (6, 7))}


def test_k_of_all_is_one_group() -> None:
    together = SpectralHistogramSanitization(columns=("income",), k=12).mask(
        survey_of_kinds(12), NUMBERS_AND_CATEGORIES, SPECTRAL_RNG
    )
    assert len(together["income"].unique()) == 1


def test_fewer_than_k_records_are_refused() -> None:
    with golden.raises(PlanError):
        spectral_groups(np.zeros((2, 2)), 3)
