"""What of a table may be published, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.publication.published_table import in_decimals, published_table, units_of
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.publication.small_table import small, whole


class TestRefusals:
    def test_statuses_of_another_length(self) -> None:
        cells, status = small()
        with golden.raises(DataError):
            whole(cells, status[1:])

    def test_a_status_that_does_not_exist(self) -> None:
        cells, status = small()
        with golden.raises(DataError):
            whole(cells, np.where(status == 1, 7, status).astype(np.uint8))

    def test_a_suppressed_cell_with_a_value(self) -> None:
        table = whole(*small())
        with golden.raises(DataError) as error:
            replace(table, value=(*table.value[:4], 905, *table.value[5:]))
        assert "905" not in str(error.value)
        with golden.raises(DataError):
            replace(table, contributors=(1,) * 9)

    def test_a_margin_that_must_be_withheld(self) -> None:
        cells, status = small()
        cells = replace(cells, published=np.array([True, False, *[True] * 7]))
        with golden.raises(DataError):
            whole(cells, status)

    def test_an_interval_that_tells_the_value_or_misses_it(self) -> None:
        cells, status = small()
        for lower, upper in ((0, 0), (1, 2), (-2, -1)):
            with golden.raises(DataError):
                whole(cells, status, interval=(cells.total + lower, cells.total + upper))

    def test_a_table_that_the_cells_do_not_have(self) -> None:
        cells, status = small()
        with golden.raises(DataError):
            published_table(cells, status, "t", ["knd"])
        for dimensions in ([], ["kind", "kind"]):
            with golden.raises(DataError):
                published_table(cells, status, "t", dimensions)

    def test_a_cell_that_is_told_from_its_total_wrongly(self) -> None:
        table = whole(*small(), tell_totals=True)
        assert table.is_total == (1, 1, 1, 1, 0, 0, 1, 0, 0)
        with golden.raises(DataError):
            replace(table, is_total=(*table.totals[:-1], 1))

    def test_a_dimension_that_is_named_like_a_column(self) -> None:
        cells, status = small()
        renamed = replace(cells, dimensions=(Dimension.flat("value", ["01", "NA"]), cells.dimensions[1]))
        with golden.raises(DataError):
            whole(renamed, status)


# Whole units of a last decimal as text, and back.


@given(st.none() | st.integers(), st.integers(0, 9))
def test_what_is_written_reads_back(units: int | None, decimals: int) -> None:
    assert units_of(in_decimals(units, decimals), decimals, "here") == units


@pytest.mark.parametrize(
    ("units", "decimals", "text"), [(1234, 2, "12.34"), (-5, 2, "-0.05"), (0, 1, "0.0"), (7, 0, "7"), (None, 3, "")]
)
def test_each_number_has_all_its_decimals(units: int | None, decimals: int, text: str) -> None:
    assert in_decimals(units, decimals) == text


@pytest.mark.parametrize("text", ["1.5", "1", "1.50 ", "1,50", "+1.50", "1e2", "١.50", "-"])
def test_another_form_is_refused(text: str) -> None:
    with golden.raises(DataError):
        units_of(text, 2, "line 3")
