"""A certificate is refused as soon as one of its claims is wrong."""

from dataclasses import replace

import numpy as np
import pytest

from sluice.tabular.suppression.certificate import Certificate, holding
from tests.tabular.grids import line

CELLS = line(10, 20, 30)
GOOD = Certificate((1,), np.array([1, 2], np.int32), np.array([5.0, -5.0]), both=True)
HIDDEN = np.array([False, True, True, False])
LOWER, UPPER = np.zeros(4), np.full(4, np.inf)


def test_a_proof_holds_and_says_how_far_it_moves() -> None:
    assert GOOD.holds(CELLS, HIDDEN, LOWER, UPPER)
    assert GOOD.moves == 5
    assert replace(GOOD, of=(1, 2)).moves == 0


WRONG = [
    replace(GOOD, change=np.array([5.0, -4.0])),  # the total would change
    replace(GOOD, change=np.array([11.0, -11.0])),  # the other way, a0 would be negative
    replace(GOOD, cells=np.array([1, 3], np.int32)),  # a2 is published
    replace(GOOD, change=np.array([0.5, -0.5])),  # no whole units
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_false_proof_does_not_hold(wrong: Certificate) -> None:
    assert not wrong.holds(CELLS, HIDDEN, LOWER, UPPER)


def test_one_way_is_enough_where_only_one_is_claimed() -> None:
    one_way = replace(GOOD, change=np.array([11.0, -11.0]), both=False)
    assert one_way.holds(CELLS, HIDDEN, LOWER, UPPER)
    assert not replace(one_way, change=-one_way.change).holds(CELLS, HIDDEN, LOWER, UPPER)


def test_bounds_are_the_attackers() -> None:
    assert not GOOD.holds(CELLS, HIDDEN, CELLS.total - 4.0, UPPER)
    assert not GOOD.holds(CELLS, HIDDEN, LOWER, CELLS.total + 4.0)


def test_among_many_each_is_judged_by_itself() -> None:
    given = [GOOD, *WRONG, replace(GOOD, cells=GOOD.cells[:0], change=GOOD.change[:0]), GOOD]
    assert holding(given, CELLS, HIDDEN, LOWER, UPPER).tolist() == [True, False, False, False, False, True, True]
    assert len(holding([], CELLS, HIDDEN, LOWER, UPPER)) == 0
