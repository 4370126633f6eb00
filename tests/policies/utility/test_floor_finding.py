import pytest

from policies.utility.floor_finding import floor_finding
from sluice.ground.sentence import Sentence
from sluice.ground.verdict import Verdict
from sluice.utility.analyses.asked_analyses import Floor
from tests.golden import golden

OVERLAPS = Sentence("test.overlaps", "It overlaps")


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.8, Verdict.PASS), (0.8 - 1e-12, Verdict.PASS), (0.79, Verdict.FAIL), (float("nan"), Verdict.UNKNOWN)],
)
def test_a_figure_below_its_floor_fails(value: float, verdict: Verdict) -> None:
    finding = floor_finding("models", Floor(at_least=0.8), value, OVERLAPS(), "m", 3, 3)
    assert (finding.verdict, finding.binding, finding.limit, finding.stage) == (verdict, True, 0.8, "utility")
    golden(finding.says)
    assert not floor_finding("models", Floor(at_least=0.8, binding=False), value, OVERLAPS(), "m", 3, 3).binding


def test_without_a_floor_it_is_reported() -> None:
    finding = floor_finding("models", None, 0.1, OVERLAPS(), "m", 3, 3)
    assert (finding.verdict, finding.binding) == (Verdict.PASS, False)
    golden(finding.says)
