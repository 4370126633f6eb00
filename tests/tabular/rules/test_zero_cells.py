from hypothesis import given

from sluice.tabular.model.cells import Contributions
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.zero_cells import ZeroCells
from tests.tabular.many_cells import contributions_of, many_cells


def test_a_total_of_zero_tells_every_contribution() -> None:
    """The rules on shares call it safe: this is why tau-ARGUS has "zero unsafe"."""
    zeros = contributions_of([[0], [0, 0, 0, 0], [0, 0, 0, 1]])
    assert ZeroCells().sensitive(zeros).tolist() == [True, True, False]
    assert ZeroCells(protection_units=5).protection(zeros).tolist() == [5, 5, 0]
    for shares in (PPercent(p=100), Dominance(n=1, k=1)):
        assert not shares.sensitive(zeros)[:2].any()


@given(many_cells)
def test_it_is_the_cells_without_a_positive_contribution(given_cells: list[list[int]]) -> None:
    assert ZeroCells().sensitive(contributions_of(given_cells)).tolist() == [not any(cell) for cell in given_cells]


def test_a_cell_that_cancels_out_is_no_cell_of_zeros() -> None:
    cells = contributions_of([[5, 5]])
    assert not ZeroCells().sensitive(Contributions(cells.total * 0, cells.contributors, cells.largest)).any()
    assert not ZeroCells().sensitive(contributions_of([[]])).any()  # and nobody's cell is empty
