"""Changes of few cells: that they add up, keep to what each cell may do, and are not found where there are none."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from sluice.tabular.alternatives.whole_moves import ShortMoves, UndecidedError
from tests.tabular.generated import generated


def moves_of(equations: csr_array, gaps: dict[int, tuple[float, float]] | None = None) -> ShortMoves:
    """The search with a gap (from, to) of some cells."""
    gaps = gaps or {}
    below, above = (np.array([gap[end] for gap in gaps.values()], dtype=np.float64) for end in (0, 1))
    apart = np.array(list(gaps), dtype=np.intp)
    return ShortMoves(equations, np.zeros(equations.shape[1], dtype=bool), apart, below, above)


def test_a_change_adds_up_and_moves_what_may_move() -> None:
    cells, rng = generated("2-D"), np.random.default_rng(1)
    search, found = moves_of(cells.equations), 0
    for cell in range(0, len(cells), 7):
        down = np.where(rng.random(len(cells)) < 0.8, cells.total, 0).astype(np.float64)
        up = np.where(rng.random(len(cells)) < 0.8, np.inf, 0)
        change = int(rng.choice([-1, 1]) * max(1, cells.total[cell] // 10))
        made = search.found(cell, change, down, up)
        if made is None:
            continue
        found += 1
        assert not (cells.equations @ made).any()
        assert ((made >= -down) & (made <= up)).all()
        assert made[cell] * np.sign(change) >= abs(change)
        assert (made != 0).sum() < len(cells) / 3
    assert found > 2


def test_where_nothing_else_may_move_there_is_none() -> None:
    cells = generated("2-D")
    nothing = np.zeros(len(cells))
    search = moves_of(cells.equations)
    alone = np.where(np.arange(len(cells)) == 5, 100.0, 0.0)
    assert search.found(5, 10, nothing, alone) is None
    assert search.found(5, 200, np.full(len(cells), np.inf), alone) is None  # further than it may go
    assert search.found(5, 10, np.full(len(cells), np.inf), np.full(len(cells), np.inf)) is not None


def test_with_gaps_it_finds_what_an_enumeration_finds() -> None:
    """Two by two cells and their sums; each cell goes 3 either way, some have gaps, and sums go less far."""
    inner = np.array(list(product(range(-3, 4), repeat=4))).reshape(-1, 2, 2)
    full = np.zeros((len(inner), 3, 3), dtype=np.int64)
    full[:, 1:, 1:], full[:, 0, 1:], full[:, 1:, 0] = inner, inner.sum(axis=1), inner.sum(axis=2)
    full[:, 0, 0] = inner.sum(axis=(1, 2))
    every = full.reshape(-1, 9)
    sums = np.zeros((6, 3, 3))
    for line in range(3):
        sums[line, line] = sums[3 + line, :, line] = -1, 1, 1
    equations, rng = csr_array(sums.reshape(6, 9)), np.random.default_rng(5)
    answers = []
    for _ in range(150):
        down, up = rng.integers(0, 4, (2, 9)).astype(np.float64)
        gaps = {}
        for cell in rng.permutation(9)[: rng.integers(0, 6)].tolist():
            start = int(rng.integers(-4, 2))
            gap = (start, start + int(rng.integers(2, 5)))
            gaps[cell] = gap if gap[0] >= 0 or gap[1] <= 0 else (0, gap[1])
        cell, change = int(rng.integers(9)), int(rng.choice([-2, -1, 1, 2]))
        possible = ((every >= -down) & (every <= up)).all(axis=1) & (every[:, cell] * np.sign(change) >= abs(change))
        for at, (ends, begins) in gaps.items():
            possible &= (every[:, at] <= ends) | (every[:, at] >= begins)
        found = moves_of(equations, gaps).found(cell, change, down, up)
        assert (found is not None) == possible.any()
        assert found is None or (every[possible] == found).all(axis=1).any()
        answers.append(found is not None)
    assert 30 < sum(answers) < 120


@pytest.mark.parametrize("limit", ["EFFORT", "SHORT_NODES"])
def test_a_question_ends_after_so_much_effort_and_so_many_programs(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    cells = generated("2-D")
    endless = np.full(len(cells), np.inf)
    monkeypatch.setattr(f"sluice.tabular.alternatives.whole_moves.{limit}", int(limit == "SHORT_NODES"))
    with pytest.raises(UndecidedError):
        moves_of(cells.equations, {5: (20.0, 40.0)}).found(5, 30, endless, endless)
