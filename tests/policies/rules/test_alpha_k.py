"""(alpha,k)-anonymity as a rule."""

import pytest

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.classes.alpha_k import AlphaK
from tests.golden import golden
from tests.policies.rules.ill_people import VARIABLES, people


def test_alpha_k_judges_the_sizes_and_the_shares() -> None:
    frame = people([30, 30, 30, 40, 40, 40], "aaaaaa", "ccfcfg")
    size, share = AlphaK(alpha=0.7, k=3).find(frame, VARIABLES, "masked")
    assert (size.verdict, size.observed, share.verdict) == (Verdict.PASS, 3, Verdict.PASS)
    size, share = AlphaK(alpha=0.5, k=4).find(frame, VARIABLES, "masked")
    assert (size.verdict, share.verdict, share.observed) == (Verdict.FAIL, Verdict.FAIL, pytest.approx(2 / 3))
    _, gout = AlphaK(alpha=0.4, k=3, values=("gout",)).find(frame, VARIABLES, "masked")
    assert (gout.verdict, gout.observed) == (Verdict.PASS, pytest.approx(1 / 3))
    golden.refused(DataError, AlphaK(alpha=0.4, k=3, values=("plague",)).find, frame, VARIABLES, "masked")
    with golden.raises(DataError):
        AlphaK(alpha=0.4, k=3, values=("1",), columns=("weight",)).find(frame, VARIABLES, "masked")
