"""Who does not believe a change, because of what it contributed, and what a change must keep to for it."""

import numpy as np
import pytest

from sluice.tabular.model.cells import Cells
from sluice.tabular.suppression.insiders import Insiders
from sluice.tabular.suppression.unknown_cells import UnknownCells, unknown_cells
from tests.tabular.grids import at, table

SHARED, ALONE = ("a", "u"), ("a", "v")


@pytest.fixture
def cells() -> Cells:
    """1, 2 and 6 share a cell as 60, 30 and 10; 3 is alone in another."""
    shared = [("a", "u", 1, 60), ("a", "u", 2, 30), ("a", "u", 6, 10)]
    return table([*shared, ("a", "v", 3, 50), ("b", "u", 4, 25), ("b", "v", 5, 25)])


def unknowns_of(cells: Cells) -> UnknownCells:
    return unknown_cells(cells, np.zeros(len(cells)), np.full(len(cells), np.inf))


@pytest.mark.parametrize(
    ("where", "change", "coalition", "both", "who"),
    [
        (SHARED, -40, 1, False, []),  # a cell below one's own part is not believed
        (SHARED, -41, 1, False, [{1}]),
        (SHARED, -71, 1, False, [{1}, {2}]),
        (SHARED, 500, 1, False, []),
        (SHARED, 41, 1, True, [{1}]),
        (SHARED, -10, 2, False, []),  # several add their parts up
        (SHARED, -11, 2, False, [{1, 2}]),
        (SHARED, -35, 2, False, [{1, 2}, {1, 6}]),
        (SHARED, -41, 3, False, [{1}, {1, 2, 6}]),  # all of them know it wholly
        (ALONE, 1, 1, False, [{3}]),  # one's own cell does not change at all
        (ALONE, 1, 0, False, []),
    ],
)
def test_who_does_not_believe_a_change(
    cells: Cells, where: tuple[str, str], change: float, coalition: int, both: bool, who: list[set[int]]
) -> None:
    unknowns = unknowns_of(cells)
    insiders = Insiders(cells, unknowns, coalition, own_parts=True)
    unknown = unknowns.of_cell[[at(cells, *where)]]
    assert set(insiders.exposed(unknown, np.array([change]), both)) == set(map(frozenset, who))


def test_without_own_parts_only_ones_own_cells_are_known(cells: Cells) -> None:
    unknowns = unknowns_of(cells)
    insiders = Insiders(cells, unknowns, 1, own_parts=False)
    both = unknowns.of_cell[[at(cells, *SHARED), at(cells, *ALONE)]]
    assert set(insiders.exposed(both, np.array([-100.0, 1.0]), False)) == {frozenset({3})}


@pytest.mark.parametrize(
    ("avoided", "coalition", "together", "left"),
    [({1}, 1, True, 40), ({1, 2}, 1, False, 40), ({2}, 2, False, 10), ({2}, 2, True, 70), ({1, 2}, 2, True, 10)],
)
def test_what_a_change_must_keep_to(cells: Cells, avoided: set[int], coalition: int, together: bool, left: int) -> None:
    """Of each with others the worst case counts; together, what these have and nobody else."""
    unknowns = unknowns_of(cells)
    wholly, partly, down = Insiders(cells, unknowns, coalition, own_parts=True).knowledge(frozenset(avoided), together)
    shared = unknowns.of_cell[at(cells, *SHARED)]
    assert shared not in wholly
    assert down[partly == shared].tolist() == [left]


def test_nobody_knows_nothing(cells: Cells) -> None:
    unknowns = unknowns_of(cells)
    assert all(len(of) == 0 for of in Insiders(cells, unknowns, 1, own_parts=True).knowledge(frozenset(), True))
    wholly, _, _ = Insiders(cells, unknowns, 1, own_parts=True).knowledge(frozenset({3}), False)
    assert wholly.tolist() == [unknowns.of_cell[at(cells, *ALONE)]]


def test_of_several_the_largest_part_counts_and_nothing_is_left_behind(cells: Cells) -> None:
    unknowns = unknowns_of(cells)
    insiders = Insiders(cells, unknowns, 1, own_parts=True)
    shared = unknowns.of_cell[at(cells, *SHARED)]
    for avoided, left in (({2, 6}, 70), ({6}, 90), ({1, 6}, 40), ({6}, 90)):
        wholly, partly, down = insiders.knowledge(frozenset(avoided), False)
        assert down[partly == shared].tolist() == [left]
        assert len(np.unique(np.concatenate([wholly, partly]))) == len(wholly) + len(partly)


def test_who_knows_most_comes_last(cells: Cells) -> None:
    both = table(
        [("a", "u", 1, 9), ("b", "u", 1, 9), ("b", "v", 1, 9), ("a", "u", 2, 5), ("b", "u", 2, 5), ("a", "v", 3, 5)]
    )
    insiders = Insiders(both, unknowns_of(both), 1, own_parts=True)
    assert insiders.by_knowledge(frozenset({1, 2, 3})) == [3, 2, 1]
