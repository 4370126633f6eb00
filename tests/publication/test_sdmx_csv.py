"""SDMX-CSV: exact bytes, and refusals of what SDMX does not allow. Round trips lie with the other files' tests.

pysdmx 1.21 (`read_sdmx`) read such a message of the business data with its dataflow and all columns.
"""

from typing import Any

import numpy as np
import pytest

from sluice.errors import DataError
from sluice.publication.published_table import PublishedTable, published_table
from sluice.publication.sdmx_csv import read_sdmx_csv, to_sdmx_csv
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden


def table(name: str = "area", codes: tuple[str, ...] = ("01", "NA", "B"), **options: Any) -> PublishedTable:
    cells = aggregate(
        [Dimension.flat(name, codes)], np.array([[1], [2], [3]], dtype=np.int32), np.arange(3), np.array([905, 10, 20])
    )
    status = np.array([0, 1, 2, 0], dtype=np.uint8)
    options = {"interval": (cells.total - 5, cells.total + 5)} if options.pop("intervals", False) else options
    return published_table(cells, status, "t", [name], **{"tell_primary": True, **options})


def test_the_message() -> None:
    """Columns by the SDMX-CSV 2.0 field guide; A and Q of CL_OBS_STATUS 2.2, F, C and D of CL_CONF_STATUS 1.2."""
    assert to_sdmx_csv(table(), "XX.STAT:TURNOVER(1.0)", "2026-Q1").decode() == (
        "STRUCTURE,STRUCTURE_ID,ACTION,AREA,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS\r\n"
        "dataflow,XX.STAT:TURNOVER(1.0),I,Total,2026-Q1,935,A,F\r\n"
        "dataflow,XX.STAT:TURNOVER(1.0),I,01,2026-Q1,NaN,Q,C\r\n"
        "dataflow,XX.STAT:TURNOVER(1.0),I,NA,2026-Q1,NaN,Q,D\r\n"
        "dataflow,XX.STAT:TURNOVER(1.0),I,B,2026-Q1,20,A,F\r\n"
    )


def test_one_status_for_all_suppressed_and_no_period() -> None:
    lines = to_sdmx_csv(table(tell_primary=False), "XX:T").decode().splitlines()
    assert lines[0] == "STRUCTURE,STRUCTURE_ID,ACTION,AREA,OBS_VALUE,OBS_STATUS,CONF_STATUS"
    assert lines[2:4] == ["dataflow,XX:T,I,01,NaN,Q,N", "dataflow,XX:T,I,NA,NaN,Q,N"]


def test_intervals_are_further_measures_and_come_back() -> None:
    told = table(intervals=True)
    content = to_sdmx_csv(told, "XX:T(1.0.0)")
    assert content.decode().splitlines()[:3] == [
        "STRUCTURE,STRUCTURE_ID,ACTION,AREA,OBS_VALUE,LOWER,UPPER,OBS_STATUS,CONF_STATUS",
        "dataflow,XX:T(1.0.0),I,Total,935,,,A,F",
        "dataflow,XX:T(1.0.0),I,01,NaN,900,910,Q,C",
    ]
    back = read_sdmx_csv(content, "t", told.dimensions, 0)
    assert (back.lower, back.upper, back.value) == (told.lower, told.upper, told.value)


def test_synthetic_values_are_a_further_measure_and_come_back() -> None:
    told = table(synthetic=np.array([935, 906, 9, 20]))
    content = to_sdmx_csv(told, "XX:T(1.0.0)")
    assert content.decode().splitlines()[:3] == [
        "STRUCTURE,STRUCTURE_ID,ACTION,AREA,OBS_VALUE,SYNTHETIC,OBS_STATUS,CONF_STATUS",
        "dataflow,XX:T(1.0.0),I,Total,935,,A,F",
        "dataflow,XX:T(1.0.0),I,01,NaN,906,Q,C",
    ]
    back = read_sdmx_csv(content, "t", told.dimensions, 0)
    assert (back.synthetic, back.value) == (told.synthetic, told.value)


@pytest.mark.parametrize("dataflow", ["TURNOVER", "XX:", "1X:T(1.0)", "XX:T(1.0", "XX:T,U(1.0)", "XX:T(one)"])
def test_a_dataflow_of_another_form_is_refused(dataflow: str) -> None:
    with golden.raises(DataError):
        to_sdmx_csv(table(), dataflow)


@pytest.mark.parametrize("period", ["", "26", "2026Q1", "2026-1", "2026-Q1\r\n"])
def test_a_period_of_another_form_is_refused(period: str) -> None:
    with golden.raises(DataError):
        to_sdmx_csv(table(), "XX:T(1.0)", period)


@pytest.mark.parametrize("name", ["2nd", "turn over", "obs_value", "Time_Period", "größe"])
def test_a_dimension_that_cannot_be_a_column_is_refused(name: str) -> None:
    with golden.raises(DataError):
        to_sdmx_csv(table(name), "XX:T(1.0)")


def test_a_code_that_sdmx_does_not_allow_is_refused_with_a_hint() -> None:
    with golden.raises(DataError):
        to_sdmx_csv(table(codes=("10.1", "x", "y")), "XX:T(1.0)")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (",NaN,Q,C", ",905,Q,C"),
        (",NaN,Q,C", ",NaN,A,C"),
        (",NaN,Q,C", ",NaN,Q,A"),
        (",20,A,F", ",2e1,A,F"),
        ("ACTION,AREA", "ACTION,PLACE"),
    ],
)
def test_a_message_that_is_not_right_is_refused(before: str, after: str) -> None:
    text = to_sdmx_csv(table(), "XX:T(1.0)").decode()
    assert text.count(before) == 1
    with golden.raises(DataError) as error:
        read_sdmx_csv(text.replace(before, after).encode(), "t", table().dimensions, 0)
    assert "905" not in str(error.value)
