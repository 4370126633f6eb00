"""What is said of how far suppressed cells are from the cheapest safe pattern."""

import numpy as np

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Status
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from tasks.release.tables.protection import Mode, ProtectionRequest
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.suppressed_cells import SuppressedCells, suppress_cells
from tests.golden import golden
from tests.tabular.generated import generated


def suppressed(mode: Mode, seconds: float | None) -> SuppressedCells:
    cells = generated("2-D")
    request = ProtectionRequest.of(cells, [MinimumFrequency(3), PPercent(10)], Assumptions())
    method = SecondarySuppression(mode=mode, seconds=seconds)
    made = suppress_cells(cells, request, method, kept=np.zeros(len(cells), dtype=bool))
    assert made.cost == cells.total[made.published.status != Status.PUBLISHED].sum()
    return made


def test_only_the_search_that_proves_a_bound_speaks_of_a_gap() -> None:
    assert suppressed("fast", None).optimality is None


def test_a_budget_tells_what_it_made_of_the_first_safe_pattern_and_whether_it_ended_the_search() -> None:
    none, much = suppressed("fast", 1e-6), suppressed("fast", 1000.0)
    assert none.first == none.cost == much.first
    golden(none.optimality)
    assert much.cost < none.cost
    golden(much.optimality)
    assert f"{1 - much.cost / none.cost:.2%}" in much.optimality


def test_the_gap_is_that_of_bound_and_cost_and_time_narrows_it() -> None:
    for seconds in (1e-6, 100.0):
        made = suppressed("optimise", seconds)
        assert made.bound is not None
        assert made.optimality is not None
        assert f"a gap of {1 - made.bound / made.cost:.2%}." in made.optimality
        assert (1 - made.bound / made.cost < 0.05) == (seconds > 1)
