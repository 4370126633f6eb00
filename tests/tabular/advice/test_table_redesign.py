from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from sluice.ground.errors import DataError
from sluice.tabular.advice.coarsening import coarser
from sluice.tabular.advice.table_redesign import Redesign, greedy_redesign, redesigns
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from tests.golden import golden
from tests.tabular.grids import RULES, needs_of
from tests.tabular.redesigns import again, records, small
from tests.tabular.tables import business


@pytest.mark.chain
@given(records())
def test_figures_of_the_advice_by_counting_again(given: tuple[list[Dimension], *tuple[np.ndarray, ...]]) -> None:
    made, *rest = given
    cells = aggregate(made, *rest, 60)
    before = needs_of(cells).sensitive
    advice = redesigns(cells, RULES)
    for redesign in advice:
        if redesign.change.withheld:
            assert redesign.sensitive == (before.sum(), before.sum())
            assert redesign.given_up == (cells.codes[:, redesign.change.axis] == 0).sum()
            continue
        after = again(cells, redesign.change, *rest)
        sensitive = needs_of(after).sensitive
        assert redesign.sensitive == (before.sum(), sensitive.sum())
        assert redesign.cells == (len(cells), len(after))
        sums = [int(sensitive[after.equations[[row]].indices].sum()) for row in range(after.equations.shape[0])]
        assert redesign.single[1] == sums.count(1)
    worth = [redesign.spared / max(redesign.given_up, 1) for redesign in advice]
    assert worth == sorted(worth, reverse=True)
    assert all(redesign.spared > 0 for redesign in advice)


def test_the_advice_by_hand_in_words() -> None:
    cells = small()
    advice = redesigns(cells, [MinimumFrequency(n=3)])
    golden([redesign.says for redesign in advice])
    merged = coarser(cells, advice[0].change)
    assert merged.name(int(np.flatnonzero(merged.total == 40)[0])) == "ind X1+X2"
    golden([r.change.says for r in redesigns(cells, [MinimumFrequency(n=3)], ordered=["ind"])])
    taken, last = greedy_redesign(cells, [MinimumFrequency(n=3)], steps=5)
    golden([redesign.change.says for redesign in taken])
    assert not requirements_of([MinimumFrequency(n=3)], last.contributions).sensitive.any()


@pytest.mark.chain
def test_the_business_table_gets_better_step_by_step() -> None:
    cells = business("s1k")
    taken, last = greedy_redesign(cells, RULES, steps=4)
    assert len(taken) == 4
    assert [r.change.says for r in taken] == [r.change.says for r in greedy_redesign(cells, RULES, steps=4)[0]]
    for one, other in pairwise(taken):
        assert one.sensitive[1] == other.sensitive[0]
        assert one.cells[1] == other.cells[0]
    assert (last.equations @ last.total == 0).all()
    assert last.total.max() == cells.total.max()
    assert needs_of(last).sensitive.sum() == taken[-1].sensitive[1]


def test_refusals() -> None:
    cells = small()
    with golden.raises(DataError):
        redesigns(cells, RULES, ["indd"])
    with golden.raises(DataError):
        greedy_redesign(cells, RULES, 0)


def test_one_cell_and_nothing_sensitive_give_no_advice() -> None:
    one = Dimension.flat("a", ["x", "y"])
    lone = aggregate([one], one.leaves[:1, None], np.arange(1), np.array([5]))
    assert all(redesign.change.withheld for redesign in redesigns(lone, RULES))
    assert redesigns(small(), [MinimumFrequency(n=2)]) == []


@pytest.mark.parametrize("single", [(4, 3), (4, 4), (4, 5)])
def test_marginals_that_hold_a_single_sensitive_cell_only_then_are_said(single: tuple[int, int]) -> None:
    """None says that -1 of 4 go."""
    change: Any = SimpleNamespace(says="merge a and b")
    golden([Redesign(change, (7, 5), single, (20, 16)).says])
