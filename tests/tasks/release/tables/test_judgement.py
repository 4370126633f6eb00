"""What becomes of what a method that changes values says of itself."""

import pytest

from sluice.verdict import Verdict
from tasks.release.tables.judgement import judge_statement
from tasks.release.tables.protected_tables import MethodStatement


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
    assert found.says.endswith("It was done.")
    assert ("moved far" in found.says) == (verdict is Verdict.REVIEW)
