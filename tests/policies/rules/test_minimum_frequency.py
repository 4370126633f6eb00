"""The minimum frequency as a rule: the same thresholds reach the rule that judges cells."""

from typing import Any

import pytest

from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from tests.policies.rules.written_rules import load, refusal


@pytest.mark.parametrize(
    ("written", "rule", "said"),
    [
        ({"rule": "minimum_frequency", "n": 3}, MinimumFrequency(3, 10), "to which fewer than 3 contribute"),
        (
            {"rule": "minimum_frequency", "n": 4, "protection_percent": 15, "zeros_safe": True},
            MinimumFrequency(4, 15, zeros_safe=True),
            "unless all of them report 0",
        ),
    ],
)
def test_as_written_it_judges_cells(written: dict[str, Any], rule: MinimumFrequency, said: str) -> None:
    read = load(**written)
    assert read.sensitivity() == rule
    assert read.rule == rule.rule  # waivers and findings name it alike
    assert said in read.describe()


def test_a_threshold_out_of_bounds_is_refused() -> None:
    assert "n: must be at least 2" in refusal(rule="minimum_frequency", n=1)
