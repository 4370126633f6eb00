"""Feasibility intervals, against arithmetic by hand and against another solver's interface."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Cells, equations_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.feasibility_interval import (
    FeasibleRegion,
    TotalsDoNotAddError,
    UnsolvedError,
    feasibility_intervals,
)
from tests.tabular.tables import tables

# Torra (2013), "Detection of sensitive cells (I)": salaries by profession P1..P5 (columns) and town M1..M3
SALARIES = np.array(
    [
        [360, 450, 720, 400, 360, 2290],
        [1440, 540, 22, 570, 320, 2892],
        [722, 1178, 375, 800, 363, 3438],
        [2522, 2168, 1117, 1770, 1043, 8620],
    ]
)
# ..., "Primary suppression (PS) and Secondary Suppression (SS)"
SUPPRESSED = [(1, 2), (0, 2), (0, 4), (1, 4)]


def told(
    hidden: list[tuple[int, int]], raised: dict[tuple[int, int], int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What can be told of the hidden cells of the example, in which some values may be higher; totals come first."""
    towns, professions = Dimension.flat("town", ["M1", "M2", "M3"]), Dimension.flat("profession", list("12345"))
    places = sorted((((row + 1) % 4, (column + 1) % 6), (row, column)) for row in range(4) for column in range(6))
    codes = np.array([code for code, _ in places], dtype=np.int32)
    value = np.array([SALARIES[at] + (raised or {}).get(at, 0) for _, at in places], dtype=np.float64)
    which = np.array([next(n for n, (_, at) in enumerate(places) if at == cell) for cell in hidden], dtype=np.intp)
    value[which] = np.nan
    equations = equations_of((towns, professions), codes)
    return feasibility_intervals(equations, value, which, np.zeros(24), np.full(24, np.inf))


def test_textbook_pattern_has_the_intervals_of_arithmetic_by_hand() -> None:
    """What is left of each row and column of the four cells: P3 + P5 is 1080 in M1 and 342 in M2; M1 + M2 is 742 in P3.

    So (P3, M2) lies between 0 (P5 of M2 takes all 342) and 342 (P5 of M2 has nothing): 742 and 680 allow both.
    """
    low, high = told(SUPPRESSED)
    assert np.allclose(low, [0, 400, 338, 0])
    assert np.allclose(high, [342, 742, 680, 342])
    low, high = told(SUPPRESSED[:2])  # each alone in its row
    assert np.allclose(low, high)
    assert np.isclose(low[0], 22)


@pytest.mark.parametrize(
    ("hidden", "raised"),
    [
        ([], {(2, 1): 1}),
        (SUPPRESSED, {(1, 0): 400, (3, 0): 400}),  # published parts leave less than nothing for the suppressed ones
    ],
)
def test_totals_that_do_not_add_are_refused(hidden: list[tuple[int, int]], raised: dict[tuple[int, int], int]) -> None:
    with pytest.raises(TotalsDoNotAddError) as refused:
        told(hidden, raised)
    assert refused.value.equation >= 0


@pytest.mark.chain
@given(tables(), st.integers(0, 2**32 - 1), st.booleans())
def test_intervals_equal_those_of_linprog(cells: Cells, seed: int, bounded: bool) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.random(len(cells)) < 0.5
    total = cells.total.astype(np.float64)
    value = np.where(hidden, np.nan, total)
    upper = 2 * total + 1 if bounded else np.full(len(cells), np.inf)
    which = np.flatnonzero(hidden)
    low, high = feasibility_intervals(cells.equations, value, which, np.zeros(len(cells)), upper)
    bounds = [(0, top) if gone else (true, true) for gone, true, top in zip(hidden, total, upper, strict=True)]
    for cell, least, most in list(zip(which, low, high, strict=True))[:6]:
        for sign, found in ((1, least), (-1, most)):
            cost = np.zeros(len(cells))
            cost[cell] = sign
            solved = (
                linprog(cost, A_eq=cells.equations, b_eq=np.zeros(cells.equations.shape[0]), bounds=bounds)
                if cells.equations.shape[0]
                else linprog(cost, bounds=bounds)
            )
            expected = sign * solved.fun if solved.status == 0 else -sign * np.inf
            assert found == pytest.approx(expected, abs=1e-4, rel=1e-6)


def test_whole_numbers_leave_less_than_fractions() -> None:
    """One cell is the sum of two that are equal, and from 1 to 3: it is even."""
    twins = csr_array(np.array([[1.0, -1.0, -1.0], [0.0, 1.0, -1.0]]))
    unknown, first = np.full(3, np.nan), np.array([0])
    lower, upper = np.array([1.0, 0, 0]), np.array([3.0, np.inf, np.inf])
    low, high = feasibility_intervals(twins, unknown, first, lower, upper)
    assert (low[0], high[0]) == (1, 3)
    low, high = feasibility_intervals(twins, unknown, first, lower, upper, whole=True)
    assert (low[0], high[0]) == (2, 2)
    upper[0] = np.inf
    low, high = feasibility_intervals(twins, unknown, first, lower, upper, whole=True)
    assert (low[0], high[0]) == (2, np.inf)
    lower[0] = upper[0] = 3
    with pytest.raises(TotalsDoNotAddError):
        feasibility_intervals(twins, unknown, first, lower, upper, whole=True)


def test_what_branch_and_bound_does_not_decide_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(self: FeasibleRegion, cell: int, sign: int) -> float:
        raise UnsolvedError("too many nodes")

    monkeypatch.setattr(FeasibleRegion, "whole_extreme", gives_up)
    twins = csr_array(np.array([[1.0, -1.0, -1.0], [0.0, 1.0, -1.0]]))
    some = (np.full(3, np.nan), np.array([0]), np.zeros(3), np.full(3, 9.0))
    low, high = feasibility_intervals(twins, *some, whole=True)
    assert np.isnan([low[0], high[0]]).all()
