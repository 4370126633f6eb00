"""The minimum frequency as a rule: the same thresholds reach the rule that judges cells."""

from typing import Any

import pytest

from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from tests.golden import golden
from tests.policies.rules.written_rules import load, refusal


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ({"rule": "minimum_frequency", "n": 3}, MinimumFrequency(3, 10)),
        (
            {"rule": "minimum_frequency", "n": 4, "protection_percent": 15, "zeros_safe": True},
            MinimumFrequency(4, 15, zeros_safe=True),
        ),
    ],
)
def test_as_written_it_judges_cells(written: dict[str, Any], rule: MinimumFrequency) -> None:
    read = load(**written)
    assert read.sensitivity() == rule
    assert read.rule == rule.rule  # waivers and findings name it alike
    golden(read.describe())


def test_a_threshold_out_of_bounds_is_refused() -> None:
    golden(refusal(rule="minimum_frequency", n=1))
