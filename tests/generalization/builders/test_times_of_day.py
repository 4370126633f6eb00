"""sluice.generalization.builders.times_of_day."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.errors import DocumentError
from sluice.generalization.builders.times_of_day import TimesOfDay
from sluice.variables import Kind, Variable
from tests.golden import golden

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


@pytest.mark.parametrize("times", [(50,), (15, 40), (60, 15), (0,), (1440, 2880)])
def test_widths_that_do_not_nest_in_the_day_are_refused(times: tuple[int, ...]) -> None:
    with golden.raises(ValidationError):
        TimesOfDay(times=times)


def test_what_is_no_time_is_refused_with_its_number() -> None:
    with golden.raises(DocumentError):
        TimesOfDay(times=(60,)).build(Variable(name="t", kind=Kind.NOMINAL, categories=("08:00", "8:00", "24:00")))
