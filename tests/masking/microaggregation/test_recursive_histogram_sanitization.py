"""Recursive histogram sanitization. Published figures: tests/published/test_lasko_vinterbo_histogram.py."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.histogram_sanitization import (
    RecursiveHistogramSanitization,
    coded,
    histogram_cells,
)
from sluice.masking.microaggregation.representatives import NUMBER, Scale
from tests.golden import golden
from tests.masking.survey import drawn

RNG = np.random.default_rng(0)
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0),
}


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
