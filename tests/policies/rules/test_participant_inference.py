"""Participant inference as a rule."""

from policies.rules.participation_attacks import ParticipantInference
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.people_and_control import CONTROL, ORIGINAL, STRANGERS, attacked


def test_the_variable_is_named() -> None:
    (finding,) = ParticipantInference(limit=0.1, columns=("age", "height", "wage")).find(attacked(ORIGINAL))
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)
    assert any(name in finding.says for name in ("age", "height", "wage"))


def test_one_column_or_a_handful_of_people_tell_nothing() -> None:
    (finding,) = ParticipantInference(limit=0.1, columns=("age",)).find(attacked(STRANGERS))
    assert finding.verdict is Verdict.UNKNOWN
    golden.words(finding.says)
    (finding,) = ParticipantInference(limit=0.1).find(attacked(STRANGERS, CONTROL.iloc[:10]))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)
