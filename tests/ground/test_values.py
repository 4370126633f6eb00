"""Single values: what is a number and what a date, against Python's own float, int and calendar."""

import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground import values
from tests.golden import golden


@given(st.text("0123456789+-.eE_, \u0661", max_size=8))
def test_a_number_is_what_python_reads_in_plain_digits_and_without_zeros_in_front(text: str) -> None:
    try:
        plain = text.isascii() and not set(text) & set("_ ") and float(text) is not None
    except ValueError:
        plain = False
    leading_zero = re.match("[+-]?0[0-9]", text) is not None
    [read] = values.read_numbers(pa.array([text]))
    assert read.is_valid == (plain and not leading_zero)
    if read.is_valid:
        assert read.as_py() == float(text)


def test_a_point_beside_a_decimal_comma_makes_no_number() -> None:
    texts = values.with_decimal_point(pa.array(["1,5", "7", "1.234", "1.234,5"]), ",")
    assert values.read_numbers(texts).to_pylist() == [1.5, 7.0, None, None]


def test_whole_numbers_are_exact_or_none() -> None:
    texts = [
        "7",
        "-7.0",
        "+3e2",
        "7.5",
        str(2**63 - 1),
        str(2**63),
        "9007199254740993",
        "9007199254740993.0",
        "1e17",
        "007",
    ]
    whole = [7, -7, 300, None, 2**63 - 1, None, 9007199254740993, None, None, None]
    assert values.read_whole_numbers(pa.array(texts)).to_pylist() == whole


def test_the_calendar_is_pythons() -> None:
    """Every day of February and the ends of the months, of every year."""
    for year in range(10_000):
        for month, day in ((2, 28), (2, 29), (2, 30), (4, 30), (4, 31), (1, 31), (1, 32), (12, 31), (13, 1), (6, 0)):
            try:
                exists = bool(date(year, month, day))
            except ValueError:
                exists = False
            assert (re.fullmatch(values.DATE, f"{year:04}-{month:02}-{day:02}") is not None) == exists


moments = st.datetimes(
    min_value=datetime(2, 1, 1),
    max_value=datetime(9998, 12, 31),
    timezones=st.none() | st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours))),
)


@given(st.lists(moments, min_size=1, max_size=5))
def test_moments_come_back_from_their_iso_text_as_the_clock_there_showed_them(times: list[datetime]) -> None:
    read = values.read_dates(pa.array([time.isoformat() for time in times])).to_pylist()
    assert read == [time.replace(tzinfo=None) for time in times]


def test_whoever_was_born_on_the_first_of_january_in_berlin_keeps_the_year() -> None:
    """Every release of such a column was a day early."""
    days = pd.Series(pd.to_datetime(["1990-01-01", "1990-07-01", None])).dt.tz_localize("Europe/Berlin")
    kept = values.wall_clock(values.plain_array(days)).to_pylist()
    assert kept == [datetime(1990, 1, 1), datetime(1990, 7, 1), None]


@given(st.lists(st.decimals(min_value=-(10**12), max_value=10**12, places=3), min_size=1, max_size=20))
def test_decimals_are_read_to_the_last_digit(numbers: list[Decimal]) -> None:
    """Arrow's cast turned 59.471 into 59.471000000000004, in one of eight cells."""
    decimals = pa.array(numbers, pa.decimal128(18, 3))
    read = values.floats(decimals)
    assert read.to_pylist() == [float(number) for number in numbers]
    assert not any(values.inexact_decimals(decimals, read).to_pylist())


@given(st.lists(st.decimals(min_value=-(10**17), max_value=10**17, places=2), min_size=1, max_size=20))
def test_decimals_that_a_float_cannot_hold_are_found(numbers: list[Decimal]) -> None:
    decimals = pa.array(numbers, pa.decimal128(20, 2))
    read = values.floats(decimals)
    pairs = zip(read.to_pylist(), numbers, strict=True)
    lost = [f"{Decimal(repr(number)):.2f}" != f"{exact:.2f}" for number, exact in pairs]
    assert values.inexact_decimals(decimals, read).to_pylist() == lost


@given(st.lists(st.floats(1e-3, 1e30), min_size=1, max_size=20), st.integers(0, 9))
def test_texts_of_more_digits_than_a_float_keeps_are_found(numbers: list[float], more: int) -> None:
    """Other digits after the last of a float's shortest form are those of another number; zeros are not."""
    texts = [f"{Decimal(repr(number)):f}" for number in numbers]
    texts = [text if "." in text else f"{text}.0" for text in texts]
    for end, lost in (("", False), ("000000000", False), (f"00000000000000000{more}", more > 0)):
        longer = pa.array([text + end for text in texts])
        assert values.inexact_texts(longer, values.read_numbers(longer)).to_pylist() == [lost] * len(texts)
    written = pa.array([repr(number) for number in numbers])
    assert not any(values.inexact_texts(written, values.read_numbers(written)).to_pylist())


@pytest.mark.parametrize("blank", ["", " ", "\t", "\u00a0", "\u3000", "\n"])
def test_blanks_around_a_value_do_not_count(blank: str) -> None:
    assert values.trimmed_texts(pa.array([f"{blank}a b{blank}", blank])).to_pylist() == ["a b", None]


def test_a_day_lasts_to_its_last_microsecond() -> None:
    assert values.moment("2024-02-29") == datetime(2024, 2, 29)
    assert values.moment("2024-02-29", last=True) == datetime(2024, 2, 29, 23, 59, 59, 999999)
    assert values.moment("9999-12-31", last=True).year == 9999
    assert values.moment("2024-02-29T10:30+02:00", last=True) == datetime(2024, 2, 29, 10, 30)
    for text in ("2023-02-29", "20240229", "29.2.2024", ""):
        with golden.raises(ValueError):
            values.moment(text)


def test_a_time_zone_at_the_ends_of_the_calendar_makes_no_crash() -> None:
    texts = ["0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00", "2024-12-31T10:00Z", None]
    read = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59), datetime(2024, 12, 31, 10), None]
    assert values.read_dates(pa.array(texts)).to_pylist() == read
    assert [values.moment(text) for text in texts if text] == read[:3]
