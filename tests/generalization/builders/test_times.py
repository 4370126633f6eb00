"""sluice.generalization.builders.times."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.times import Periods, TimesOfDay
from sluice.ground.variables import Kind, Variable
from sluice.masking.column_numbers import period_label, period_of


def dates(first: str, last: str) -> Variable:
    return Variable(name="seen", kind=Kind.DATE, minimum=first, maximum=last)


def test_weeks_are_those_of_iso_8601() -> None:
    # ISO 8601: 1 January 2005 lies in week 53 of 2004, 30 December 2019 in week 1 of 2020
    rows = Periods(periods=("week", "week_year")).build(dates("2005-01-01", "2019-12-30")).rows
    assert rows["2005-01-01"] == ("2004-W53", "weeks of 2004", "*")
    assert rows["2019-12-30"] == ("2020-W01", "weeks of 2020", "*")


@given(st.dates(date(1000, 1, 1), date(9999, 11, 1)), st.integers(0, 40))
def test_every_day_lies_in_the_periods_of_the_calendar(first: date, span: int) -> None:
    """Against Python's calendar, and the periods by which global recoding names dates."""
    days = [first + timedelta(days=day) for day in range(span + 1)]
    domain = dates(days[0].isoformat(), days[-1].isoformat())
    months = Periods(periods=("month", "quarter", "year", "decade")).build(domain)
    weeks = Periods(periods=("week",)).build(domain)
    assert list(months.rows) == [day.isoformat() for day in days]
    for day in days:
        text = day.isoformat()
        labels = [period_label(period_of(text, period), period) for period in ("month", "quarter", "year")]
        assert list(months.rows[text][:3]) == labels
        decade, _, end = months.rows[text][3].partition(" to ")
        assert int(decade) % 10 == 0
        assert int(decade) <= day.year <= int(end) == int(decade) + 9
        year, week, _ = day.isocalendar()
        assert weeks.rows[text][0] == f"{year:04d}-W{week:02d}"


def test_one_day_is_a_domain() -> None:
    assert Periods(periods=("year",)).build(dates("2024-02-29", "2024-02-29")).rows == {"2024-02-29": ("2024",)}


WIDTHS = [width for width in range(1, 1441) if 1440 % width == 0]


def test_a_time_lies_in_its_quarter_its_hour_and_its_part_of_the_day() -> None:
    built = TimesOfDay(times=(15, 60, 360)).build(Variable(name="t", kind=Kind.NOMINAL))
    assert len(built.rows) == 1440
    assert built.rows["13:45"] == ("13:45 to 13:59", "13:00 to 13:59", "12:00 to 17:59", "*")
    assert built.rows["00:00"][2] == "00:00 to 05:59"


def test_declared_times_alone_are_leaves_and_seconds_may_be_there() -> None:
    declared = Variable(name="t", kind=Kind.ORDINAL, categories=("08:00", "08:00:59"))
    assert TimesOfDay(times=(1,)).build(declared).rows == {"08:00": ("08:00",), "08:00:59": ("08:00",)}


@given(st.sampled_from(WIDTHS), st.integers(0, 1439))
def test_every_minute_lies_between_the_ends_of_its_group(width: int, minute: int) -> None:
    group = (
        TimesOfDay(times=(width,))
        .build(Variable(name="t", kind=Kind.NOMINAL))
        .rows[f"{minute // 60:02d}:{minute % 60:02d}"][0]
    )
    first, _, last = group.partition(" to ")
    begin, end = (60 * int(clock[:2]) + int(clock[3:]) for clock in (first, last or first))
    assert begin <= minute <= end
    assert begin % width == 0
    assert end - begin + 1 == width
