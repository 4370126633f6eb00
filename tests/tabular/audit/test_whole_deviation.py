"""Deviations in whole units, and where fractions promise more than there is.

The ends of an interval in fractions, and what is left of it in whole units.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from sluice.tabular.audit.proven_interval import Need, Question
from sluice.tabular.audit.whole_deviation import CellPrograms, WholeDeviations, whole_multiple, whole_nearby
from sluice.tabular.model.feasibility_interval import FeasibleRegion, UnsolvedError

# Two cells are equal and add up to a third: it moves in twos.
TWO_ALIKE = csr_array(np.array([[1.0, -1.0, -1.0], [0.0, 1.0, -1.0]]))
EVERY = np.arange(3)

INF = np.inf
# Two cells are equal and add up to a third: it moves in twos.
TWINS = csr_array(np.array([[1.0, -1.0, -1.0], [0.0, 1.0, -1.0]]))


@pytest.mark.parametrize(
    ("change", "room", "whole"),
    [
        ([1.0, 0.5, 0.5], 9, [2, 1, 1]),
        ([1.0, 0.5, 0.5], 1, None),
        ([2.0, 1.0, 1.0 + 1e-6], 9, [2, 1, 1]),
        ([3.0, 1.0, 1.0], 9, None),  # it breaks a sum
        ([1.0, 1 / 3, 1 / 3], 9, None),  # once it is rounded
    ],
)
def test_where_there_is_room_a_multiple_of_fractions_is_whole(
    change: list[float], room: float, whole: list[int] | None
) -> None:
    found = whole_multiple(np.array(change), TWINS, np.full(3, -room), np.full(3, room))
    assert (None if found is None else found.tolist()) == whole


def test_near_fractions_lies_a_whole_deviation_or_none() -> None:
    rows, third = csr_array(np.array([[1.0, -1.0, -1.0, -1.0]])), np.array([10.0, 10 / 3, 10 / 3, 10 / 3])
    room = np.array([10.0, 4.0, 4.0, 4.0])
    found = whole_nearby(third, 0, rows, -room, room)
    assert found is not None
    assert sorted(found.tolist()) in ([2, 4, 4, 10], [3, 3, 4, 10])
    down = whole_nearby(-third, 0, rows, -room, room)
    assert down is not None
    assert down[0] == -10
    assert whole_nearby(np.array([1.0, 0.5, 0.5]), 0, TWINS, -np.ones(3), np.ones(3)) is None
    assert whole_nearby(np.array([0.5, 0.25, 0.25]), 0, TWINS, -np.ones(3), np.ones(3)) is None  # less than a unit
    still = np.array([0.0, 1.0, -1.0])
    assert whole_nearby(still, 0, csr_array(np.array([[1.0, 1.0, 1.0]])), -np.ones(3), np.ones(3)) is None
    assert whole_nearby(np.zeros(3), 0, TWINS, -np.ones(3), np.ones(3)) is None


@given(st.integers(0, 10_000))
@example(957)  # the cell cannot move
def test_what_lies_near_fractions_is_whole_adds_up_and_stays_within(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1.0, 0.0, 1.0], (3, 8), p=[0.3, 0.3, 0.4])
    lower, upper = -rng.integers(0, 30, 8).astype(float), rng.integers(0, 30, 8).astype(float)
    cost = np.zeros(8)
    cost[0] = -1
    change = linprog(cost, A_eq=rows, b_eq=np.zeros(3), bounds=list(zip(lower, upper, strict=True))).x
    change[np.abs(change) < 1e-9] = 0
    found = whole_nearby(change, 0, csr_array(rows), lower, upper)
    if found is None:
        return
    assert (found == np.rint(found)).all()
    assert not (rows @ found).any()
    assert (found >= lower).all()
    assert (found <= upper).all()
    assert found[0] == np.floor(change[0] + 1e-6) > 0
    assert not found[change == 0].any()


def test_an_integer_program_finds_that_nothing_moves() -> None:
    found, proven = WholeDeviations(TWINS, -np.ones(3), np.ones(3)).furthest(0, 1, 1)
    assert proven
    assert found is not None
    assert found[0] == 0
    found, proven = WholeDeviations(TWINS, np.full(3, -2.0), np.full(3, INF)).furthest(0, -1, 5)
    assert proven
    assert found is not None
    assert found.tolist() == [-2, -1, -1]


def test_what_branch_and_bound_does_not_end_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice.tabular.audit.whole_deviation._NODES", 0)
    rng = np.random.default_rng(1)
    rows = csr_array(rng.integers(-3, 4, (8, 40)).astype(float))
    _, proven = WholeDeviations(rows, -np.ones(40), np.ones(40)).furthest(0, 1, 1)
    assert not proven


@given(st.integers(0, 10_000))
def test_as_far_as_by_another_library(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1.0, 0.0, 1.0], (3, 7), p=[0.4, 0.2, 0.4])
    lower, upper = -rng.integers(0, 4, 7).astype(float), rng.integers(0, 4, 7).astype(float)
    found, proven = WholeDeviations(csr_array(rows), lower, upper).furthest(0, 1, 3)
    cost = np.zeros(7)
    cost[0] = -1
    ends = Bounds(np.r_[0.0, lower[1:]], np.r_[min(upper[0], 3.0), upper[1:]])
    other = milp(cost, constraints=LinearConstraint(rows, 0, 0), bounds=ends, integrality=np.ones(7))
    assert proven
    assert found is not None
    assert found[0] == round(-other.fun)


def asked(need: Need, limited: list[int] | None = None, lower: float = 0.0, upper: float = 0.0) -> Question:
    some = np.array(limited or [], dtype=np.intp)
    return Question(0, need, some, np.full(len(some), lower), np.full(len(some), upper))


def programs(far: float) -> CellPrograms:
    return CellPrograms(TWO_ALIKE, EVERY, np.full(3, -far), np.full(3, far))


def test_fractions_leave_a_cell_open_that_whole_numbers_give_away() -> None:
    question = asked(Need(0.0, 0.0, 1.0))
    ends = programs(1).ends(question)
    assert (ends.below, ends.above) == (1, 1)
    found = programs(1).decide(question)
    assert (found.below, found.above, found.complete) == (0, 0, True)


def test_with_room_the_multiple_of_a_fraction_is_a_proof() -> None:
    found = programs(2).decide(asked(Need(1.0, 1.0, 0.0)))
    assert (found.below, found.above, found.complete) == (2, 2, True)
    assert found.support.tolist() == [0, 1, 2]
    assert found.drop.tolist() == [2, 1, 1]


def test_limits_hold_for_one_question_alone() -> None:
    both = programs(4)
    shut = both.decide(asked(Need(1.0, 1.0, 0.0), [2]))
    assert (shut.below, shut.above, shut.complete) == (0, 0, True)
    one_way = both.decide(asked(Need(0.0, 1.0, 0.0), [2], upper=np.inf))
    assert one_way.above == 2
    assert not one_way.drop.any()
    assert both.decide(asked(Need(1.0, 1.0, 0.0))).below == 2


def test_what_no_program_decides_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice.tabular.audit.whole_deviation.WholeDeviations.furthest", lambda *_: (None, False))
    assert not programs(1).decide(asked(Need(0.0, 0.0, 1.0))).complete

    def give_up(self: FeasibleRegion, cell: int, sign: int) -> None:
        raise UnsolvedError("time is over")

    monkeypatch.setattr(FeasibleRegion, "extreme", give_up)
    assert not programs(9).decide(asked(Need(1.0, 1.0, 0.0))).complete
