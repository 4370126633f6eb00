"""The p% rule as a rule: the same thresholds reach the rule that judges cells."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from policies.rules.rules import PolicyRule
from sluice.tabular.rules.p_percent import PPercent
from tests.golden import golden
from tests.policies.rules.written_rules import load, refusal


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ({"rule": "p_percent", "p": 10}, PPercent(10)),
        ({"rule": "p_percent", "p": 10, "coalition": 3}, PPercent(10, 3)),
    ],
)
def test_as_written_it_judges_cells(written: dict[str, Any], rule: PPercent) -> None:
    read = load(**written)
    assert read.sensitivity() == rule
    assert read.rule == rule.rule  # waivers and findings name it alike
    golden(read.describe())


def test_refusals() -> None:
    with pytest.raises(ValidationError, match="coalition"):
        TypeAdapter(PolicyRule).validate_python({"rule": "p_percent", "p": 10, "coalition": 0})


@pytest.mark.parametrize(
    "rule",
    [
        {"rule": "p_percent", "p": 0.1},
        {"rule": "p_percent", "p": 101},
    ],
)
def test_a_threshold_out_of_bounds_is_refused(rule: dict[str, Any]) -> None:
    golden(refusal(**rule))
