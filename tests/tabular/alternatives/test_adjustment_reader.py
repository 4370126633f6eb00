"""The reader of adjusted tables, compared with an enumeration of all whole tables that it cannot exclude."""

from itertools import product

import numpy as np
import pytest

from sluice.tabular.alternatives.adjustment_reader import AdjustedTable, read_adjustment
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from tests.tabular.grids import asked, square

MOST = 26  # of an inner cell


def every_table() -> np.ndarray:
    """Shape (t, 3, 3): all tables of 2 by 2 whole inner cells up to MOST, with their sums."""
    inner = np.array(list(product(range(MOST + 1), repeat=4)), dtype=np.int16).reshape(-1, 2, 2)
    full = np.zeros((len(inner), 3, 3), dtype=np.int16)
    full[:, 1:, 1:], full[:, 0, 1:], full[:, 1:, 0] = inner, inner.sum(axis=1), inner.sum(axis=2)
    full[:, 0, 0] = inner.sum(axis=(1, 2))
    return full


def candidates(table: AdjustedTable, every: np.ndarray) -> np.ndarray:
    """Shape (t, c): the tables in which moved cells are a level away, and the others within the cap."""
    value = every[:, *table.cells.codes.T].astype(np.int32)
    low, high = table.bounds(None)
    possible = ((value >= low) & (value <= high)).all(axis=1)
    apart = np.abs(value - table.value) >= np.maximum(table.requirements.lower, table.requirements.upper)
    return np.asarray(value[possible & apart[:, table.moving].all(axis=1)])


@pytest.mark.chain
def test_who_knows_the_moved_cells_finds_what_all_tables_together_leave() -> None:
    every, rng, fails = every_table(), np.random.default_rng(1), 0
    for _ in range(12):
        cells = square(rng.integers(6, 12, (2, 2)).tolist())
        level, inner = int(rng.integers(1, 6)), (cells.codes > 0).all(axis=1)
        some = rng.permutation([(1, 1), (1, 2), (2, 1), (2, 2)])[: rng.integers(1, 3)]
        needs = asked(cells, {tuple(code): (level, level) for code in some.tolist()})
        moves = (level + rng.integers(0, 2, len(cells))) * rng.choice([-1, 1], len(cells)) * needs.sensitive
        inner = (cells.total + moves)[inner].reshape(2, 2)
        full = np.zeros((3, 3), dtype=np.int64)
        full[1:, 1:], full[0, 1:], full[1:, 0], full[0, 0] = inner, inner.sum(0), inner.sum(1), inner.sum()
        value = full[*cells.codes.T]
        known = Assumptions(coalition=0)
        cap = 100 * float(np.max(np.abs(value / cells.total - 1), where=~needs.sensitive, initial=0))
        table = AdjustedTable(cells, value, needs.sensitive, needs, (), known, cap=cap)
        left = candidates(table, every)
        least, most = table.bounds(None)
        lower = np.minimum(needs.lower, cells.total - least)
        upper = np.minimum(needs.upper, most - cells.total)
        close = (left.min(axis=0) > cells.total - lower) | (left.max(axis=0) < cells.total + upper)
        found = read_adjustment(table)
        assert not found.undecided.any()
        assert found.failing.tolist() == (close & needs.sensitive).tolist()
        fails += int(found.failing.sum())
    assert fails > 0


def test_the_gap_is_that_of_the_truth_that_is_looked_at() -> None:
    """One contributor under p% = 10: the candidates begin at the figure divided by 1.1 and by 0.9."""
    cells = square([[1000, 9000], [12000, 20000]])
    rules = (PPercent(10),)
    needs = requirements_of(rules, cells.contributions)
    cell = int(np.flatnonzero(cells.total == 1000)[0])
    value = cells.total.copy()
    value[cell] = 1150
    table = AdjustedTable(cells, value, needs.sensitive, needs, rules, Assumptions())
    below, above = table.sides
    assert below[cell] == pytest.approx(1150 / 1.1, abs=1)
    assert above[cell] == pytest.approx(1150 / 0.9, abs=1)


@pytest.mark.parametrize(("shares", "told"), [([400], 1), ([250, 150], 2)])
def test_who_alone_or_together_knows_a_cell_closes_the_other(shares: list[int], told: int) -> None:
    """Two cells of a row whose sum is published as it is, and known to be: who knows the one computes the other."""
    made = [Dimension.flat("a", ["u", "v"])]
    leaves = np.repeat([[1], [2]], [len(shares), 1], axis=0).astype(np.int32)
    cells = aggregate(made, leaves, np.arange(len(leaves)), np.array([*shares, 300]))
    needs = asked(cells, {1: (30, 30), 2: (30, 30)})
    for coalition in (told - 1, told):
        known = Assumptions(coalition=coalition, known_within=None)
        table = AdjustedTable(cells, np.array([700, 450, 250]), needs.sensitive, needs, (), known, cap=0.0)
        found = read_adjustment(table)
        assert (found.failing | found.undecided)[2] == (coalition == told)


def test_what_cannot_be_looked_for_is_undecided_and_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = square([[6, 9], [12, 20]])
    needs = asked(cells, {(1, 1): (2, 2)})
    cell = int(np.argmax(needs.sensitive))
    value = cells.total.copy()
    value[cell] += 3
    value[(cells.codes == (0, 0)).all(axis=1) | (cells.codes == (0, 1)).all(axis=1)] += 3
    value[(cells.codes == (1, 0)).all(axis=1)] += 3
    table = AdjustedTable(cells, value, needs.sensitive, needs, (), Assumptions(coalition=0))
    assert not (read_adjustment(table).failing | read_adjustment(table).undecided).any()
    monkeypatch.setattr("sluice.tabular.alternatives.adjustment_region.EFFORT", 0)
    monkeypatch.setattr("sluice.tabular.alternatives.short_moves.EFFORT", 0)
    found = read_adjustment(table)
    assert np.flatnonzero(found.undecided).tolist() == [cell]
    assert not found.failing.any()
