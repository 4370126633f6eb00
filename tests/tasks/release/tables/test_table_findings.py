"""What becomes of what a method that changes values says of itself."""

import pytest

from sluice.ground.verdict import Verdict
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.rules.p_percent import PPercent
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.release.tables.published_cells import MethodStatement, PublishedCells
from tasks.release.tables.specification import WantedTable
from tasks.release.tables.table_findings import judge_statement, summarise_tables
from tests.golden import golden
from tests.tabular.audit.test_published_intervals import dominated
from tests.tabular.grids import BOX, pattern


@pytest.mark.parametrize(
    ("failing", "completed", "concern", "verdict"),
    [
        (0, 5, None, Verdict.PASS),
        (0, 5, "Cells moved far.", Verdict.REVIEW),
        (0, 4, "Cells moved far.", Verdict.UNKNOWN),
        (1, 5, "Cells moved far.", Verdict.FAIL),
    ],
)
def test_the_worst_of_a_method_decides(failing: int, completed: int, concern: str | None, verdict: Verdict) -> None:
    found = judge_statement(MethodStatement(failing, 5, completed, "It was done.", concern))
    assert found.verdict is verdict
    golden.words(found.says)
    assert ("moved far" in found.says) == (verdict is Verdict.REVIEW)


def test_what_can_be_learned_is_told_of_true_intervals_or_not_at_all() -> None:
    """The audit of a policy of 5 % proves no more than that; the report may not say that 10 % is all there is."""
    cells, rules = dominated(), [PPercent(p=5)]
    request = ProtectionRequest.of(cells, rules, Assumptions(unions=False))
    published = PublishedCells(pattern(cells, BOX, request.requirements))
    wanted = [WantedTable(name="one", dimensions=("r", "c"))]
    outcome = audit_cells(cells, published.status, request)
    (said,) = summarise_tables(wanted, cells, published, request, 3, None, outcome)
    assert said.before[1].startswith("In 1 cell ")
    assert all(line.startswith("In no cell ") for line in said.now)
    (said,) = summarise_tables(wanted, cells, published, request, 3, None, None, optimality="A gap of 1 %.")
    assert said.now == ()
    assert said.statements == ("A gap of 1 %.",)
