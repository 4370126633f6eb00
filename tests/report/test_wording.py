"""Figures and shares as they are written."""

import pytest

from sluice.report.wording import figure, percent


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (-0.0, "0"),
        (6366, "6,366"),
        (0.0123456, "0.01235"),
        (-12.5, "−12.5"),
        (123456.7, "123,457"),
        (0.0000123, "1.2e−05"),
    ],
)
def test_figures_are_written_for_reading(value: float | None, says: str) -> None:
    assert figure(value) == says


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0.0 %"),
        (0.0004, "under 0.1 %"),
        (0.3721, "37.2 %"),
        (0.9996, "over 99.9 %"),
        (1, "100.0 %"),
        (None, "not shown"),
    ],
)
def test_percentages_never_pretend_none_or_all(share: float | None, text: str) -> None:
    assert percent(share) == text
