from sluice.ground.sentence import Sentence
from sluice.ground.verdict import Verdict
from sluice.utility.measured import Limit, Measured, written_number, written_percent

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
