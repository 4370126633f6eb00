"""Attribute combinations as a rule."""

import pytest
from pydantic import ValidationError

from policies.rules.attribute_combinations import AttributeCombinations
from sluice.verdict import Verdict
from tests.policies.rules.ill_people import one, people


def test_attribute_combinations_name_the_worst_keys() -> None:
    frame = people([30, 30, 40, 40], "abab")
    passed = one(AttributeCombinations(size=1), frame)
    assert passed.verdict is Verdict.PASS
    assert "puts 0 % of the women in a group of fewer than 2; the policy allows 0 %." in passed.says
    finding = one(AttributeCombinations(size=2), frame)
    assert (finding.verdict, finding.observed, finding.scope) == (Verdict.FAIL, 1, "age, area")
    assert "puts 100 % of the women in a group of fewer than 2, and most with age and area" in finding.says
    assert one(AttributeCombinations(size=2, columns=("area",)), frame).verdict is Verdict.PASS
    assert one(AttributeCombinations(size=1, k=3), frame).observed == 1


def test_a_threshold_out_of_bounds_is_refused() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 2"):
        AttributeCombinations(k=1)
