"""Coarser tables, compared with tables that are made of the records anew."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.advice.coarsening import Coarsening, coarser, drop_groups, end_at, merge, withhold_total
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from tests.golden import golden
from tests.tabular.redesigns import again, records, small


def all_changes(cells: Cells) -> list[Coarsening]:
    """Every change that is not refused."""
    found = []
    for axis, dimension in enumerate(cells.dimensions):
        size, levels = len(dimension.codes), int(dimension.depth.max())
        calls = [(merge, (a, b)) for a in range(size) for b in range(a + 1, size)]
        calls += [(drop_groups, level) for level in range(1, levels + 1)]
        calls += [(end_at, level) for level in range(1, levels + 1)]
        for call, argument in calls:
            try:
                found.append(call(cells, axis, argument))
            except DataError:
                continue
    return found


@pytest.mark.chain
@given(records())
def test_as_from_the_records_where_no_list_is_cut_off(given: tuple[list[Dimension], *tuple[np.ndarray, ...]]) -> None:
    made, *rest = given
    cells = aggregate(made, *rest, 60)
    for change in all_changes(cells):
        ours, expected = coarser(cells, change), again(cells, change, *rest)
        assert (ours.codes == expected.codes).all()
        assert (ours.total == expected.total).all()
        assert (ours.contributors == expected.contributors).all()
        assert (ours.largest == expected.largest).all()
        order = [np.lexsort((o, -x)) for o, x in zip(expected.owners, expected.largest, strict=True)]
        listed = [set(zip(o[x > 0], x[x > 0], strict=True)) for o, x in zip(ours.owners, ours.largest, strict=True)]
        assert listed == [
            set(zip(o[at][x[at] > 0], x[at][x[at] > 0], strict=True))
            for o, x, at in zip(expected.owners, expected.largest, order, strict=True)
        ]
        assert (ours.equations - expected.equations).nnz == 0


@pytest.mark.chain
@given(records(), st.integers(2, 3))
def test_cut_lists_never_make_a_sensitive_cell_pass_for_a_safe_one(
    given: tuple[list[Dimension], *tuple[np.ndarray, ...]], kept: int
) -> None:
    made, *rest = given
    cells = aggregate(made, *rest, kept)
    rules = [MinimumFrequency(n=2), PPercent(p=30)]
    for change in all_changes(cells):
        ours, expected = coarser(cells, change), again(cells, change, *rest)
        assert (ours.contributors <= expected.contributors).all()
        assert (ours.largest >= expected.largest[:, :kept]).all()
        missed = requirements_of(rules, expected.contributions).sensitive
        assert not (missed & ~requirements_of(rules, ours.contributions).sensitive).any()


def test_two_that_are_all_of_a_group_become_it() -> None:
    cells = small()
    y1, y2 = (cells.dimensions[0].position[code] for code in ("Y1", "Y2"))
    after = coarser(cells, merge(cells, 0, (y2, y1)))
    assert after.dimensions[0].codes == ("Total", "X", "Y", "X1", "X2", "X3")
    assert after.dimensions[0].position["Y"] in after.dimensions[0].leaves
    x, y = (cells.dimensions[0].position[code] for code in "XY")
    with golden.raises(DataError):
        merge(cells, 0, (x, y))  # nothing but the total would be left


def test_a_withheld_total_leaves_sums_that_nobody_sees() -> None:
    cells = small()
    hidden = coarser(cells, withhold_total(cells, 0))
    assert hidden.published.sum() == len(cells) - 1
    assert (hidden.total == cells.total).all()


@pytest.mark.parametrize(
    ("change", "what"),
    [(merge, ("X1", "Y1")), (merge, ("X", "X1")), (merge, ("Total", "X")), (drop_groups, 2), (end_at, 2)],
)
def test_refusals(change: Callable[..., Coarsening], what: Any) -> None:
    cells = small()
    position = cells.dimensions[0].position
    with golden.raises(DataError):
        change(cells, 0, tuple(position[code] for code in what) if isinstance(what, tuple) else what)


def test_of_several_groupings_no_level_is_the_last() -> None:
    several = Dimension.of("g", [("T", ""), ("a", "T"), ("b", "T")], [("T", ""), ("G", "T"), ("a", "G"), ("b", "G")])
    other = aggregate([several], several.leaves[:, None], np.arange(2), np.array([1, 2]))
    with golden.raises(DataError):
        end_at(other, 0, 1)


@pytest.mark.chain
@given(records())
def test_what_respondents_know_of_their_own_weights_is_put_together_as_well(
    given: tuple[list[Dimension], *tuple[np.ndarray, ...]],
) -> None:
    made, leaves, owner, value = given
    share = value * (1 + owner % 3)
    cells = aggregate(made, leaves, owner, value, 60, weighted=share, weight=1 + owner % 3)
    known = aggregate(made, leaves, owner, share, 60)
    for change in all_changes(cells):
        weighted, expected = coarser(cells, change).weighted, again(known, change, leaves, owner, share)
        assert weighted is not None
        assert (weighted.contributors == expected.contributors).all()
        assert (weighted.largest == expected.largest).all()
