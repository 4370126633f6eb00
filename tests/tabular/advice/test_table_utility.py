"""Utility figures, compared with SciPy and sums by hand."""

from math import nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import spearmanr
from scipy.stats.contingency import association

from sluice.ground.errors import DataError
from sluice.tabular.advice.table_utility import cramers_v, hellinger_distance, table_utility
from sluice.tabular.model.cells import Cells
from tests.golden import golden
from tests.tabular.grids import square
from tests.tabular.tables import tables

CELLS = square([[6, 9], [12, 20]])  # in the order total, row marginals next to their parts


def published(cells: Cells, inner: dict[tuple[int, int], float]) -> np.ndarray:
    value = cells.total.astype(float)
    for code, figure in inner.items():
        value[(cells.codes == code).all(axis=1)] = figure
    return value


def test_by_hand() -> None:
    """6 becomes 8, 9 becomes 7, 12 is suppressed."""
    cells = CELLS
    found = table_utility(cells, published(cells, {(1, 1): 8, (1, 2): 7, (2, 1): nan}))
    assert (found.cells, found.suppressed, found.value_lost, found.changed) == (9, 1, 12, 2)
    assert found.value_lost_share == pytest.approx(12 / (4 * 47))
    assert found.mean_absolute == pytest.approx(4 / 8)
    assert found.largest_absolute == 2
    assert found.mean_relative == pytest.approx((2 / 6 + 2 / 9) / 8)
    assert found.marginals_mean == 0
    p, q = np.array([6, 9, 20]) / 35, np.array([8, 7, 20]) / 35
    assert found.hellinger == pytest.approx(sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))
    assert np.isnan(found.association_change)  # a cell of the pair is suppressed


def test_association_as_by_scipy() -> None:
    cells = CELLS
    value = published(cells, {(1, 1): 10, (1, 2): 5, (2, 1): 8, (2, 2): 24})
    before, after = (
        association(np.array(t), method="cramer", correction=False) for t in ([[6, 9], [12, 20]], [[10, 5], [8, 24]])
    )
    assert table_utility(cells, value).association_change == pytest.approx(abs(after - before))
    assert cramers_v(np.array([[6.0, 9, 0], [12, 20, 0]])) == pytest.approx(before)  # an empty column is none
    assert np.isnan(cramers_v(np.array([[6.0, 9]])))


@given(tables(least=2))
def test_ranks_as_by_scipy(cells: Cells) -> None:
    rng = np.random.default_rng(0)
    value = cells.total + rng.integers(-5, 6, len(cells)).astype(float)
    value[rng.random(len(cells)) < 0.2] = nan
    seen = ~np.isnan(value)
    found = table_utility(cells, value)
    if seen.sum() > 1 and len(set(cells.total[seen])) > 1 and len(set(value[seen])) > 1:
        assert found.rank_correlation == pytest.approx(spearmanr(cells.total[seen], value[seen]).statistic)
    else:
        assert np.isnan(found.rank_correlation)
    assert found.suppressed == (~seen).sum()


@given(tables(least=3))
def test_the_truth_loses_nothing(cells: Cells) -> None:
    found = table_utility(cells, cells.total.astype(float))
    assert (found.suppressed, found.value_lost, found.changed, found.mean_absolute) == (0, 0, 0, 0)
    assert found.hellinger == pytest.approx(0)
    assert found.association_change == 0 or np.isnan(found.association_change)


def test_everything_suppressed() -> None:
    cells = CELLS
    found = table_utility(cells, np.full(len(cells), nan))
    assert found.suppressed == 9
    assert found.value_lost_share == 1
    assert np.isnan([found.mean_absolute, found.largest_absolute, found.hellinger, found.rank_correlation]).all()


def test_hellinger_at_its_ends() -> None:
    assert hellinger_distance(np.array([1.0, 0]), np.array([0, 5.0])) == 1
    assert hellinger_distance(np.array([1.0, 3]), np.array([2.0, 6])) == pytest.approx(0)
    assert np.isnan(hellinger_distance(np.array([1.0, -3]), np.array([2.0, 6])))


def test_one_value_for_each_cell() -> None:
    with golden.raises(DataError):
        table_utility(CELLS, np.zeros(3))
