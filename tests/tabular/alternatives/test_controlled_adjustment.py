"""Controlled tabular adjustment, compared with an enumeration of all whole tables nearby.

The tables of Dandekar and Cox (2002) were not at hand, so none of their figures is compared.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sluice.errors import DataError
from sluice.tabular.alternatives import controlled_adjustment as method
from sluice.tabular.alternatives.controlled_adjustment import controlled_adjustment
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import Requirements, requirements_of
from tests.tabular.tables import business, tables


def square(values: list[list[int]]) -> Cells:
    array = np.array(values)
    made = [Dimension.flat("a", ["a1", "a2"]), Dimension.flat("b", ["b1", "b2"])]
    leaves = (np.argwhere(array >= 0) + 1).astype(np.int32)
    return aggregate(made, leaves, np.arange(array.size), array.ravel())


def requirement(cells: Cells, levels: dict[tuple[int, int], tuple[int, int]]) -> Requirements:
    none = np.zeros((3, len(cells)), dtype=np.int64)
    found = Requirements({}, np.zeros(len(cells), dtype=bool), *none)
    for code, (lower, upper) in levels.items():
        cell = int(np.flatnonzero((cells.codes == code).all(axis=1))[0])
        found.sensitive[cell], found.lower[cell], found.upper[cell] = True, lower, upper
    return found


def holds(cells: Cells, requirements: Requirements, value: np.ndarray) -> np.ndarray:
    """Whether each sensitive cell is far enough from its total; `value` of shape (c,), or (t, c) for t tables."""
    moved = (value >= cells.total + requirements.upper) & (requirements.upper > 0)
    moved |= (value <= cells.total - requirements.lower) & (requirements.lower > 0)
    needed = requirements.sensitive & ((requirements.upper > 0) | (requirements.lower > 0))
    return np.asarray(moved[..., needed].all(axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "levels",
    [
        {(1, 1): (3, 3)},
        {(1, 1): (3, 3), (2, 2): (2, 2)},
        {(1, 1): (5, 1), (1, 2): (2, 4), (2, 1): (1, 1)},
        {(0, 1): (4, 4), (2, 2): (3, 3)},
    ],
)
def test_no_whole_table_is_nearer(
    levels: dict[tuple[int, int], tuple[int, int]], exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables with inner cells within 7 of the truth; the search by prices finds the optimum at this size, too."""
    cells = square([[6, 9], [12, 20]])
    requirements = requirement(cells, levels)
    monkeypatch.setattr(method, "EXACT", 25 if exact else -1)
    weight = 1 / cells.total
    inner = np.array(list(product(range(-7, 8), repeat=4))).reshape(-1, 2, 2)
    full = np.zeros((len(inner), 3, 3), dtype=int)
    full[:, 1:, 1:], full[:, 0, 1:], full[:, 1:, 0] = inner, inner.sum(axis=1), inner.sum(axis=2)
    full[:, 0, 0] = inner.sum(axis=(1, 2))
    change = full[:, *cells.codes.T]
    value = cells.total + change
    allowed = (value >= 0).all(axis=1) & holds(cells, requirements, value)
    assert allowed.any()
    best = (np.abs(change[allowed]) @ weight).min()
    found = controlled_adjustment(cells, requirements)
    assert found.safe
    assert weight @ np.abs(found.value - cells.total) == pytest.approx(best)


@pytest.mark.slow
@settings(max_examples=40)
@given(tables(), st.booleans())
def test_adds_up_and_keeps_every_level(cells: Cells, exact: bool) -> None:
    requirements = requirements_of([MinimumFrequency(3), PPercent(10)], cells.contributions)
    assume(len(cells) < 300)
    before = method.EXACT
    method.EXACT = 8 if exact else -1
    try:
        found = controlled_adjustment(cells, requirements, nodes=50)
    finally:
        method.EXACT = before
    assert not (cells.equations @ found.value).any()
    assert (found.value >= 0).all()
    assert holds(cells, requirements, found.value)
    assert found.safe
    assert (found.value == 0)[(cells.total == 0) & ~requirements.sensitive].all()


def test_a_generous_cap_is_kept() -> None:
    cells = business("s1k")
    requirements = requirements_of([PPercent(10)], cells.contributions)
    found = controlled_adjustment(cells, requirements, cap=30)
    others = ~requirements.sensitive
    assert (100 * np.abs(found.value - cells.total) <= 30 * cells.total)[others].all()
    assert not (cells.equations @ found.value).any()
    assert found.safe


def test_a_cap_that_cannot_be_kept_names_a_cell() -> None:
    """6 must change by 3; its row and column, 15 and 18, may change by 5 %, which is less than 1."""
    cells = square([[6, 9], [12, 20]])
    with pytest.raises(DataError, match=r"within the bounds and the cap; \d+ cells.*the first of them a .*, b "):
        controlled_adjustment(cells, requirement(cells, {(1, 1): (3, 3)}), cap=5)


def test_cells_that_nobody_sees_change_freely() -> None:
    cells = square([[6, 9], [12, 20]])
    hidden = replace(cells, published=(cells.codes > 0).all(axis=1))
    found = controlled_adjustment(hidden, requirement(cells, {(1, 1): (3, 3)}), cap=0)
    changed = hidden.published & (found.value != cells.total)
    assert changed.sum() == 1
    assert not (cells.equations @ found.value).any()


def test_only_one_side_is_left() -> None:
    cells = square([[6, 9], [12, 20]])
    up = controlled_adjustment(cells, requirement(cells, {(1, 1): (0, 4)}))
    down = controlled_adjustment(cells, requirement(cells, {(1, 1): (4, 0)}))
    at = int(np.flatnonzero((cells.codes == 1).all(axis=1))[0])
    assert up.value[at] >= 10
    assert down.value[at] <= 2


def test_nothing_sensitive_changes_nothing() -> None:
    cells = square([[6, 9], [12, 20]])
    assert (controlled_adjustment(cells, requirement(cells, {})).value == cells.total).all()


def test_refusals() -> None:
    cells = square([[6, 9], [12, 20]])
    nothing = requirement(cells, {})
    with pytest.raises(DataError, match="cap of controlled_adjustment must be 0 to 100"):
        controlled_adjustment(cells, nothing, cap=101)
    with pytest.raises(DataError, match="weight of controlled_adjustment"):
        controlled_adjustment(cells, nothing, weight=-np.ones(len(cells)))
    negative = replace(cells, total=-cells.total)
    with pytest.raises(DataError, match="nonnegative: false"):
        controlled_adjustment(negative, nothing)
    moved = controlled_adjustment(negative, requirement(cells, {(1, 1): (3, 3)}), Assumptions(nonnegative=False))
    assert moved.safe
