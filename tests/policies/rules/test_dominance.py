"""(n,k)-dominance as a rule: the same thresholds reach the rule that judges cells."""

from typing import Any

import pytest

from sluice.tabular.rules.dominance import Dominance
from tests.golden import golden
from tests.policies.rules.written_rules import load, refusal


def test_as_written_it_judges_cells() -> None:
    read = load(rule="dominance", n=2, k=85.5)
    assert read.sensitivity() == Dominance(2, 85.5)
    assert read.rule == read.sensitivity().rule  # waivers and findings name it alike
    golden(read.describe())


@pytest.mark.parametrize(
    "rule",
    [
        {"rule": "dominance", "n": 1, "k": 0.75},
        {"rule": "dominance", "n": 0, "k": 75},
        {"rule": "dominance", "n": 85, "k": 2},
    ],
)
def test_a_threshold_out_of_bounds_is_refused(rule: dict[str, Any]) -> None:
    golden(refusal(**rule))
