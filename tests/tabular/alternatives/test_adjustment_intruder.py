"""The reader of adjusted tables, compared with an enumeration of all whole tables that it cannot exclude.

Short changes convince contributors of what groups of them cannot exclude either, and of nothing else.
"""

from itertools import product

import numpy as np
import pytest

from sluice.tabular.alternatives.adjustment_intruder import play, read_adjustment, read_alone
from sluice.tabular.alternatives.adjustment_region import AdjustedTable, TableSearch
from sluice.tabular.alternatives.altered_cells import Disclosed, play_contributors
from sluice.tabular.alternatives.controlled_adjustment import controlled_adjustment
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from tests.tabular.grids import RULES, asked, needs_of, square
from tests.tabular.tables import business

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
    rules = (PPercent(p=10),)
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
    monkeypatch.setattr("sluice.tabular.alternatives.whole_moves.EFFORT", 0)
    found = read_adjustment(table)
    assert np.flatnonzero(found.undecided).tolist() == [cell]
    assert not found.failing.any()


def drawn(rng: np.random.Generator) -> Cells:
    """Few firms in 3 by 3 cells, some of them in several."""
    made = [Dimension.flat("a", ["a1", "a2", "a3"]), Dimension.flat("b", ["b1", "b2", "b3"])]
    number = int(rng.integers(9, 26))
    leaves = rng.integers(1, 4, (number, 2)).astype(np.int32)
    return aggregate(made, leaves, rng.integers(0, number, number), rng.integers(20, 400, number))


def adjusted(cells: Cells, rng: np.random.Generator, cap: float) -> AdjustedTable:
    """Inner sensitive cells moved by their level and more; the sums follow, so that they may have moved as well."""
    needs = needs_of(cells)
    inner = (cells.codes > 0).all(axis=1)
    level = np.maximum(needs.lower, needs.upper)
    move = np.where(inner & needs.sensitive, rng.choice([-1, 1], len(cells)) * level, 0)
    move = np.where(cells.total + move < level, level, move)
    move = np.where(inner & needs.sensitive, move + rng.integers(1, 20, len(cells)), 0)
    value = np.zeros(len(cells), dtype=np.int64)
    for cell, codes in enumerate(cells.codes):
        below = inner & ((cells.codes == codes) | (codes == 0)).all(axis=1)
        value[cell] = (cells.total + move)[below].sum()
    moving = inner & needs.sensitive & (level > 0) & (np.abs(value - cells.total) >= level)
    return AdjustedTable(cells, value, moving, needs, RULES, Assumptions(), cap=cap)


def test_the_outcome_is_that_of_contributors_in_groups() -> None:
    rng, fails, settled = np.random.default_rng(8), 0, 0
    for _ in range(12):
        table = adjusted(drawn(rng), rng, float(rng.choice([5, 30, 100])))
        search = TableSearch(table)
        told, left = read_alone(table, search)

        def contributors(readers: Booleans, asked: Booleans, alone: bool) -> Disclosed:
            return play(table, readers, asked, search)  # noqa: B023

        others, open_ = play_contributors(table.cells, table.moving, 1, contributors)
        assert not (left | open_).any()
        assert told.tolist() == others.tolist()
        fails += int(told.sum())
        settled += int((table.moving & ~told).sum())
    assert fails > 0
    assert settled > 0


def test_what_is_asked_cell_by_cell_at_once_is_what_whole_tables_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, fails, settled = np.random.default_rng(4), 0, 0
    for _ in range(8):
        table = adjusted(drawn(rng), rng, float(rng.choice([5, 30, 100])))
        for owner in np.unique(table.cells.owners[table.moving, 0]):
            readers = table.cells.owners[:, 0] != owner
            answers = []
            for few in (0, len(table.cells)):
                monkeypatch.setattr("sluice.tabular.alternatives.adjustment_intruder.FEW", few)
                failing, undecided = play(table, readers, table.moving & ~readers, TableSearch(table))
                assert not undecided.any()
                answers.append(failing.tolist())
            assert answers[0] == answers[1]
            fails += sum(answers[0])
            settled += int((table.moving & ~readers).sum()) - sum(answers[0])
    assert fails > 0
    assert settled > 0


def test_without_effort_everything_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    table = adjusted(drawn(rng), rng, 100)
    monkeypatch.setattr("sluice.tabular.alternatives.whole_moves.EFFORT", 0)
    failing, undecided = read_alone(table, TableSearch(table))
    assert table.moving.any()
    assert (undecided == table.moving).all()
    assert not failing.any()


@pytest.mark.parametrize(
    ("name", "moved"),
    [pytest.param("s1k", None, marks=pytest.mark.chain), pytest.param("s10k", 519, marks=pytest.mark.longest)],
)
def test_a_whole_table_is_decided(name: str, moved: int | None) -> None:
    """Cells that are possible only if neighbours change their sides with them were left open here before."""
    cells = business(name)
    needs = needs_of(cells)
    found = controlled_adjustment(cells, needs, np.random.default_rng(1), rules=RULES)
    assert found.completed == found.attempted == (moved or int(needs.sensitive.sum()))
    assert found.safe
