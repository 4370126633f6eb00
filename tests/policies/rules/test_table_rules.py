"""The table rules as a policy writes them: the same thresholds reach the rule that judges cells."""

from datetime import date
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from policies.policy import load_policy
from policies.rules.rules import PolicyRule
from policies.rules.table_rule import TableRule
from policies.waived_cells import waived_cells
from policies.waivers import Waiver
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.prior_posterior import PriorPosterior
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.sensitivity import SensitivityRule
from sluice.tabular.rules.zero_cells import ZeroCells
from sluice.verdict import Verdict
from tests.policies.test_policy import POLICIES

RULE: TypeAdapter[Any] = TypeAdapter(PolicyRule)

WRITTEN: list[tuple[dict[str, Any], SensitivityRule, str]] = [
    ({"rule": "minimum_frequency", "n": 3}, MinimumFrequency(3, 10), "to which fewer than 3 contribute"),
    (
        {"rule": "minimum_frequency", "n": 4, "protection_percent": 15, "zeros_safe": True},
        MinimumFrequency(4, 15, zeros_safe=True),
        "unless all of them report 0",
    ),
    ({"rule": "zero_cells", "protection_units": 5}, ZeroCells(5), "all who contribute to it report 0"),
    ({"rule": "dominance", "n": 2, "k": 85.5}, Dominance(2, 85.5), "2 largest contributors hold more than 85.5 %"),
    ({"rule": "p_percent", "p": 10}, PPercent(10), "its second largest contributor could compute"),
    ({"rule": "p_percent", "p": 10, "coalition": 3}, PPercent(10, 3), "3 contributors together"),
    (
        {"rule": "prior_posterior", "p": 10, "q": 50},
        PriorPosterior(10, 50),
        "to within 50 % beforehand, could compute the largest to within 10 %",
    ),
    ({"rule": "request_rule", "k": 70}, RequestRule(70), "a contributor who asked for it holds more than 70 %"),
]


@pytest.mark.parametrize(("written", "rule", "said"), WRITTEN)
def test_a_written_rule_is_the_rule_that_judges(written: dict[str, Any], rule: SensitivityRule, said: str) -> None:
    read = RULE.validate_python(written)
    assert read.sensitivity() == rule
    assert read.rule == rule.rule  # waivers and findings name it alike
    assert said in read.describe()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"rule": "prior_posterior", "p": 50, "q": 10}, "p must be below q, the prior knowledge; got p 50 and q 10"),
        ({"rule": "prior_posterior", "p": 0.1, "q": 50}, r"got 0.1. Is it a share\? Use 10"),
        ({"rule": "p_percent", "p": 10, "coalition": 0}, "coalition"),
        ({"rule": "zero_cells", "protection_units": 0}, "protection_units"),
        ({"rule": "request_rule", "k": 0.7}, r"Is it a share\? Use 70"),
        ({"rule": "request_rule"}, "k\n.*Field required"),
    ],
)
def test_refusals(written: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RULE.validate_python(written)


def test_the_shipped_policy_has_several_kinds_of_rule() -> None:
    rules = load_policy(POLICIES / "business-tables.yaml").rules
    assert all(isinstance(rule, TableRule) for rule in rules)
    assert [rule.sensitivity() for rule in rules if isinstance(rule, TableRule)] == [
        MinimumFrequency(3, 10),
        Dominance(1, 75),
        PPercent(10, 1),
    ]


def test_a_cell_is_waived_by_rule_and_by_its_codes() -> None:
    granted = {
        "reason": "the firm agreed in writing",
        "owner": "mina",
        "granted": "2026-01-01",
        "expires": "2026-12-31",
    }
    waiver = Waiver.model_validate({"rule": "p_percent", "scope": "nace KA1, region Total", **granted})
    needed = [("p_percent", "nace KA1, region Total"), ("p_percent", "nace KA2, region Total")]
    findings, waived = waived_cells(needed, [waiver], "turnover", date(2026, 5, 6))
    assert waived == {needed[0]}
    assert [(finding.verdict, finding.waiver is None) for finding in findings] == [
        (Verdict.FAIL, False),
        (Verdict.FAIL, True),
    ]
    ended, none = waived_cells(needed, [waiver], "turnover", date(2027, 5, 6))
    assert none == set()
    assert any("expired" in finding.says for finding in ended)
    assert waived_cells([], [waiver], "turnover", date(2026, 5, 6)) == ([], set())
