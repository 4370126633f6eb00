"""Membership inference as a rule."""

import pytest
from pydantic import ValidationError

from policies.rules.membership import MembershipInference
from sluice.verdict import Verdict
from tests.policies.rules.people_and_control import CONTROL, ORIGINAL, STRANGERS, attacked


def test_nearer_records_are_judged_only_where_the_policy_limits_them() -> None:
    (advantage,) = MembershipInference(limit=0.1).find(attacked(ORIGINAL))
    both = MembershipInference(limit=0.1, nearer=0.55).find(attacked(ORIGINAL))
    assert [finding.scope for finding in both] == ["nearness to the file", "nearer records"]
    assert (both[0].observed, both[1].limit) == (advantage.observed, 0.55)
    assert "without a trace of them it would be half" in both[1].says


def test_one_person_on_a_side_is_too_few() -> None:
    (finding,) = MembershipInference(limit=0.1).find(attacked(STRANGERS, CONTROL.iloc[:1]))
    assert finding.verdict is Verdict.UNKNOWN
    assert "needs 2 people in the file and 2 set aside" in finding.says


def test_refusals() -> None:
    with pytest.raises(ValidationError, match="nearer"):
        MembershipInference(limit=0.1, nearer=0.3)
