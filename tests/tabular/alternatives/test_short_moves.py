"""Changes of few cells: that they add up, keep to what each cell may do, and are not found where there are none."""

import numpy as np

from sluice.tabular.alternatives.short_moves import ShortMoves
from tests.tabular.generated import generated


def test_a_change_adds_up_and_moves_what_may_move() -> None:
    cells, rng = generated("2-D"), np.random.default_rng(1)
    search, found = ShortMoves(cells.equations, np.zeros(len(cells), dtype=bool)), 0
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
    search = ShortMoves(cells.equations, np.zeros(len(cells), dtype=bool))
    alone = np.where(np.arange(len(cells)) == 5, 100.0, 0.0)
    assert search.found(5, 10, nothing, alone) is None
    assert search.found(5, 200, np.full(len(cells), np.inf), alone) is None  # further than it may go
    assert search.found(5, 10, np.full(len(cells), np.inf), np.full(len(cells), np.inf)) is not None
