"""Numbers and dates in forms that are not read are told from codes, versions, and from those that are read."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.reading.other_forms import DATES, NUMBERS, other_form

days = st.lists(st.dates(date(1900, 1, 1), date(2099, 12, 31)), min_size=1, max_size=20, unique=True)
numbers = st.lists(st.decimals(0, 99_999, places=2), min_size=1, max_size=20, unique=True)


@given(
    days=days,
    form=st.sampled_from(
        ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%m/%d/%y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %B %Y", "%d-%b-%y",
         "%b %d, %Y", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", "%d%b%Y"]
    ),
)  # fmt: skip
def test_dates_as_people_and_programs_write_them(days: list[date], form: str) -> None:
    written = [day.strftime(form) for day in days]
    assert other_form(written, called_date=False) == DATES
    assert other_form([*written, None, days[0].isoformat()], called_date=False) == DATES  # among those that are read
    assert other_form([day.isoformat() for day in days], called_date=True) == ""


@given(days=days)
def test_eight_digits_are_dates_where_many_are_or_the_name_says_so(days: list[date]) -> None:
    written = [day.strftime("%Y%m%d") for day in days]
    assert other_form(written, called_date=True) == DATES
    assert other_form(written, called_date=False) == (DATES if len(days) >= 10 else "")
    assert other_form([*written, "20241340"], called_date=True) == ""


@given(
    numbers=numbers,
    form=st.sampled_from(
        [
            "{} kg",
            "{}cm",
            "{}+ years",
            "< {} months",
            "{} %",
            "{}%",
            "€ {}",
            "${}",
            "{} EUR",
            "({})",
            "{}-",
            "−{}",
            "{}+",
            "<{}",
            ">= {}",
            "{} and over",
            "{}D+03",
        ]
    ),
)
def test_numbers_as_people_and_programs_write_them(numbers: list[object], form: str) -> None:
    written = [form.format(each) for each in numbers]
    assert other_form(written, called_date=False) == NUMBERS
    assert other_form([*written, "7"], called_date=False) == NUMBERS
    assert other_form([*written, "seven"], called_date=False) == ""
    assert other_form([str(each) for each in numbers], called_date=False) == ""


@pytest.mark.parametrize("none", ["10173-09-01", "0044-03-15 BC", "00.00.0000", "31.12.9999", "31.02.2014"])
def test_a_day_that_no_calendar_has_among_days(none: str) -> None:
    written = ["01.03.2014", "02.03.2014"] if none[2] == "." else ["2014-03-01", "2014-03-02"]
    assert other_form([*written, none], called_date=False) == DATES


def test_of_numbers_with_a_decimal_comma_a_point_stands_before_thousands() -> None:
    assert other_form(["1.234", "2.345"], called_date=False, decimal_mark=",") == NUMBERS
    assert other_form(["1.234", "2.345"], called_date=False) == ""
    assert other_form(["1,234", "2,345"], called_date=False, decimal_mark=",") == ""


@pytest.mark.parametrize(
    "codes",
    [
        ["12A", "3"],
        ["1.10.3", "2.0.11"],
        ["5-9", "10-14"],
        ["01", "007"],
        ["10.1", "10.10"],
        ["2024-03", "2024-04"],
        ["10:30", "11:45"],
        ["1", "1,2", "1,2,3"],
        ["M", "F"],
        [],
        [None],
    ],
)
def test_codes_are_neither(codes: list[str | None]) -> None:
    assert other_form(codes, called_date=False) == ""


def test_digits_of_other_scripts() -> None:
    assert other_form(["٣٤", "٥"], called_date=False) == NUMBERS
