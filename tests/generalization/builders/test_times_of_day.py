"""sluice.generalization.builders.times."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.times import TimesOfDay
from sluice.ground.variables import Kind, Variable

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
