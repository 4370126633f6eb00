"""A published table as CSV, Parquet and SDMX-CSV: exact bytes, other readers, no suppressed number in any."""

import io
import json
import struct
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.publication import published_table_files
from sluice.publication.datapackage import tables_datapackage
from sluice.publication.published_table import PublishedTable, discrepancies, published_table
from sluice.publication.published_table_files import read_csv, read_parquet, to_csv, to_parquet
from sluice.publication.sdmx import read_sdmx_csv, to_sdmx_csv
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.publication.small_table import EVERYTHING, file_of, small, whole
from tests.tabular.tables import tables

P, S = Status.PRIMARY, Status.SECONDARY


def with_margins_withheld() -> PublishedTable:
    cells, status = small()
    cells = replace(cells, published=np.array([True, False, False, *[True] * 6]))
    return whole(cells, np.where(cells.published, status, Status.WITHHELD).astype(np.uint8))


def up_to_a_level() -> tuple[Cells, Statuses]:
    dimension = Dimension.of("d", [("T", ""), ("A", "T"), ("B", "T"), ("a1", "A"), ("a2", "A")])
    leaves = np.array([[2], [3], [4]], dtype=np.int32)
    cells = aggregate([dimension], leaves, np.arange(3), np.array([1, 20, 300]))
    return cells, np.zeros(len(cells), dtype=np.uint8)


CELLS, STATUS = small()
WITH_DECIMALS = replace(small(2)[0], total=np.array([-5, -100, 95, 2**53 - 1, 1, 1, 0, 1, 1]))
TABLES = {
    "whole": whole(CELLS, STATUS),
    "decimals are exact and negative values keep their sign": whole(WITH_DECIMALS, STATUS),
    "one word and no contributors unless asked": published_table(CELLS, STATUS, "t", ["area", "kind"]),
    "fewer dimensions": published_table(CELLS, STATUS, "t", ["kind"], **EVERYTHING),
    "dimensions in the caller's order": published_table(CELLS, STATUS, "t", ["kind", "area"], **EVERYTHING),
    "up to a level": published_table(*up_to_a_level(), "t", ["d:1"], **EVERYTHING),
    "margins withheld": with_margins_withheld(),
    "intervals beside suppressed cells alone": whole(CELLS, STATUS, interval=(CELLS.total - 1, CELLS.total + 5)),
    "synthetic values in a column of their own": whole(CELLS, STATUS, synthetic=CELLS.total + 3),
    "changed values without contributors": whole(CELLS, np.zeros(9, dtype=np.uint8), value=CELLS.total // 5 * 5),
    "totals told from cells": whole(CELLS, STATUS, tell_totals=True),
    "a level is the lowest where nothing below it is listed": published_table(
        *up_to_a_level(), "t", ["d:1"], **EVERYTHING, tell_totals=True
    ),
    "every cell suppressed": whole(CELLS, np.full(9, Status.PRIMARY, dtype=np.uint8)),
    "nothing listed": whole(
        replace(CELLS, published=np.zeros(9, dtype=bool)), np.full(9, Status.WITHHELD, dtype=np.uint8)
    ),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_each_table_is_written_to_the_byte_and_comes_back(table: PublishedTable) -> None:
    """SDMX-CSV by the field guide of 2.0: A and Q of CL_OBS_STATUS 2.2, F, C, D and N of CL_CONF_STATUS 1.2."""
    golden(to_csv(table).decode())
    of = ("t", table.dimensions, table.decimals)
    assert read_csv(to_csv(table), *of) == read_parquet(to_parquet(table), *of) == table
    for period in (None, "2026-Q1"):
        exchanged = to_sdmx_csv(table, "XX.STAT:TURNOVER(1.0)", period)
        golden(exchanged.decode())
        assert read_sdmx_csv(exchanged, *of) == replace(table, contributors=None, is_total=None)


class TestBytes:
    @given(tables())
    def test_the_order_of_the_cells_does_not_matter(self, cells: Cells) -> None:
        rng = np.random.default_rng(len(cells))
        status = rng.integers(0, 3, len(cells)).astype(np.uint8)
        order = rng.permutation(len(cells))
        arrays = ("codes", "total", "contributors", "largest", "owners", "published")
        other = replace(cells, equations=cells.equations[:, order], **{a: getattr(cells, a)[order] for a in arrays})
        for write in (to_csv, to_parquet):
            assert write(whole(cells, status)) == write(whole(other, status[order])) == write(whole(cells, status))


@st.composite
def canaries(draw: st.DrawFn) -> tuple[Cells, Statuses]:
    """A table with random statuses whose totals and contributors are large numbers that occur nowhere else."""
    cells = draw(tables())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = len(cells)
    status = rng.integers(0, 4, count).astype(np.uint8)
    total = 7 * 10**14 + rng.choice(10**14, count, replace=False) if count < 10**6 else cells.total
    contributors = 3 * 10**14 + rng.choice(10**14, count, replace=False)
    published = status != Status.WITHHELD
    return replace(
        cells, total=total, contributors=contributors, published=published, decimals=draw(st.sampled_from([0, 2]))
    ), status


def _forms(number: int, decimals: int) -> list[bytes]:
    """The number as the files would hold it: in text, as a whole number of 64 bits, as a double."""
    text = str(number)
    pointed = f"{text[:-decimals]}.{text[-decimals:]}" if decimals else text
    return [text.encode(), pointed.encode(), number.to_bytes(8, "little"), struct.pack("<d", number / 10**decimals)]


class TestNothingSuppressedGetsOut:
    @given(case=canaries(), tell_primary=st.booleans(), intervals=st.booleans())
    def test_no_file_holds_a_suppressed_or_withheld_number(
        self, case: tuple[Cells, Statuses], tell_primary: bool, intervals: bool
    ) -> None:
        cells, status = case
        interval = (cells.total - 10**14, cells.total + 10**14) if intervals else None
        table = whole(cells, status, tell_primary=tell_primary, interval=interval)
        with pytest.MonkeyPatch.context() as patch:  # bytes as they are before compression
            write = pq.write_table
            patch.setattr(
                published_table_files.pq, "write_table", lambda *a, **k: write(*a, **{**k, "compression": "none"})
            )
            plain = to_parquet(table)
        files = [to_csv(table), to_sdmx_csv(table, "XX:T(1.0)"), plain, to_parquet(table)]
        descriptor = tables_datapackage("t", "T", "d", [(table, [file_of("t.csv", files[0], table)])], "value")
        files.append(json.dumps(descriptor).encode())
        for cell in np.flatnonzero(status != Status.PUBLISHED):
            for number in (int(cells.total[cell]), int(cells.contributors[cell])):
                for form in _forms(number, cells.decimals):
                    assert not any(form in content for content in files)
        for cell in np.flatnonzero(status == Status.PUBLISHED):  # the search does find what is there
            forms = _forms(int(cells.total[cell]), cells.decimals)
            assert forms[1] in files[0]
            assert forms[1] in files[1]
            assert any(form in plain for form in forms[2:])

    @given(canaries())
    def test_the_statistics_of_parquet_are_those_of_published_values(self, case: tuple[Cells, Statuses]) -> None:
        cells, status = case
        table = whole(cells, status)
        group = pq.ParquetFile(io.BytesIO(to_parquet(table))).metadata
        told = [value for value in table.value if value is not None]
        if not told:
            return
        column = len(cells.dimensions) + 1
        found = group.row_group(0).column(column).statistics
        assert found.null_count == len(table.value) - len(told)
        assert [found.min, found.max] == [each / 10**cells.decimals for each in (min(told), max(told))]


class TestReadBack:
    @given(case=canaries(), tell=st.booleans(), contributors=st.booleans())
    def test_every_file_reads_back_as_it_was_and_agrees_with_the_cells(
        self, case: tuple[Cells, Statuses], tell: bool, contributors: bool
    ) -> None:
        cells, status = case
        table = whole(cells, status, tell_primary=tell, tell_contributors=contributors)
        of = ("t", cells.dimensions, cells.decimals)
        assert read_csv(to_csv(table), *of) == read_parquet(to_parquet(table), *of) == table
        exchanged = read_sdmx_csv(to_sdmx_csv(table, "XX:T(1.0)", "2026-Q1"), *of)
        assert exchanged == replace(table, contributors=None)
        told = {"tell_primary": tell, "tell_contributors": contributors}
        assert discrepancies(table, cells, status, **told) == discrepancies(exchanged, cells, status, **told) == []

    def test_codes_that_look_like_other_things_come_back_as_text(self) -> None:
        odd = ["NA", "01", "1e3", "a,b", 'say "x"', " ", "nan", "=1+1"]
        cells = aggregate(
            [Dimension.flat("d", odd)], np.arange(1, 9, dtype=np.int32)[:, None], np.arange(8), np.arange(8)
        )
        table = whole(cells, np.zeros(9, dtype=np.uint8))
        for back in (
            read_csv(to_csv(table), "t", table.dimensions, 0),
            read_parquet(to_parquet(table), "t", table.dimensions, 0),
        ):
            assert [code for (code,) in back.codes] == ["Total", *odd]

    def test_what_was_published_in_another_form_is_no_less_what_was_judged(self) -> None:
        cells, status = up_to_a_level()
        table = TABLES["up to a level"]
        assert discrepancies(table, cells, status, dimensions=["d:1"], **EVERYTHING) == []
        golden(discrepancies(table, cells, status, **EVERYTHING))
        synthetic = TABLES["synthetic values in a column of their own"]
        assert discrepancies(synthetic, CELLS, STATUS, synthetic=CELLS.total + 3, **EVERYTHING) == []
        assert "given another synthetic value" in " ".join(discrepancies(synthetic, CELLS, STATUS, **EVERYTHING))

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("01,x,primary,,", "01,x,primary,905,"),
            ("01,x,primary,,", "01,x,primary,,1"),
            ("Total,x,published,926,3", "Total,x,published,,3"),
            ("Total,x,published,926,3", "Total,x,published,9.26,3"),
            ("01,x,primary,,", "01,x,hidden,,"),
            ("01,x,primary,,", "01,x,primary,"),
            ("area,kind", "kind,area"),
        ],
    )
    def test_a_file_that_is_not_right_is_refused_without_a_value(self, before: str, after: str) -> None:
        cells, status = small()
        text = to_csv(whole(cells, status)).decode()
        assert text.count(before) == 1
        with pytest.raises(DataError) as error:
            read_csv(text.replace(before, after).encode(), "t", cells.dimensions, 0)
        golden(error.value)
        assert "905" not in str(error.value)

    @pytest.mark.parametrize(
        ("before", "after", "says"),
        [
            ("Total,x,published,926,3", "Total,x,published,927,3", "1 cell is given another value: area Total, kind x"),
            ("Total,x,published,926,3", "Total,x,published,926,4", "1 cell is given another number of contributors"),
            ("01,x,primary,,", "01,x,secondary,,", "1 cell is given another status: area 01, kind x"),
            ("01,x,primary,,", "01,x,published,905,1", "1 cell is given another status"),
            ("Total,x,published,926,3\r\n", "", "1 cell is left out: area Total, kind x"),
            ("NA,x,secondary,,", "NA,y,secondary,,", "1 cell is listed that should not be, or twice: area NA, kind y"),
        ],
    )
    def test_a_difference_from_the_cells_is_told(self, before: str, after: str, says: str) -> None:
        cells, status = small()
        text = to_csv(whole(cells, status)).decode()
        assert text.count(before) == 1
        back = read_csv(text.replace(before, after).encode(), "t", cells.dimensions, 0)
        assert any(problem.startswith(says) for problem in discrepancies(back, cells, status, **EVERYTHING))

    def test_a_file_that_says_more_than_was_judged_is_told(self) -> None:
        cells, status = small()
        golden(discrepancies(whole(cells, status), cells, status))
        untold = whole(cells, status, tell_contributors=False, tell_primary=False)
        assert discrepancies(untold, cells, status) == []
        assert discrepancies(untold, cells, status, tell_primary=True)[0].startswith("4 cells are given another status")

    def test_a_withheld_cell_that_appears_is_told(self) -> None:
        cells, status = small()
        table = whole(cells, status)
        status = status.copy()
        status[1] = Status.WITHHELD
        found = discrepancies(table, replace(cells, published=status != Status.WITHHELD), status, **EVERYTHING)
        assert found == ["1 cell is listed that should not be, or twice: area Total, kind x"]

    @pytest.mark.parametrize("content", [b"", b"PAR1 and no more"])
    def test_a_damaged_file_is_refused(self, content: bytes) -> None:
        dimensions = small()[0].dimensions
        for read in (read_csv, read_parquet, read_sdmx_csv):
            with pytest.raises(DataError):
                read(content, "t", dimensions, 0)
