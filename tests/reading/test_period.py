"""Reference periods as SDMX and ISO 8601 write them."""

from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluice.reading.period import Length, period_of_day, read_period
from tests.golden import golden


@pytest.mark.parametrize(
    ("text", "length", "is_called", "first", "last"),
    [
        ("2025", "year", "2025", "2025-01-01", "2025-12-31"),
        ("2025-A1", "year", "2025", "2025-01-01", "2025-12-31"),
        ("2025-S2", "half_year", "2025-S2", "2025-07-01", "2025-12-31"),
        ("2025Q3", "quarter", "2025-Q3", "2025-07-01", "2025-09-30"),
        ("2024-02", "month", "2024-02", "2024-02-01", "2024-02-29"),
        ("2025-M03", "month", "2025-03", "2025-03-01", "2025-03-31"),
        ("202503", "month", "2025-03", "2025-03-01", "2025-03-31"),
        ("2026-W53", "week", "2026-W53", "2026-12-28", "2027-01-03"),  # ISO 8601: a year of 53 weeks
        ("20250331", "day", "2025-03-31", "2025-03-31", "2025-03-31"),
    ],
)
def test_a_period_has_one_spelling_and_its_days(text: str, length: str, is_called: str, first: str, last: str) -> None:
    found = read_period(text, Length(length))
    assert (found.text, found.first.isoformat(), found.last.isoformat()) == (is_called, first, last)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("2025", "month"),  # a whole year would come after eleven months of it
        ("2025-03", "year"),
        ("2025-13", "month"),
        ("2025-Q5", "quarter"),
        ("2025-W53", "week"),
        ("2025-02-29", "day"),
        ("0000", "year"),
        ("٢٠٢٥", "year"),
        ("2025 ", "year"),
        ("-2025", "year"),
        ("../2025", "year"),
    ],
)
def test_another_length_or_no_period_is_refused_without_what_came(text: str, length: str) -> None:
    with golden.raises(ValueError):
        read_period(text, Length(length))


@given(st.dates(date(1, 1, 8), date(9999, 12, 20)), st.sampled_from(Length))
@example(date(2024, 12, 31), Length.WEEK)  # of the first week of 2025
@example(date(2027, 1, 1), Length.WEEK)  # of the last week of 2026
def test_every_day_is_in_one_period_of_each_length(day: date, length: Length) -> None:
    period = period_of_day(day, length)
    assert period.first <= day <= period.last
    assert read_period(period.text, length) == period
    assert period_of_day(period.first, length) == period_of_day(period.last, length) == period
    assert period_of_day(period.last + timedelta(days=1), length).first == period.last + timedelta(days=1)
