"""Subset inference as a rule."""

from policies.rules.participation_attacks import SubsetInference
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.people_and_control import CONTROL, ORIGINAL, STRANGERS, attacked, verdicts

RULE = SubsetInference(limit=0.1)


def test_the_variables_are_named() -> None:
    (finding,) = SubsetInference(limit=0.1, columns=("age", "height", "wage")).find(attacked(ORIGINAL))
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)
    assert "wage by" in finding.says or "height by" in finding.says


def test_without_a_control_people_are_read_off_a_file_that_they_are_not_in() -> None:
    (finding,) = RULE.find(attacked(ORIGINAL, None))
    assert finding.verdict is Verdict.FAIL
    golden.words(finding.says)
    assert "at most 0.67 %" in finding.says  # ten of 1,500: no smaller share is named
    assert verdicts(RULE, STRANGERS.iloc[:0], None) == {Verdict.UNKNOWN}


def test_where_others_are_read_better_nothing_is_gained() -> None:
    (finding,) = RULE.find(attacked(CONTROL))
    assert (finding.verdict, finding.observed) == (Verdict.PASS, 0)


def test_one_column_or_a_handful_of_people_tell_nothing() -> None:
    for control in (CONTROL, None):
        (finding,) = SubsetInference(limit=0.1, columns=("age",)).find(attacked(STRANGERS, control))
        assert finding.verdict is Verdict.UNKNOWN
        golden.words(finding.says)
    (finding,) = RULE.find(attacked(STRANGERS, CONTROL.iloc[:10]))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)
