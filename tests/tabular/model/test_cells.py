"""Numbers of contributors as a table of counts."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from sluice.ground.errors import DataError
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import (
    LARGEST_TOTAL,
    Cells,
    contributor_counts,
    equations_of,
    in_tables,
    keys_of,
    levels_of,
)
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.tabular.tables import tables

A = Dimension.of("a", [("T", ""), ("A", "T"), ("B", "T"), ("A1", "A"), ("A2", "A")])
B = Dimension.flat("b", ["x", "y"], total="T")


def every_cell() -> np.ndarray:
    return np.array([(a, b) for a in range(len(A.codes)) for b in range(len(B.codes))], dtype=np.int32)


def said(codes: np.ndarray, tables: list[list[str]] | None = None) -> set[str]:
    """Each equation in words."""
    names = ["/".join((A.codes[a], B.codes[b])) for a, b in codes]
    dense = equations_of([A, B], codes, tables).toarray()
    return {
        f"{names[row.argmax()]} = {' + '.join(sorted(names[part] for part in np.flatnonzero(row < 0)))}"
        for row in dense
    }


def test_the_sums_of_a_table() -> None:
    found = said(every_cell())
    assert "T/x = A/x + B/x" in found
    assert "A2/T = A2/x + A2/y" in found
    assert len(found) == 2 * 3 + 5  # two sums of a for each code of b, one of b for each code of a


def test_an_empty_part_is_left_out() -> None:
    codes = every_cell()
    without = codes[~((codes == [A.position["B"], B.position["x"]]).all(axis=1))]
    assert "T/x = A/x" in said(without)


def test_linked_tables_have_only_their_own_sums() -> None:
    linked = every_cell()
    linked = linked[in_tables([A, B], linked, [["a"], ["b"]])]
    assert said(linked, [["a"], ["b"]]) == {"T/T = A/T + B/T", "A/T = A1/T + A2/T", "T/T = T/x + T/y"}


def test_a_table_that_goes_down_to_a_level() -> None:
    assert levels_of([A, B], ["a:1", "b"]) == [1, 1]
    linked = every_cell()
    linked = linked[in_tables([A, B], linked, [["a:1", "b"], ["a"]])]
    found = said(linked, [["a:1", "b"], ["a"]])
    assert "T/x = A/x + B/x" in found
    assert "A/T = A1/T + A2/T" in found
    assert "A/T = A/x + A/y" in found
    assert not any("A1/x" in each for each in found)
    assert len(found) == 3 + 3 + 1


@given(tables())
def test_every_sum_holds_and_keys_rise(cells: Cells) -> None:
    assert not (cells.equations @ cells.total).any()
    assert (cells.equations.max(axis=1).toarray() == 1).all()
    assert (np.diff(keys_of(cells.dimensions, cells.codes)) > 0).all()
    assert np.array_equal(cells.by_cell.toarray().T, cells.equations.toarray())


def a_cell(total: int) -> Cells:
    return Cells(
        (A, B),
        np.array([[A.position["A1"], B.position["x"]]], dtype=np.int32),
        np.array([total]),
        np.array([1]),
        np.array([[total]]),
        np.array([[0]]),
        equations_of([A, B], np.zeros((1, 2), dtype=np.int32)),
        np.array([True]),
        decimals=2,
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: a_cell(LARGEST_TOTAL),
        lambda: equations_of([A, B], np.zeros((2, 2), dtype=np.int32)),
        *((lambda level=level: levels_of([A, B], level)) for level in (["a", "c"], ["a:0"], ["a:3"], ["a:x"])),
        lambda: keys_of([Dimension.flat("a", [str(n) for n in range(2**13)])] * 5, np.zeros((1, 5), dtype=np.int32)),
    ],
)
def test_refusals(wrong: Callable[[], object]) -> None:
    with golden.raises(DataError):
        wrong()
    assert a_cell(LARGEST_TOTAL - 1).total[0] == 2**53 - 1


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
