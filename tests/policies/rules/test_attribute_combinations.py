"""Attribute combinations as a rule."""

from sluice.ground.verdict import Verdict
from sluice.risk.classes.attribute_combinations import AttributeCombinations
from tests.golden import golden
from tests.policies.rules.ill_people import one, people


def test_attribute_combinations_name_the_worst_keys() -> None:
    frame = people([30, 30, 40, 40], "abab")
    passed = one(AttributeCombinations(size=1), frame)
    assert passed.verdict is Verdict.PASS
    golden(passed.says)
    finding = one(AttributeCombinations(size=2), frame)
    assert (finding.verdict, finding.observed, finding.scope) == (Verdict.FAIL, 1, "age, area")
    golden(finding.says)
    assert one(AttributeCombinations(size=2, columns=("area",)), frame).verdict is Verdict.PASS
    assert one(AttributeCombinations(size=1, k=3), frame).observed == 1
