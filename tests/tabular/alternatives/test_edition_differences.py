"""Editions and overlapping tables of cell-key counts, played as a reader who subtracts them."""

import numpy as np

from sluice.tabular.alternatives.cell_key import perturb_counts, record_keys
from sluice.tabular.alternatives.edition_differences import EditionDifferences, chance_of_another_figure
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension

TABLE = PerturbationTable.of_largest_entropy(4, 2.0, 2)
AREA = Dimension.flat("area", [f"a{number}" for number in range(20)])


def figures(where: np.ndarray, secret: bytes) -> np.ndarray:
    """The published count of each area, of people 0, 1, 2, ... who live there."""
    people = np.flatnonzero(where >= 0)
    leaves = (where[people, None] + 1).astype(np.int32)
    cells = aggregate([AREA], leaves, people, np.ones(len(people), dtype=np.int64))
    made = perturb_counts(cells, leaves, record_keys(map(str, people), secret), TABLE)
    found = np.zeros(21, dtype=np.int64)
    found[cells.codes[:, 0]] = made.published
    return found


def test_one_who_left_is_found_by_the_one_cell_that_changed() -> None:
    """The reader sees two editions and knows that one person left: in most it reads off where this person lived."""
    rng = np.random.default_rng(1)
    found = 0
    for number in range(60):
        where = rng.integers(0, 20, 600)
        without = where.copy()
        without[0] = -1
        secret = f"secret number {number:>8}".encode()
        changed = np.flatnonzero(figures(where, secret)[1:] != figures(without, secret)[1:])
        assert set(changed.tolist()) <= {int(where[0])}  # no other cell ever changes
        found += len(changed)
    expected = chance_of_another_figure(TABLE.probabilities[-1])
    assert 0.75 < expected < 0.9  # 84 percent
    assert abs(found / 60 - expected) < 0.08


def test_among_many_who_come_and_leave_one_is_not_found() -> None:
    rng = np.random.default_rng(2)
    where = rng.integers(0, 20, 600)
    now = where.copy()
    now[rng.permutation(600)[:60]] = -1
    first, second = figures(where, b"a secret of the office"), figures(now, b"a secret of the office")
    count = [np.r_[0, np.bincount(w[w >= 0], minlength=20)] for w in (where, now)]
    inner = np.arange(21) > 0
    many = EditionDifferences.of(count[0], count[1], first, second, inner)
    assert many.changes == 60
    assert many.guess < 0.2
    one = count[0].copy()
    one[7] -= 1
    alone = EditionDifferences.of(count[0], one, first, np.where(np.arange(21) == 7, first - 1, first), inner)
    assert (alone.changes, alone.cells, alone.guess) == (1, 1, 1.0)
    hidden = EditionDifferences.of(count[0], one, first, first, inner)
    assert (hidden.changes, hidden.guess) == (1, 0.0)
    assert EditionDifferences.of(count[0], count[0], first, first, inner).guess == 0
