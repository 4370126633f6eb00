"""Feasibility intervals, compared with an enumeration of whole tables and with the programs run again.

What is said of suppressed cells rests on their true intervals, not on what the audit proved before it stopped.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.audit.proven_interval import ProvenInterval
from sluice.tabular.audit.published_intervals import learned_intervals, published_intervals
from sluice.tabular.audit.single_cell_attacks import doubt_wanted, in_words
from sluice.tabular.audit.suppressed_cells import SuppressedCells
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Floats, Status
from sluice.tabular.model.feasibility_interval import feasibility_intervals
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from tests.golden import golden
from tests.tabular.grids import BOX, asked, at, hiding, pattern, square, table
from tests.tabular.tables import business, tables

FIVE = (PPercent(p=5),)


def hide(cells: Cells, share: float, seed: int) -> np.ndarray:
    hidden = np.random.default_rng(seed).random(len(cells)) < share
    return np.where(hidden, Status.SECONDARY, Status.PUBLISHED).astype(np.uint8)


def test_all_tables_that_fit() -> None:
    """Inner cells of 6, 9, 12, 20 with all marginals published: 6 is 0 to 15, and so on, by enumeration."""
    cells = square([[6, 9], [12, 20]])
    inner = (cells.codes > 0).all(axis=1)
    fitting = [(a, 15 - a, 18 - a, 14 + a) for a in range(50) if min(a, 15 - a, 18 - a, 14 + a) >= 0]
    found = published_intervals(cells, np.where(inner, 2, 0).astype(np.uint8), asked(cells))
    assert found.low[inner].tolist() == [min(column) for column in zip(*fitting, strict=True)]
    assert found.high[inner].tolist() == [max(column) for column in zip(*fitting, strict=True)]
    assert np.isnan(found.low[~inner]).all()
    assert found.attempted == found.completed == 4
    assert found.safe


@given(tables(most=30), st.integers(0, 99), st.sampled_from([None, 1, 2]))
def test_they_narrow_nothing(cells: Cells, seed: int, digits: int | None) -> None:
    """With the intervals as bounds, the programs find what they found without."""
    status = hide(cells, 0.5, seed)
    found = published_intervals(cells, status, asked(cells), digits=digits)
    which = np.flatnonzero(status)
    value = np.where(status == 0, cells.total, np.nan)
    nothing, endless = np.zeros(len(cells)), np.full(len(cells), np.inf)
    without = feasibility_intervals(cells.equations, value, which, nothing, endless)
    bounds = np.where(status == 0, cells.total, found.low), np.where(status == 0, cells.total, found.high)
    again = feasibility_intervals(cells.equations, value, which, *bounds)
    for before, after in zip(without, again, strict=True):
        same = np.isfinite(before)
        assert (same == np.isfinite(after)).all()
        assert before[same] == pytest.approx(after[same], abs=1e-4, rel=1e-6)
    assert (found.low[which] <= cells.total[which]).all()
    assert (found.high[which] >= cells.total[which]).all()
    assert (found.low[which] <= without[0] + 1e-4 * np.maximum(1, np.abs(without[0]))).all()
    assert (found.high[which] >= np.where(np.isfinite(without[1]), without[1] - 1e-4, np.inf)).all()


def test_what_is_hidden_does_not_show() -> None:
    """Two tables that publish the same have the same intervals."""
    first, second = square([[6, 9], [12, 20]]), square([[1, 14], [17, 15]])
    status = np.where((first.codes > 0).all(axis=1), Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    found = [published_intervals(cells, status, asked(cells)) for cells in (first, second)]
    assert (first.total == second.total)[status == 0].all()
    assert np.array_equal(found[0].low, found[1].low, equal_nan=True)
    assert np.array_equal(found[0].high, found[1].high, equal_nan=True)


def test_digits_go_outward() -> None:
    cells = square([[600, 987], [1234, 2000]])
    status = np.where((cells.codes > 0).all(axis=1), Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    exact = published_intervals(cells, status, asked(cells))
    rough = published_intervals(cells, status, asked(cells), digits=1)
    inner = status > 0
    assert exact.high[inner].tolist() == [1587, 1587, 1834, 2987]
    assert rough.high[inner].tolist() == [2000, 2000, 2000, 3000]
    assert exact.low[inner].tolist() == [0, 0, 247, 1400]
    assert rough.low[inner].tolist() == [0, 0, 200, 1000]


def test_a_pattern_that_gives_a_cell_away_is_not_safe() -> None:
    """One suppressed cell in a row is the marginal less the rest."""
    cells = square([[6, 9], [12, 20]])
    cell = int(np.flatnonzero((cells.codes == 1).all(axis=1))[0])
    status = np.zeros(len(cells), dtype=np.uint8)
    status[cell] = Status.PRIMARY
    needs = asked(cells)
    needs.sensitive[cell], needs.upper[cell] = True, 1
    found = published_intervals(cells, status, needs)
    assert (found.low[cell], found.high[cell]) == (6, 6)
    assert found.failing.tolist() == [cell]
    assert not found.safe


def test_without_bounds_below() -> None:
    cells = square([[6, 9], [12, 20]])
    status = np.where((cells.codes > 0).all(axis=1), Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    found = published_intervals(cells, status, asked(cells), nonnegative=False)
    assert (found.low[status > 0] == -np.inf).all()
    assert (found.high[status > 0] == np.inf).all()


def test_a_withheld_marginal_gets_no_interval() -> None:
    cells = square([[6, 9], [12, 20]])
    status = np.where((cells.codes > 0).all(axis=1), Status.PUBLISHED, Status.WITHHELD).astype(np.uint8)
    found = published_intervals(cells, status, asked(cells))
    assert np.isnan(found.low).all()
    assert found.attempted == 0


def test_digits_are_at_least_one() -> None:
    cells = square([[6, 9], [12, 20]])
    with golden.raises(DataError):
        published_intervals(cells, np.zeros(len(cells), dtype=np.uint8), asked(cells), digits=0)


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
