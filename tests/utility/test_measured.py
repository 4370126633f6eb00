import pytest

from sluice.ground.sentence import Sentence
from sluice.ground.verdict import Verdict
from sluice.utility.measured import Floor, Limit, Measured, floor_finding, written_number, written_percent
from tests.golden import golden

OVERLAPS = Sentence("test.overlaps", "It overlaps")

MOVED = Sentence("test.moved", "It moved")


def judged(value: float, at_most: float) -> Verdict:
    return Measured(value, MOVED(), "", 1, 1, written_number).finding("mean", Limit(at_most=at_most)).verdict


def test_rounding_is_no_loss() -> None:
    assert judged(3.9e-16, 0) is Verdict.PASS
    assert judged(1e-9, 0) is Verdict.FAIL
    assert Measured(-3.9e-16, MOVED(), "", 1, 1, written_number).finding("mean", None).observed == 0
    assert (written_number(3.9e-16), written_percent(3.9e-16), written_number(1e-9)) == ("0", "0 %", "1e-09")


def test_what_was_not_measured_is_unknown_and_no_pass() -> None:
    assert judged(float("nan"), 1) is Verdict.UNKNOWN
    assert judged(float("inf"), 1) is Verdict.FAIL


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
