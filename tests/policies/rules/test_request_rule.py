"""The request rule as a rule: the same thresholds reach the rule that judges cells."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from policies.rules.rules import PolicyRule
from sluice.tabular.rules.request_rule import RequestRule
from tests.policies.rules.written_rules import load


def test_as_written_it_judges_cells() -> None:
    read = load(rule="request_rule", k=70)
    assert read.sensitivity() == RequestRule(70)
    assert read.rule == read.sensitivity().rule  # waivers and findings name it alike
    assert "a contributor who asked for it holds more than 70 %" in read.describe()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"rule": "request_rule", "k": 0.7}, r"Is it a share\? Use 70"),
        ({"rule": "request_rule"}, "k\n.*Field required"),
    ],
)
def test_refusals(written: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        TypeAdapter(PolicyRule).validate_python(written)
