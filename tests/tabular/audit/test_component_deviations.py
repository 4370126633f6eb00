"""Whole deviations of large components, against integer programs of another library.

The cheapest deviation against a linear programme of another library.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from sluice.tabular.audit.component_deviations import CheapestDeviation, ComponentDeviations
from sluice.tabular.audit.proven_interval import Need, Question

Vector = NDArray[np.float64]

Floats = NDArray[np.float64]


def asked(cell: int, need: Need, limited: list[int] | None = None) -> Question:
    some = np.array(limited or [], dtype=np.intp)
    return Question(cell, need, some, np.zeros(len(some)), np.zeros(len(some)))


def _table(rows: int, columns: int) -> csr_array:
    """The sums of a table without its marginals: each row and each column adds up to nothing."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    lines = [*cells, *cells.T]
    matrix = np.zeros((len(lines), rows * columns))
    for at, line in enumerate(lines):
        matrix[at, line] = 1
    return csr_array(matrix)


def _possible(matrix: csr_array, lower: Floats, upper: Floats, cell: int, wanted: float) -> bool:
    lower = lower.copy()
    lower[cell] = wanted
    if lower[cell] > upper[cell]:
        return False
    sums = LinearConstraint(matrix.toarray(), 0, 0)
    found = milp(np.zeros(len(lower)), constraints=sums, bounds=Bounds(lower, upper), integrality=np.ones(len(lower)))
    return bool(found.status == 0)


@given(st.data())
def test_found_where_an_integer_program_finds_one(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    matrix = _table(data.draw(st.integers(2, 4)), data.draw(st.integers(2, 4)))
    cells = matrix.shape[1]
    lower, upper = -rng.integers(0, 8, cells).astype(float), rng.integers(0, 8, cells).astype(float)
    members = np.arange(cells) + 5
    known = np.flatnonzero(rng.random(cells) < 0.1)
    known = known[known != 0]
    far = float(data.draw(st.integers(1, 6)))
    program = ComponentDeviations(matrix, members, lower, upper, rng.random(cells) < 0.3)
    lower, upper = lower.copy(), upper.copy()
    lower[known] = upper[known] = 0
    room = np.minimum(-lower, upper)
    limited = (known + 5).tolist()
    both = program.both_ways(asked(5, Need(far, far, 0.0), limited))
    assert (both is not None) == _possible(matrix, -room, room, 0, far)
    each = program.each_way(asked(5, Need(far, far, 0.0), limited))
    ways = _possible(matrix, lower, upper, 0, far), _possible(matrix, -upper, -lower, 0, far)
    assert (each is not None) == all(ways)
    either = program.each_way(asked(5, Need(0.0, 0.0, far), limited))
    assert (either is not None) == any(ways)
    for found in (both, each, either):
        if found is not None:
            inside = np.searchsorted(members, found.support)
            assert found.complete
            assert (found.drop <= -lower[inside]).all()
            assert not set(found.support.tolist()) & set(limited)


def test_where_no_multiple_fits_whole_numbers_near_the_fractions_do() -> None:
    """One cell of 10 is three others, of 4 at most: a linear program may take a third of it from each."""
    matrix = csr_array(np.array([[1.0, -1.0, -1.0, -1.0]]))
    room = np.array([10.0, 4.0, 4.0, 4.0])
    found = ComponentDeviations(matrix, np.arange(4), -room, room, np.zeros(4, dtype=bool)).both_ways(
        asked(0, Need(10.0, 10.0, 0.0))
    )
    assert found is not None
    assert (found.below, found.above) == (10, 10)
    assert sorted(found.drop.tolist()) in ([2, 4, 4, 10], [3, 3, 4, 10])


def test_what_holds_for_one_contributor_is_tried_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = csr_array(np.array([[1.0, -1.0, -1.0, -1.0]]))
    room = np.full(4, 9.0)
    program = ComponentDeviations(matrix, np.arange(4), -room, room, np.arange(4) == 3)
    first = program.both_ways(asked(0, Need(4.0, 4.0, 0.0), [3]))
    assert first is not None
    moved = first.support.tolist()
    still = next(cell for cell in (1, 2, 3) if cell not in moved)
    calls: list[int] = []
    monkeypatch.setattr(CheapestDeviation, "change", lambda *_: calls.append(1))
    again = program.both_ways(asked(0, Need(4.0, 4.0, 0.0), [still]))
    assert again is not None
    assert again.support.tolist() == moved
    assert not calls
    assert program.both_ways(asked(0, Need(4.0, 4.0, 0.0), [moved[1]])) is None  # who knows a cell of it refutes it
    assert program.both_ways(asked(0, Need(5.0, 5.0, 0.0), [still])) is None  # and it goes no further
    assert len(calls) == 2


def _furthest(matrix: Vector, room: Vector, cell: int) -> float:
    """How far a cell can move at most, with as much the other way."""
    price = np.zeros(len(room))
    price[cell] = -1
    found = linprog(price, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=list(zip(-room, room, strict=True)))
    return float(-found.fun)


@given(st.data())
def test_found_exactly_where_the_cell_can_move_so_far(data: st.DataObject) -> None:
    sums, cells = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    matrix = rng.choice([-1.0, 0.0, 1.0], (sums, cells), p=[0.4, 0.3, 0.3])
    room = rng.integers(0, 50, cells) * float(rng.choice([1, 1e6]))
    known = np.flatnonzero(rng.random(cells) < 0.2)
    wanted = float(rng.integers(1, 40)) * max(1.0, room.max() / 50)
    confined = room.copy()
    confined[known] = 0
    limit = _furthest(matrix, confined, 0)
    if abs(limit - wanted) < 1e-6 * wanted:
        return  # on the edge either answer is right
    program = CheapestDeviation(csr_array(matrix), rng.random(cells) < 0.3)
    change = program.change(0, wanted, confined, confined)
    assert (change is not None) == (limit > wanted)
    if change is not None:
        assert change[0] >= wanted * (1 - 1e-6)
        assert np.abs(matrix @ change).max() <= 1e-6 * wanted
        assert (np.abs(change) <= confined + 1e-6 * wanted).all()


def test_cells_that_contributors_know_are_left_alone_where_others_do() -> None:
    total, one, other, third = 0, 1, 2, 3
    matrix = csr_array(np.array([[1.0, -1.0, -1.0, -1.0]]))
    room = np.array([10.0, 10.0, 10.0, 10.0])
    for known in (one, other, third):
        avoid = np.arange(4) == known
        change = CheapestDeviation(matrix, avoid).change(total, 5.0, room, room)
        assert change is not None
        assert change[known] == 0
    room[[other, third]] = 0
    only = CheapestDeviation(matrix, np.ones(4, dtype=bool)).change(one, 5.0, room, room)
    assert only is not None
    assert np.flatnonzero(only).tolist() == [total, one]
