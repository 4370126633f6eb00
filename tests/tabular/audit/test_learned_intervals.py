"""What is said of suppressed cells rests on their true intervals, not on what the audit proved before it stopped."""

import numpy as np
import pytest

from sluice.tabular.audit.audit import audit
from sluice.tabular.audit.learned_intervals import learned_intervals
from sluice.tabular.audit.proven_interval import ProvenInterval
from sluice.tabular.audit.single_cell_attacks import doubt_wanted, in_words
from sluice.tabular.audit.suppressed_cells import SuppressedCells
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Floats
from sluice.tabular.model.feasibility_interval import feasibility_intervals
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from tests.golden import golden
from tests.tabular.grids import BOX, at, hiding, pattern, table
from tests.tabular.tables import business

FIVE = (PPercent(5),)


def dominated(beside: int = 100) -> Cells:
    """(a, u) has 1000 and 3; the cell beside it in the box has four equal parts, all others four of 100."""
    records = [("a", "u", 1, 1000), ("a", "u", 2, 3), *(("a", "v", 10 + n, beside) for n in range(4))]
    others = [(r, c) for r in "abc" for c in "uvw" if (r, c) not in (("a", "u"), ("a", "v"))]
    records += [(r, c, 100 * k + n, 100) for k, (r, c) in enumerate(others, 1) for n in range(4)]
    return table(records)


def learned(cells: Cells) -> tuple[Floats, Floats]:
    needs = requirements_of(FIVE, cells.contributions)
    status = pattern(cells, BOX, needs)
    assert audit(cells, status, needs, FIVE, Assumptions(coalition=0)).safe
    low, high, decided = learned_intervals(cells, status, needs, FIVE, Assumptions(), doubt_wanted(cells.contributions))
    assert decided.all()
    return low, high


def test_no_alarm_where_the_audit_only_stopped_early() -> None:
    """A policy of 5 % asks for doubt of 5 %; the cell may be 40 % larger, so nobody comes within 10 %."""
    cells = dominated()
    needs = requirements_of(FIVE, cells.contributions)
    outcome = audit(cells, pattern(cells, BOX, needs), needs, FIVE, Assumptions(unions=False))
    hidden = ~np.isnan(outcome.lower)
    proven = [np.where(hidden, bound, cells.total) for bound in (outcome.lower, outcome.upper)]
    golden(in_words(cells.contributions, *proven))
    assert all(line.startswith("In no cell ") for line in in_words(cells.contributions, *learned(cells)))


def test_no_comfort_where_the_interval_is_narrow_indeed() -> None:
    """The cell beside it has 64, so (a, u) may be larger by 64 of 1000: enough for 5 %, and too near for 10 %."""
    cells = dominated(beside=16)
    low, high = learned(cells)
    cell = at(cells, "a", "u")
    assert low[cell] < 1003
    assert high[cell] == 1067
    assert in_words(cells.contributions, low, high)[2].startswith("In 1 cell ")


def test_what_is_not_decided_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = dominated()
    needs = requirements_of(FIVE, cells.contributions)
    nothing = np.zeros(0)
    undecided = ProvenInterval(0.0, 0.0, nothing.astype(np.intp), nothing, complete=False)
    monkeypatch.setattr(SuppressedCells, "intervals", lambda self, questions, workers: [undecided for _ in questions])
    wanted = doubt_wanted(cells.contributions)
    _, _, decided = learned_intervals(cells, pattern(cells, BOX, needs), needs, FIVE, Assumptions(), wanted)
    assert np.flatnonzero(~decided).tolist() == [at(cells, "a", "u")]


def test_the_sentences_are_those_of_the_true_intervals() -> None:
    """On the business table with random holes, whose intervals linear programs find over everything."""
    cells = business("s1k")
    needs = requirements_of(FIVE, cells.contributions)
    hidden = needs.sensitive | (np.random.default_rng(2).random(len(cells)) < 0.1)
    status = hiding(needs, hidden)
    low, high, decided = learned_intervals(cells, status, needs, FIVE, Assumptions(), doubt_wanted(cells.contributions))
    assert decided.all()
    ends = np.zeros(len(cells)), np.full(len(cells), np.inf)
    which = np.flatnonzero(hidden)
    true = [cells.total.astype(float) for _ in range(2)]
    value = np.where(hidden, np.nan, cells.total)
    true[0][which], true[1][which] = feasibility_intervals(cells.equations, value, which, *ends)
    said = in_words(cells.contributions, low, high)
    assert said == in_words(cells.contributions, *(np.rint(end) for end in true))
    assert sum(not line.startswith("In no cell") for line in said) >= 2
