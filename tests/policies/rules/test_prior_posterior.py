"""The prior-posterior rule as a rule: the same thresholds reach the rule that judges cells."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from policies.rules.rules import PolicyRule
from sluice.tabular.rules.prior_posterior import PriorPosterior
from tests.golden import golden
from tests.policies.rules.written_rules import load


def test_as_written_it_judges_cells() -> None:
    read = load(rule="prior_posterior", p=10, q=50)
    assert read.sensitivity() == PriorPosterior(10, 50)
    assert read.rule == read.sensitivity().rule  # waivers and findings name it alike
    golden(read.describe())


@pytest.mark.parametrize(
    "written",
    [
        {"rule": "prior_posterior", "p": 50, "q": 10},
        {"rule": "prior_posterior", "p": 0.1, "q": 50},
    ],
)
def test_refusals(written: dict[str, Any]) -> None:
    with golden.raises(ValidationError):
        TypeAdapter(PolicyRule).validate_python(written)
