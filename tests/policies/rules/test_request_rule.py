"""The request rule as a rule: the same thresholds reach the rule that judges cells."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from policies.rules.rules import PolicyRule
from sluice.tabular.rules.request_rule import RequestRule
from tests.golden import golden
from tests.policies.rules.written_rules import load


def test_as_written_it_judges_cells() -> None:
    read = load(rule="request_rule", k=70)
    assert read.sensitivity() == RequestRule(70)
    assert read.rule == read.sensitivity().rule  # waivers and findings name it alike
    golden(read.describe())


@pytest.mark.parametrize(
    "written",
    [
        {"rule": "request_rule", "k": 0.7},
        {"rule": "request_rule"},
    ],
)
def test_refusals(written: dict[str, Any]) -> None:
    with golden.raises(ValidationError):
        TypeAdapter(PolicyRule).validate_python(written)
