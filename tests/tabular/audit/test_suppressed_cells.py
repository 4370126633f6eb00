"""The search for what must remain possible, in large components and where the solver gives up."""

import numpy as np
import pytest

from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.audit.suppressed_cells import SuppressedCells
from sluice.tabular.model.feasibility_interval import FeasibleRegion, UnsolvedError
from tests.tabular.grids import ALONE, BOX, RULES, grid, hiding, needs_of, run
from tests.tabular.tables import business


def test_an_attack_that_was_not_decided_is_unknown_and_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(self: FeasibleRegion, cell: int, sign: int) -> None:
        raise UnsolvedError("time is over")

    monkeypatch.setattr(FeasibleRegion, "extreme", give_up)
    monkeypatch.setattr(SuppressedCells, "_nearby", lambda self, questions, part: {})
    outcome = run(grid({("a", "u"): 1}), BOX)
    assert not outcome.safe
    assert outcome.unknown
    assert not outcome.breaches
    assert outcome.completed < outcome.attempted


def test_a_large_component_is_decided_in_part_as_in_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking around a cell first, without the compiled search, gives the verdicts of the whole component."""
    cells = business("s1k")
    needs = needs_of(cells)
    hidden = needs.sensitive | (np.random.default_rng(5).random(len(cells)) < 0.3)
    status = hiding(needs, hidden)
    usual = audit(cells, status, needs, RULES, ALONE)
    monkeypatch.setattr("sluice.tabular.audit.suppressed_cells._LARGE", 30)
    monkeypatch.setattr(SuppressedCells, "_nearby", lambda self, questions, part: {})
    other = audit(cells, status, needs, RULES, ALONE)
    assert {(b.cell, b.owners) for b in usual.breaches} == {(b.cell, b.owners) for b in other.breaches}
    assert len(usual.breaches) > 5
