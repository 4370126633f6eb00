"""Spectral histogram sanitization. Published figures: tests/published/test_lasko_vinterbo_histogram.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.histogram_sanitization import SpectralHistogramSanitization, spectral_groups
from tests.golden import golden
from tests.masking.survey import drawn

RNG = np.random.default_rng(0)
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=("small", "medium", "large")),
    "area": Variable(name="area", kind=Kind.NOMINAL),
    "sex": Variable(name="sex", kind=Kind.BINARY),
}


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed)


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
    frame = survey(n, seed)
    step = SpectralHistogramSanitization(columns=("income", "size", "area", "sex"), k=k, restore_variance=True)
    if n <= 2 * k:
        with pytest.raises(PlanError, match="needs groups that differ"):
            step.mask(frame, VARIABLES, RNG)
        return
    masked = step.mask(frame, VARIABLES, RNG)
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
    together = SpectralHistogramSanitization(columns=("income",), k=12).mask(survey(12), VARIABLES, RNG)
    assert len(together["income"].unique()) == 1


def test_fewer_than_k_records_are_refused() -> None:
    with golden.raises(PlanError):
        spectral_groups(np.zeros((2, 2)), 3)
