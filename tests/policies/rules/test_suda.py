"""SUDA as a rule."""

from sluice.ground.verdict import Verdict
from sluice.risk.classes.suda import Suda
from tests.golden import golden
from tests.policies.rules.ill_people import one, people


def test_suda_tells_the_share_of_records_at_risk() -> None:
    frame = people([30, 30, 40, 50], "aabb")
    # By hand: ages 40 and 50 are unique on one of two keys, the pair is not. DIS is 2 / (2 + 2 * 9) = 0.1 for both.
    assert one(Suda(sampling_fraction=0.1, above=0.11), frame).verdict is Verdict.PASS
    finding = one(Suda(sampling_fraction=0.1, above=0.09, at_most=0.25), frame)
    assert (finding.verdict, finding.observed, finding.limit) == (Verdict.FAIL, 0.5, 0.25)
    golden(finding.says)
    assert one(Suda(sampling_fraction=0.1, above=0.09, at_most=0.5), frame).verdict is Verdict.PASS  # met exactly
