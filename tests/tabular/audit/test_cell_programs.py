"""The ends of an interval in fractions, and what is left of it in whole units."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sluice.tabular.audit.cell_programs import CellPrograms
from sluice.tabular.audit.proven_interval import Need, Question
from sluice.tabular.model.feasibility_interval import FeasibleRegion, UnsolvedError

# Two cells are equal and add up to a third: it moves in twos.
TWINS = csr_array(np.array([[1.0, -1.0, -1.0], [0.0, 1.0, -1.0]]))
EVERY = np.arange(3)


def asked(need: Need, limited: list[int] | None = None, lower: float = 0.0, upper: float = 0.0) -> Question:
    some = np.array(limited or [], dtype=np.intp)
    return Question(0, need, some, np.full(len(some), lower), np.full(len(some), upper))


def programs(far: float) -> CellPrograms:
    return CellPrograms(TWINS, EVERY, np.full(3, -far), np.full(3, far))


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
    monkeypatch.setattr("sluice.tabular.audit.cell_programs.WholeDeviations.furthest", lambda *_: (None, False))
    assert not programs(1).decide(asked(Need(0.0, 0.0, 1.0))).complete

    def give_up(self: FeasibleRegion, cell: int, sign: int) -> None:
        raise UnsolvedError("time is over")

    monkeypatch.setattr(FeasibleRegion, "extreme", give_up)
    assert not programs(9).decide(asked(Need(1.0, 1.0, 0.0))).complete
