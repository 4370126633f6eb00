from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import DataError
from sluice.tabular.advice.coarsening import Coarsening, coarser, drop_groups, end_at, merge, withhold_total
from sluice.tabular.advice.redesign import greedy_redesign, redesigns
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from tests.tabular.tables import business, dimensions

RULES = [MinimumFrequency(3), PPercent(10)]


@st.composite
def records(draw: st.DrawFn) -> tuple[list[Dimension], np.ndarray, np.ndarray, np.ndarray]:
    made = [draw(dimensions(name)) for name in "ab"[: draw(st.integers(1, 2))]]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 50))
    leaves = np.column_stack([rng.choice(d.leaves, count) for d in made]).astype(np.int32)
    return made, leaves, rng.integers(0, 25, count), rng.integers(1, 100, count)


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


def again(
    cells: Cells, change: Coarsening, leaves: np.ndarray, owner: np.ndarray, value: np.ndarray, kept: int = 60
) -> Cells:
    """The changed table from the records."""
    made = list(cells.dimensions)
    made[change.axis] = change.dimension
    leaves = leaves.copy()
    leaves[:, change.axis] = change.of_leaf[leaves[:, change.axis]]
    assert np.isin(leaves[:, change.axis], change.dimension.leaves).all()
    return aggregate(made, leaves, owner, value, kept)


@settings(max_examples=40, deadline=None)
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


@settings(max_examples=40, deadline=None)
@given(records(), st.integers(2, 3))
def test_cut_lists_never_make_a_sensitive_cell_pass_for_a_safe_one(
    given: tuple[list[Dimension], *tuple[np.ndarray, ...]], kept: int
) -> None:
    made, *rest = given
    cells = aggregate(made, *rest, kept)
    rules = [MinimumFrequency(2), PPercent(30)]
    for change in all_changes(cells):
        ours, expected = coarser(cells, change), again(cells, change, *rest)
        assert (ours.contributors <= expected.contributors).all()
        assert (ours.largest >= expected.largest[:, :kept]).all()
        missed = requirements_of(rules, expected.contributions).sensitive
        assert not (missed & ~requirements_of(rules, ours.contributions).sensitive).any()


@settings(max_examples=25, deadline=None)
@given(records())
def test_figures_of_the_advice_by_counting_again(given: tuple[list[Dimension], *tuple[np.ndarray, ...]]) -> None:
    made, *rest = given
    cells = aggregate(made, *rest, 60)
    before = requirements_of(RULES, cells.contributions).sensitive
    advice = redesigns(cells, RULES)
    for redesign in advice:
        if redesign.change.withheld:
            assert redesign.sensitive == (before.sum(), before.sum())
            assert redesign.given_up == (cells.codes[:, redesign.change.axis] == 0).sum()
            continue
        after = again(cells, redesign.change, *rest)
        sensitive = requirements_of(RULES, after.contributions).sensitive
        assert redesign.sensitive == (before.sum(), sensitive.sum())
        assert redesign.cells == (len(cells), len(after))
        sums = [int(sensitive[after.equations[[row]].indices].sum()) for row in range(after.equations.shape[0])]
        assert redesign.single[1] == sums.count(1)
    worth = [redesign.spared / max(redesign.given_up, 1) for redesign in advice]
    assert worth == sorted(worth, reverse=True)
    assert all(redesign.spared > 0 for redesign in advice)


def small() -> Cells:
    """By industry: X1 and X2 have two contributors each, X3, Y1, Y2 five; each gives 10."""
    rows = [
        ("Total", ""),
        ("X", "Total"),
        ("Y", "Total"),
        ("X1", "X"),
        ("X2", "X"),
        ("X3", "X"),
        ("Y1", "Y"),
        ("Y2", "Y"),
    ]
    industry = Dimension.of("ind", rows)
    counts = {"X1": 2, "X2": 2, "X3": 5, "Y1": 5, "Y2": 5}
    leaves = np.repeat([industry.position[code] for code in counts], list(counts.values()))[:, None]
    return aggregate([industry], leaves.astype(np.int32), np.arange(len(leaves)), np.full(len(leaves), 10))


def test_the_advice_by_hand_in_words() -> None:
    cells = small()
    advice = redesigns(cells, [MinimumFrequency(3)])
    assert [redesign.says for redesign in advice] == [
        "merge ind X1 and X2: 2 of 2 sensitive cells go, and 0 of 0 marginals with a single one; 1 of 8 cells fewer",
        "end ind at level 1: 2 of 2 sensitive cells go, and 0 of 0 marginals with a single one; 5 of 8 cells fewer",
    ]
    merged = coarser(cells, advice[0].change)
    assert merged.name(int(np.flatnonzero(merged.total == 40)[0])) == "ind X1+X2"
    assert [r.change.says for r in redesigns(cells, [MinimumFrequency(3)], ordered=["ind"])] == [
        "merge ind X1 and X2",
        "end ind at level 1",
    ]
    taken, last = greedy_redesign(cells, [MinimumFrequency(3)], steps=5)
    assert [redesign.change.says for redesign in taken] == ["merge ind X1 and X2"]
    assert not requirements_of([MinimumFrequency(3)], last.contributions).sensitive.any()


def test_two_that_are_all_of_a_group_become_it() -> None:
    cells = small()
    y1, y2 = (cells.dimensions[0].position[code] for code in ("Y1", "Y2"))
    after = coarser(cells, merge(cells, 0, (y2, y1)))
    assert after.dimensions[0].codes == ("Total", "X", "Y", "X1", "X2", "X3")
    assert after.dimensions[0].position["Y"] in after.dimensions[0].leaves
    x, y = (cells.dimensions[0].position[code] for code in "XY")
    with pytest.raises(DataError, match="'X' and 'Y' of 'ind' are no siblings that could be merged"):
        merge(cells, 0, (x, y))  # nothing but the total would be left


def test_a_withheld_total_leaves_sums_that_nobody_sees() -> None:
    cells = small()
    hidden = coarser(cells, withhold_total(cells, 0))
    assert hidden.published.sum() == len(cells) - 1
    assert (hidden.total == cells.total).all()


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
    assert requirements_of(RULES, last.contributions).sensitive.sum() == taken[-1].sensitive[1]


def test_refusals() -> None:
    cells = small()
    position = cells.dimensions[0].position
    for pair in (("X1", "Y1"), ("X", "X1"), ("Total", "X")):
        with pytest.raises(DataError, match="are no siblings that could be merged"):
            merge(cells, 0, (position[pair[0]], position[pair[1]]))
    with pytest.raises(DataError, match="level 2 of 'ind' has no groups below the total"):
        drop_groups(cells, 0, 2)
    with pytest.raises(DataError, match="'ind' cannot end at level 2; its levels go to 2"):
        end_at(cells, 0, 2)
    several = Dimension.of("g", [("T", ""), ("a", "T"), ("b", "T")], [("T", ""), ("G", "T"), ("a", "G"), ("b", "G")])
    other = aggregate([several], several.leaves[:, None], np.arange(2), np.array([1, 2]))
    with pytest.raises(DataError, match="'g' has several groupings of its leaves"):
        end_at(other, 0, 1)
    with pytest.raises(DataError, match="ordered names the dimension 'indd', which there is not"):
        redesigns(cells, RULES, ["indd"])
    with pytest.raises(DataError, match="steps of a redesign must be 1 or more; got 0"):
        greedy_redesign(cells, RULES, 0)


def test_one_cell_and_nothing_sensitive_give_no_advice() -> None:
    one = Dimension.flat("a", ["x", "y"])
    lone = aggregate([one], one.leaves[:1, None], np.arange(1), np.array([5]))
    assert all(redesign.change.withheld for redesign in redesigns(lone, RULES))
    assert redesigns(small(), [MinimumFrequency(2)]) == []
