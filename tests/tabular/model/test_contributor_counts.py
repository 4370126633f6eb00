"""Numbers of contributors as a table of counts."""

from dataclasses import replace

import numpy as np
from hypothesis import given

from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.contributor_counts import contributor_counts
from sluice.tabular.model.dimension import Dimension
from tests.tabular.tables import tables


def _cells(contributor: list[int]) -> Cells:
    dimensions = [Dimension.flat("area", ["a", "b"]), Dimension.flat("kind", ["x", "y"])]
    leaves = np.array([[1, 1], [1, 1], [2, 1], [2, 2]], dtype=np.int32)
    return replace(aggregate(dimensions, leaves, np.array(contributor), np.array([5, 60, 700, 8000])), decimals=2)


def test_each_contributor_counts_one_where_it_is_in_one_inner_cell() -> None:
    counts = contributor_counts(_cells([0, 1, 2, 3]))
    assert counts is not None
    names = {counts.name(cell): int(counts.total[cell]) for cell in range(len(counts))}
    assert names["area a, kind x"] == 2
    assert names["area Total, kind Total"] == 4
    assert (counts.largest.sum(axis=1) == counts.total).all()  # of four at most, and more are kept
    assert counts.decimals == 0


def test_numbers_that_do_not_add_up_are_no_table() -> None:
    assert contributor_counts(_cells([0, 1, 2, 2])) is None  # one firm is in both kinds of b


def test_one_contributor_with_several_records_of_one_cell_counts_once() -> None:
    counts = contributor_counts(_cells([0, 0, 2, 3]))
    assert counts is not None
    assert counts.total.max() == 3


@given(tables())
def test_it_adds_up_or_is_none(cells: Cells) -> None:
    counts = contributor_counts(cells)
    if counts is not None:
        assert not (counts.equations @ counts.total).any()
        assert (counts.total >= 1).all()
