"""Beta-likeness as a rule."""

from sluice.ground.verdict import Verdict
from sluice.risk.classes.beta_likeness import BetaLikeness
from tests.golden import golden
from tests.policies.rules.ill_people import one, people


def test_beta_likeness_of_both_variants() -> None:
    frame = people([30, 30, 40, 40], "aaaa", "cccf")  # by hand: cold gains 1/3 in the first group, flu 1 in the second
    assert one(BetaLikeness(beta=1, variant="basic"), frame).verdict is Verdict.PASS
    basic = one(BetaLikeness(beta=0.5, variant="basic"), frame)
    assert (basic.verdict, basic.observed, basic.scope) == (Verdict.FAIL, 1, "illness by age, area")
    golden(basic.says)
    # 1/3 is more than -ln 3/4: a cold is certain in the first group.
    assert one(BetaLikeness(beta=1), frame).verdict is Verdict.FAIL
    assert one(BetaLikeness(beta=1), people([30, 30, 40, 40], "aaaa", "cfcf")).verdict is Verdict.PASS
