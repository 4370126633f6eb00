"""Date formats: what is read as which day, and what is no format or no day."""

from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.date_format import USUAL, refuse_no_format
from sluice.ground.values import read_dates
from tests.golden import golden

AS_PYTHON = {"DD": "%d", "MM": "%m", "MON": "%b", "YYYY": "%Y"}


def as_written(day: date, written: str) -> str:
    for part, spelled in AS_PYTHON.items():
        written = written.replace(part, f"{{{spelled}}}")
    for spelled in AS_PYTHON.values():
        written = written.replace(f"{{{spelled}}}", day.strftime(spelled) if spelled != "%Y" else f"{day.year:04}")
    return written


def read(texts: list[str | None], written: str) -> list[datetime | None]:
    found: list[datetime | None] = read_dates(pa.array(texts, pa.string()), written).to_pylist()
    return found


@given(day=st.dates(), written=st.sampled_from(USUAL))
def test_every_day_comes_back_in_each_usual_format(day: date, written: str) -> None:
    refuse_no_format("born", written)
    assert read([as_written(day, written), None], written) == [datetime(day.year, day.month, day.day), None]


@given(day=st.dates(), written=st.sampled_from(USUAL))
def test_a_date_of_iso_8601_is_read_beside_them(day: date, written: str) -> None:
    assert read([day.isoformat()], written) == [datetime(day.year, day.month, day.day)]


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [
        ("1.2.2024", "DD.MM.YYYY", datetime(2024, 2, 1)),
        ("1/2/2024", "MM/DD/YYYY", datetime(2024, 1, 2)),
        ("31.12.2024 8:05", "DD.MM.YYYY", datetime(2024, 12, 31, 8, 5)),
        ("31.12.2024 23:59:59.5", "DD.MM.YYYY", datetime(2024, 12, 31, 23, 59, 59, 500000)),
        ("5. März 1970", "DD MON YYYY", datetime(1970, 3, 5)),
        ("12-août-1970", "DD-MON-YYYY", datetime(1970, 8, 12)),
        ("January 5, 1970", "MON DD YYYY", datetime(1970, 1, 5)),
        ("29.02.2023", "DD.MM.YYYY", None),
        ("31.12.24", "DD.MM.YYYY", None),
        ("12/31/2024", "DD/MM/YYYY", None),
        ("31.12.2024 25:00", "DD.MM.YYYY", None),
        ("31.12.2024 soon", "DD.MM.YYYY", None),
        ("1122024", "DDMMYYYY", None),
        ("", "DD.MM.YYYY", None),
    ],
)
def test_what_is_read_as_which_moment(text: str, written: str, expected: datetime | None) -> None:
    assert read([text], written) == [expected]


@pytest.mark.parametrize("written", ["DD.MM.YY", "DD.DD.YYYY", "%d.%m.%Y", "MON.MM.YYYY", "YYYY", "", "DD:MM:YYYY"])
def test_what_is_no_format(written: str) -> None:
    with golden.raises(ValueError):
        refuse_no_format("born", written)
