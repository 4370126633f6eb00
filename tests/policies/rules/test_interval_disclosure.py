"""Interval disclosure as a rule."""

from policies.rules.ranked_rules import IntervalDisclosure
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.linked_people import ORIGINAL, attacked, find


def test_an_attack_that_does_worse_than_guessing_tells_nothing():
    opposite = ORIGINAL.assign(weight=150 - ORIGINAL.weight)
    finding = find(IntervalDisclosure(limit=0.5, columns=("weight",)), attacked(ORIGINAL, opposite))
    assert finding.verdict is Verdict.UNKNOWN
    golden.words(finding.says)
