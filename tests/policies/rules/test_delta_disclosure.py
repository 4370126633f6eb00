"""Delta-disclosure privacy as a rule."""

import numpy as np
import pytest

from sluice.ground.verdict import Verdict
from sluice.risk.classes.delta_disclosure import DeltaDisclosure
from tests.golden import golden
from tests.policies.rules.ill_people import one, people


def test_delta_disclosure_is_strict_on_absent_values_unless_told() -> None:
    frame = people([30, 30, 40, 40], "aaaa", "cccf")
    finding = one(DeltaDisclosure(delta=5), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, None)
    golden(finding.says)
    assert one(DeltaDisclosure(delta=0.7, absent_values="ignore"), frame).verdict is Verdict.PASS  # ln 2 is 0.693
    ignoring = one(DeltaDisclosure(delta=0.69, absent_values="ignore"), frame)
    assert (ignoring.verdict, ignoring.observed) == (Verdict.FAIL, pytest.approx(np.log(2)))


def test_near_numbers_are_one_value_in_all_groups() -> None:
    frame = people([30, 30, 40, 40], "aaaa", weights=[1.0, 5.0, 1.001, 5.001])
    rule = DeltaDisclosure(delta=0.1, columns=("weight",))
    assert one(rule, frame).verdict is Verdict.PASS
    assert one(rule.model_copy(update={"near": 0.0}), frame).verdict is Verdict.FAIL
