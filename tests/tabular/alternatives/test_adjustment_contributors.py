"""Short changes convince contributors of what groups of them cannot exclude either, and of nothing else."""

import numpy as np
import pytest

from sluice.tabular.alternatives.adjustment_contributors import read_alone
from sluice.tabular.alternatives.adjustment_reader import play
from sluice.tabular.alternatives.adjustment_region import AdjustedTable, TableSearch
from sluice.tabular.alternatives.contributors_in_groups import Told, play_contributors
from sluice.tabular.alternatives.controlled_adjustment import controlled_adjustment
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells
from sluice.tabular.model.dimension import Dimension
from tests.tabular.grids import RULES, needs_of
from tests.tabular.tables import business


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

        def contributors(readers: Booleans, asked: Booleans, alone: bool) -> Told:
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
                monkeypatch.setattr("sluice.tabular.alternatives.adjustment_reader.FEW", few)
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
    monkeypatch.setattr("sluice.tabular.alternatives.short_moves.EFFORT", 0)
    failing, undecided = read_alone(table, TableSearch(table))
    assert table.moving.any()
    assert (undecided == table.moving).all()
    assert not failing.any()


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        pytest.param("s1k", None, marks=pytest.mark.chain),
        pytest.param("s10k", 519, marks=pytest.mark.exhaustive),
    ],
)
def test_a_whole_table_is_decided(name: str, moved: int | None) -> None:
    """Cells that are possible only if neighbours change their sides with them were left open here before."""
    cells = business(name)
    needs = needs_of(cells)
    found = controlled_adjustment(cells, needs, np.random.default_rng(1), rules=RULES)
    assert found.completed == found.attempted == (moved or int(needs.sensitive.sum()))
    assert found.safe
