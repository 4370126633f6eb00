"""The cheapest deviation against a linear programme of another library."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sluice.tabular.audit.cheapest_deviation import CheapestDeviation

Floats = NDArray[np.float64]


def _furthest(matrix: Floats, room: Floats, cell: int) -> float:
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
