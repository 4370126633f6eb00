"""Cron expressions and time zones in a definition: what is accepted runs on Prefect, all else is refused by name."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefect.server.schemas.schedules import CronSchedule
from pydantic import ValidationError

from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DocumentError
from tasks.release.release_definition import Schedule, refuse_wrong_crontab
from tests.golden import golden


def next_run(cron: str, timezone: str = "UTC") -> Any:
    """When Prefect would start it next: an implementation of its own."""
    [date] = asyncio.run(CronSchedule(cron=cron, timezone=timezone).get_dates(1))
    return date


@pytest.mark.parametrize(
    "cron",
    # the examples of the manual page crontab(5), section "EXAMPLE CRON FILE"; what they mean was not checked
    ["5 0 * * *", "15 14 1 * *", "0 22 * * 1-5", "23 0-23/2 * * *", "5 4 * * sun"],
)
def test_the_examples_of_the_manual_page(cron: str) -> None:
    assert Schedule(cron=cron).cron == cron


def field(least: int, largest: int, *names: str) -> st.SearchStrategy[str]:
    """A field that is right most of the time, as people write it."""
    value = st.integers(least, largest + 1).map(str)
    value = value | st.sampled_from(names).map(str.upper) | st.sampled_from(names) if names else value
    span = st.just("*") | st.tuples(value, value).map("-".join)
    part = value | span | st.tuples(span, st.integers(0, 40).map(str)).map("/".join)
    return st.lists(part, min_size=1, max_size=3).map(",".join)


@given(
    st.tuples(
        field(0, 59),
        field(0, 23),
        field(1, 31) | st.sampled_from(["29", "30", "31", "30-31"]),
        field(1, 12, "jan", "dec") | st.sampled_from(["2", "feb,apr", "4-6/2"]),
        st.just("*") | field(0, 7, "sun", "sat"),
    ).map(" ".join)
)
def test_whatever_is_accepted_is_a_schedule_for_prefect(cron: str) -> None:
    try:
        refuse_wrong_crontab(cron)
    except ValueError:
        return
    assert next_run(cron) is not None


@pytest.mark.parametrize("cron", ["* * * * *", "0 0 29 2 *", "0 0 29-31 2 mon", "0 0 30 FEB,Apr *", "59 23 31 12 7"])
def test_the_rarest_days_are_days(cron: str) -> None:
    refuse_wrong_crontab(cron)
    assert next_run(cron) is not None


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "@monthly",
        "0 0 6 1 * *",  # with seconds
        "60 * * * *",
        "5/15 * * * *",
        "*/0 * * * *",
        "٣ * * * *",
        "0 24 * * *",
        "0 22-4 * * *",
        "0 0 1,,2 * *",
        "0 0 L * *",
        "0 0 0 * *",
        "0 0 1 13 *",
        "0 0 1 june *",
        "0 0 * * 8",
        "0 0 * * mon#2",
        "0 0 31 2,4,6 *",
        "0 0 30-31 feb mon",  # Prefect would not find a Monday either
    ],
)
def test_what_is_no_crontab_is_refused_by_field(cron: str) -> None:
    golden.refused(ValidationError, Schedule, cron=cron)


@pytest.mark.parametrize("timezone", ["UTC", "Europe/Vienna", "America/Argentina/Buenos_Aires", "Etc/GMT+12"])
def test_a_time_zone_that_is_known(timezone: str) -> None:
    assert next_run(Schedule(cron="0 5 1 * *", timezone=timezone).cron, timezone).tzinfo is not None


@pytest.mark.parametrize("timezone", ["", "Europe/Atlantis", "europe/vienna", "+01:00", "../UTC"])
def test_a_time_zone_that_is_not_known_is_refused(timezone: str) -> None:
    golden.refused(ValidationError, Schedule, cron="0 5 1 * *", timezone=timezone)


def test_a_document_names_the_field_what_is_allowed_and_what_came() -> None:
    with pytest.raises(DocumentError) as refused:
        parse_document(Schedule, {"cron": "0 25 * * *", "timezone": "Europe/Viena"}, "release.yaml")
    golden(refused.value)
    assert [fault.field for fault in refused.value.faults] == ["cron", "timezone"]
