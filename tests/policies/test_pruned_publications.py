"""What nobody can compare with any more needs a decision on each."""

from policies.policy import Policy
from policies.pruned_publications import RULE, judge_pruned
from sluice.ground.verdict import Verdict, decide
from tasks.checks import advice_on
from tests.flows.house import policy


def test_each_needs_a_decision_of_its_own() -> None:
    findings = judge_pruned(["people-1", "people-2"])
    assert [finding.scope for finding in findings] == ["people-1", "people-2"]
    assert decide(findings) is Verdict.REVIEW
    assert judge_pruned([]) == []


def test_a_waiver_may_name_it_and_there_is_advice() -> None:
    assert RULE in Policy.model_validate(policy()).waivable
    assert "decide" in advice_on(judge_pruned(["people-1"])[0])
