"""The share of sample uniques as a rule."""

from policies.rules.sample_uniques_share import SampleUniquesShare
from sluice.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.married_women import one, typed
from tests.policies.rules.written_rules import refusal


def test_the_share_of_uniques_passes_at_its_limit_and_fails_beyond() -> None:
    frame = typed([30, 30, 30, 41])
    assert one(SampleUniquesShare(at_most=0.25), frame).verdict is Verdict.PASS
    finding = one(SampleUniquesShare(at_most=0.2), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    golden(finding.says)


def test_a_threshold_out_of_bounds_is_refused() -> None:
    golden(refusal(rule="sample_uniques_share", at_most=5))
