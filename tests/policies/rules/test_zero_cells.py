"""Zero cells as a rule: the same thresholds reach the rule that judges cells."""

import pytest
from pydantic import TypeAdapter, ValidationError

from policies.rules.rules import PolicyRule
from sluice.tabular.rules.zero_cells import ZeroCells
from tests.golden import golden
from tests.policies.rules.written_rules import load


def test_as_written_it_judges_cells() -> None:
    read = load(rule="zero_cells", protection_units=5)
    assert read.sensitivity() == ZeroCells(5)
    assert read.rule == read.sensitivity().rule  # waivers and findings name it alike
    golden(read.describe())


def test_refusals() -> None:
    with pytest.raises(ValidationError, match="protection_units"):
        TypeAdapter(PolicyRule).validate_python({"rule": "zero_cells", "protection_units": 0})
