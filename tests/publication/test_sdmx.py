"""SDMX-CSV: refusals of what SDMX does not allow. Its bytes and round trips lie with the other files' tests.

pysdmx 1.21 (`read_sdmx`) read such a message of the business data with its dataflow and all columns.
"""

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.publication.published_table import PublishedTable, published_table
from sluice.publication.sdmx import read_sdmx_csv, to_sdmx_csv
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden


def table(name: str = "area", codes: tuple[str, ...] = ("01", "NA", "B")) -> PublishedTable:
    cells = aggregate(
        [Dimension.flat(name, codes)], np.array([[1], [2], [3]], dtype=np.int32), np.arange(3), np.array([905, 10, 20])
    )
    status = np.array([0, 1, 2, 0], dtype=np.uint8)
    return published_table(cells, status, "t", [name], tell_primary=True)


@pytest.mark.parametrize(
    ("dataflow", "period", "name"),
    [
        *((flow, None, "area") for flow in ("TURNOVER", "XX:", "1X:T(1.0)", "XX:T(1.0", "XX:T,U(1.0)", "XX:T(one)")),
        *(("XX:T(1.0)", period, "area") for period in ("", "26", "2026Q1", "2026-1", "2026-Q1\r\n")),
        *(("XX:T(1.0)", None, name) for name in ("2nd", "turn over", "obs_value", "Time_Period", "größe")),
    ],
)
def test_a_dataflow_a_period_or_a_dimension_of_another_form_is_refused(
    dataflow: str, period: str | None, name: str
) -> None:
    with golden.raises(DataError):
        to_sdmx_csv(table(name), dataflow, period)


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
